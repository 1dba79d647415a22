"""A query's plan, as EXPLAIN (FORMAT JSON) tells it, in lines for reading, and two of them side by side. Pure.

Times, rows and blocks are the server's own words: nothing is derived from them. Rows and time of a node are means over
its loops (a parallel worker is a loop), so they are shown with the loops beside them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher
from functools import cache
from typing import Any

from results.domain.errors import ParseError, damaged
from results.domain.messages import gettext_lazy as _

_CONDITIONS = (
    "Index Cond",
    "Recheck Cond",
    "Hash Cond",
    "Merge Cond",
    "Join Filter",
    "Filter",
    "One-Time Filter",
    "Sort Key",
    "Presorted Key",
    "Group Key",
    "Cache Key",
)
_ALIKE = (
    {"Hash Join", "Merge Join", "Nested Loop"},
    {"Gather", "Gather Merge"},
    {"Sort", "Incremental Sort"},
    {"Materialize", "Memoize"},
    {"Append", "Merge Append"},
)
_MOST_LINES = 160  # of two plans whose trees are matched
PLANNED = frozenset({"node", "conditions", "workers"})  # of what differs between nodes, what the planner chose
_TIME_DIFFERS, _BLOCKS_DIFFER, _ROWS_DIFFER = 0.25, 0.1, 0.01  # of the greater; marks, not verdicts: both ran once


@dataclass(frozen=True)
class PlanLine:
    """One node.

    depth: from 0.
    kind: PostgreSQL's node type.
    relation: '' without one.
    conditions: (what, text).
    time_ms, rows: means over its loops; None where the plan was not timed, or not run.
    hit, read: blocks of the node with all below it.
    planned, launched: parallel workers."""

    depth: int
    kind: str
    relation: str
    title: str
    conditions: tuple[tuple[str, str], ...]
    estimated_rows: float | None
    rows: float | None
    loops: float | None
    time_ms: float | None
    hit: int | None
    read: int | None
    planned: int | None
    launched: int | None
    removed: float | None

    @property
    def blocks(self) -> int | None:
        """Found in buffers or read; None where nobody counted."""
        return None if self.hit is None and self.read is None else (self.hit or 0) + (self.read or 0)


@dataclass(frozen=True)
class QueryPlan:
    """One query's plan as EXPLAIN gave it.

    planning_ms, execution_ms: None where the query was not run.
    jit: timings in ms by step, empty without JIT.
    jit_functions: how many were compiled."""

    lines: tuple[PlanLine, ...]
    planning_ms: float | None
    execution_ms: float | None
    jit: Mapping[str, float]
    jit_functions: int
    settings: Mapping[str, str]


def read_plan(content: Any) -> QueryPlan:
    """The answer of EXPLAIN (FORMAT JSON), as the list that PostgreSQL gives or its one object. Raises ParseError."""
    whole = content[0] if isinstance(content, (list, tuple)) and content else content
    if not isinstance(whole, Mapping) or not isinstance(whole.get("Plan"), Mapping):
        raise ParseError(_("This is no plan of a query."), file="plan", text=str(content)[:80])
    with damaged(_("This is no plan of a query"), "plan"):
        return _plan(whole)


def _plan(whole: Mapping[str, Any]) -> QueryPlan:
    jit = whole.get("JIT") or {}
    # from 17 on Generation is an object of its own, with Deform inside
    timing = {name: _total(value) for name, value in (jit.get("Timing") or {}).items()}
    return QueryPlan(
        lines=tuple(_lines(whole["Plan"], 0)),
        planning_ms=whole.get("Planning Time"),
        execution_ms=whole.get("Execution Time"),
        jit=timing,
        jit_functions=int(jit.get("Functions", 0)),
        settings=whole.get("Settings") or {},
    )


def workers(content: Any) -> tuple[int, int]:
    """Parallel workers planned and launched, over all nodes of the plan that ask for some. Raises ParseError."""
    lines = read_plan(content).lines
    with damaged(_("This is no plan of a query"), "plan"):
        return sum(line.planned or 0 for line in lines), sum(line.launched or 0 for line in lines)


def _total(value: Any) -> float:
    return float(value["Total"]) if isinstance(value, Mapping) else float(value)


def _lines(node: Mapping[str, Any], depth: int) -> Iterator[PlanLine]:
    yield PlanLine(
        depth=depth,
        kind=str(node.get("Node Type", "?")),
        relation=str(node.get("Relation Name", "")),
        title=_title(node),
        conditions=tuple((name, _text(node[name])) for name in _CONDITIONS if name in node),
        estimated_rows=node.get("Plan Rows"),
        rows=node.get("Actual Rows"),
        loops=node.get("Actual Loops"),
        time_ms=node.get("Actual Total Time"),
        hit=node.get("Shared Hit Blocks"),
        read=node.get("Shared Read Blocks"),
        planned=node.get("Workers Planned"),
        launched=node.get("Workers Launched"),
        removed=node.get("Rows Removed by Filter"),
    )
    for child in node.get("Plans", ()):
        yield from _lines(child, depth + 1)


def _title(node: Mapping[str, Any]) -> str:
    kind = str(node.get("Node Type", "?"))
    if node.get("Strategy") in ("Hashed", "Sorted", "Mixed") and kind == "Aggregate":
        kind = {"Hashed": "HashAggregate", "Sorted": "GroupAggregate", "Mixed": "MixedAggregate"}[node["Strategy"]]
    words = [
        str(node.get("Partial Mode", "")) if node.get("Partial Mode") not in (None, "Simple") else "",
        "Parallel" if node.get("Parallel Aware") else "",
        kind,
        f"({node['Join Type']})" if node.get("Join Type", "Inner") != "Inner" else "",
    ]
    if "Index Name" in node:
        words.append(f"using {node['Index Name']}")
    if "Relation Name" in node:
        alias = node.get("Alias", node["Relation Name"])
        words.append(f"on {node['Relation Name']}" + (f" {alias}" if alias != node["Relation Name"] else ""))
    return " ".join(word for word in words if word)


def _text(value: Any) -> str:
    return ", ".join(map(str, value)) if isinstance(value, list) else str(value)


@dataclass(frozen=True)
class Pair:
    """One line of two plans side by side; None where a plan has no such node.

    differs: what is not the same: `node` (type, join, strategy, index, relation), `conditions`, `workers`, `rows`,
        `time`, `blocks`."""

    left: PlanLine | None
    right: PlanLine | None
    differs: frozenset[str]

    @property
    def left_conditions(self) -> list[tuple[str, str, bool]]:
        """(what, text, whether the other side lacks it)."""
        return _against(self.left, self.right)

    @property
    def right_conditions(self) -> list[tuple[str, str, bool]]:
        return _against(self.right, self.left)


def side_by_side(left: QueryPlan, right: QueryPlan) -> tuple[Pair, ...]:
    """The nodes of both plans, those that do the same beside each other: the matching of the two trees that leaves the
    fewest nodes alone (Tai's ordered tree edit distance)."""
    pairs: list[Pair] = []
    i = j = 0
    for a, b in [*_matched(left.lines, right.lines), (len(left.lines), len(right.lines))]:
        pairs += [Pair(line, None, frozenset({"node"})) for line in left.lines[i:a]]
        pairs += [Pair(None, line, frozenset({"node"})) for line in right.lines[j:b]]
        if a < len(left.lines):
            pairs.append(Pair(left.lines[a], right.lines[b], frozenset(_differs(left.lines[a], right.lines[b]))))
        i, j = a + 1, b + 1
    return tuple(pairs)


def _against(line: PlanLine | None, other: PlanLine | None) -> list[tuple[str, str, bool]]:
    known = other.conditions if other else ()
    return [(what, text, (what, text) not in known) for what, text in (line.conditions if line else ())]


def _differs(a: PlanLine, b: PlanLine) -> Iterator[str]:
    if a.title != b.title:
        yield "node"
    if a.conditions != b.conditions:
        yield "conditions"
    if (a.planned, a.launched) != (b.planned, b.launched):
        yield "workers"
    # means over loops are rounded to whole rows up to version 17
    rows_a, rows_b, rounding = _whole(a.rows, a.loops), _whole(b.rows, b.loops), max(a.loops or 0, b.loops or 0)
    if abs((rows_a or 0) - (rows_b or 0)) > rounding and _apart(rows_a, rows_b, _ROWS_DIFFER):
        yield "rows"
    if _apart(_whole(a.time_ms, a.loops), _whole(b.time_ms, b.loops), _TIME_DIFFERS):
        yield "time"
    if _apart(a.blocks, b.blocks, _BLOCKS_DIFFER):
        yield "blocks"


def _whole(mean: float | None, loops: float | None) -> float | None:
    return None if mean is None or loops is None else mean * loops


def _apart(a: float | None, b: float | None, share: float) -> bool:
    return a is not None and b is not None and abs(a - b) > share * max(a, b)


def _matched(left: Sequence[PlanLine], right: Sequence[PlanLine]) -> list[tuple[int, int]]:
    """Places of the nodes that belong together, in the order of both. Of very large plans (many partitions) the longest
    common runs of the same nodes, for which no tree is walked."""
    if len(left) + len(right) > _MOST_LINES:
        same = SequenceMatcher(None, [line.title for line in left], [line.title for line in right], autojunk=False)
        return [(run.a + i, run.b + i) for run in same.get_matching_blocks() for i in range(run.size)]
    below_left, below_right = _below(left), _below(right)

    def change(a: int, b: int) -> float:
        return _change(left[a], right[b])

    @cache
    def distance(a: tuple[int, ...], b: tuple[int, ...]) -> float:
        """Between two forests, given by their roots: the cheapest of leaving the last root of either alone, and of
        taking both for one."""
        if not a or not b:
            return float(_size(a, below_left) + _size(b, below_right))
        return min(cost for cost, _ in ways(a, b))

    def ways(a: tuple[int, ...], b: tuple[int, ...]) -> list[tuple[float, str]]:
        x, y = a[-1], b[-1]
        together = distance(below_left[x], below_right[y]) + distance(a[:-1], b[:-1]) + change(x, y)
        alone_left = distance(a[:-1] + below_left[x], b) + 1
        alone_right = distance(a, b[:-1] + below_right[y]) + 1
        return [(together, "together"), (alone_left, "left"), (alone_right, "right")]

    pairs: list[tuple[int, int]] = []
    waiting: list[tuple[tuple[int, ...], tuple[int, ...]]] = [((0,), (0,))]
    while waiting:
        a, b = waiting.pop()
        if not a or not b:
            continue
        _, way = min(ways(a, b), key=lambda option: option[0])
        x, y = a[-1], b[-1]
        if way == "together":
            pairs.append((x, y))
            waiting += [(below_left[x], below_right[y]), (a[:-1], b[:-1])]
        else:
            waiting.append((a[:-1] + below_left[x], b) if way == "left" else (a, b[:-1] + below_right[y]))
    return sorted(pairs)


def _below(lines: Sequence[PlanLine]) -> list[tuple[int, ...]]:
    """Of each line the places of its children."""
    children: list[list[int]] = [[] for _ in lines]
    path: list[int] = []
    for index, line in enumerate(lines):
        del path[line.depth :]
        if path:
            children[path[-1]].append(index)
        path.append(index)
    return [tuple(places) for places in children]


def _size(roots: tuple[int, ...], below: Sequence[tuple[int, ...]]) -> int:
    return len(roots) + sum(_size(below[root], below) for root in roots)


def _change(a: PlanLine, b: PlanLine) -> float:
    """What it costs to take two nodes for one; leaving both alone costs 2."""
    if a.kind == b.kind and a.relation == b.relation:
        return 0.0 if a.title == b.title else 0.25
    if a.relation and a.relation == b.relation:
        return 0.5
    if any({a.kind, b.kind} <= group for group in _ALIKE):
        return 0.5
    return 1.5 if a.kind == b.kind else 3.0
