"""The planner's choice, read from EXPLAIN (FORMAT JSON). Pure."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from results.domain import json_text
from results.domain.errors import damaged
from results.domain.messages import gettext_lazy as _

Node = Mapping[str, Any]


def nodes(explained: str) -> list[Node]:
    """Return every node of a plan, from the top. Raises ParseError."""
    with damaged(_("not the plan of a query"), "EXPLAIN", explained):
        plan = list(_below(json_text.loads(explained)[0]["Plan"]))
        if not all(isinstance(node["Node Type"], str) for node in plan):
            raise TypeError("a node has no type")
        return plan


def indexes(plan: Sequence[Node]) -> set[str]:
    return {str(node["Index Name"]) for node in plan if "Index Name" in node}


def relations(plan: Sequence[Node]) -> list[str]:
    """Return the names of the tables that are read, sorted."""
    return sorted({str(node["Relation Name"]) for node in plan if "Relation Name" in node})


def shares_a_scan(plan: Sequence[Node]) -> bool:
    """Tell whether several processes read one table together: not where a Gather has a single worker run the plan."""
    gathers = any("Workers Planned" in node for node in plan)
    return gathers and any(node.get("Parallel Aware") and "Relation Name" in node for node in plan)


def shape(plan: Sequence[Node]) -> str:
    """Describe a plan: 'Gather (one worker, alone), Seq Scan on items'."""
    return ", ".join(_words(node) for node in plan)


def _words(node: Node) -> str:
    words = f"{'Parallel ' if node.get('Parallel Aware') else ''}{node['Node Type']}"
    words += " (one worker, alone)" if node.get("Single Copy") else ""
    return f"{words} on {node['Relation Name']}" if "Relation Name" in node else words


def _below(node: Node) -> Iterator[Node]:
    yield node
    for child in node.get("Plans", ()):
        yield from _below(child)
