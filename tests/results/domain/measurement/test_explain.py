"""Plans of queries, read."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest

from results.domain.errors import ParseError
from results.domain.measurement.query_plans import QueryPlan, read_plan, side_by_side, workers

SSB = Path(__file__).parents[3] / "data" / "ssb"

PARALLEL: list[dict[str, Any]] = [
    {
        "Plan": {
            "Node Type": "Aggregate",
            "Strategy": "Plain",
            "Partial Mode": "Finalize",
            "Plan Rows": 1,
            "Actual Rows": 1,
            "Actual Loops": 1,
            "Actual Total Time": 12.5,
            "Plans": [
                {
                    "Node Type": "Gather",
                    "Workers Planned": 2,
                    "Workers Launched": 1,
                    "Plan Rows": 2,
                    "Plans": [
                        {
                            "Node Type": "Seq Scan",
                            "Parallel Aware": True,
                            "Relation Name": "lineorder",
                            "Alias": "l",
                            "Filter": "(lo_discount > 3)",
                            "Rows Removed by Filter": 40,
                            "Shared Hit Blocks": 7,
                            "Shared Read Blocks": 5,
                        }
                    ],
                }
            ],
        },
        "Planning Time": 0.25,
        "Execution Time": 13.0,
        "JIT": {"Functions": 4, "Timing": {"Generation": {"Deform": 0.1, "Total": 0.5}, "Inlining": 0.0, "Total": 2.5}},
    }
]


def test_every_node_is_a_line_at_its_depth() -> None:
    plan = read_plan(PARALLEL)
    assert [(line.depth, line.title) for line in plan.lines] == [
        (0, "Finalize Aggregate"),
        (1, "Gather"),
        (2, "Parallel Seq Scan on lineorder l"),
    ]
    scan = plan.lines[2]
    assert (scan.conditions, scan.removed, scan.hit, scan.read) == ((("Filter", "(lo_discount > 3)"),), 40, 7, 5)
    assert (plan.planning_ms, plan.execution_ms) == (0.25, 13.0)


def test_workers_planned_and_launched_are_told_apart() -> None:
    assert workers(PARALLEL) == (2, 1)


def test_jit_is_read_in_the_form_of_every_version() -> None:
    plan = read_plan(PARALLEL)
    assert (plan.jit, plan.jit_functions) == ({"Generation": 0.5, "Inlining": 0.0, "Total": 2.5}, 4)


def test_a_plan_that_was_not_run_has_no_times() -> None:
    plan = read_plan({"Plan": {"Node Type": "Result", "Plan Rows": 1}})
    assert (plan.lines[0].time_ms, plan.lines[0].rows, plan.execution_ms) == (None, None, None)


@pytest.mark.parametrize("content", [[], {}, "text", [{"Plan": 3}], None])
def test_what_is_no_plan_is_refused(content: Any) -> None:
    with pytest.raises(ParseError, match="no plan"):
        read_plan(content)


def recorded(version: str, query: str) -> QueryPlan:
    """A plan that PostgreSQL of that version printed for the Star Schema Benchmark."""
    part = re.split(r"^== ", (SSB / f"{version}.stdout").read_text(), flags=re.MULTILINE)
    text = next(one for one in part if one.startswith(f"1 {query}\n"))
    return read_plan(json.JSONDecoder().raw_decode(text[text.index("[") :])[0])


def tree(kind: str, *below: dict[str, Any], **more: Any) -> dict[str, Any]:
    return {"Node Type": kind, "Plan Rows": 1, "Plans": list(below), **more}


def scan(relation: str, kind: str = "Seq Scan", **more: Any) -> dict[str, Any]:
    return tree(kind, **{"Relation Name": relation}, **more)


def titles(left: dict[str, Any], right: dict[str, Any]) -> list[tuple[str, str]]:
    pairs = side_by_side(read_plan({"Plan": left}), read_plan({"Plan": right}))
    return [(one.left.title if one.left else "", one.right.title if one.right else "") for one in pairs]


def test_two_recorded_plans_of_the_same_shape_match_line_by_line() -> None:
    pairs = side_by_side(recorded("12", "q1.1"), recorded("17", "q1.1"))
    assert [one.left.title == one.right.title for one in pairs if one.left and one.right] == [True] * 7
    assert all("node" not in one.differs for one in pairs)


def test_a_node_that_only_one_version_has_stands_alone_and_the_rest_beside_each_other() -> None:
    pairs = side_by_side(recorded("12", "q2.1"), recorded("17", "q2.1"))
    assert [one.left.title for one in pairs if one.left and not one.right] == ["Partial GroupAggregate"]
    assert [(one.left.title, one.right.title) for one in pairs if one.left and one.right and "node" in one.differs] == [
        ("Finalize GroupAggregate", "GroupAggregate")
    ]
    assert not [one for one in pairs if one.right and not one.left]


def test_a_plan_beside_itself_differs_in_nothing() -> None:
    plan = recorded("17", "q2.1")
    pairs = side_by_side(plan, plan)
    assert [one.left for one in pairs] == list(plan.lines)
    assert not any(one.differs for one in pairs)


def test_another_join_another_scan_and_a_node_between_find_their_counterparts() -> None:
    left = tree("Hash Join", scan("lineorder"), tree("Hash", scan("date")))
    right = tree("Gather", tree("Nested Loop", scan("lineorder"), scan("date", "Index Scan", **{"Index Name": "d_pk"})))
    assert titles(left, right) == [
        ("", "Gather"),
        ("Hash Join", "Nested Loop"),
        ("Seq Scan on lineorder", "Seq Scan on lineorder"),
        ("Hash", ""),
        ("Seq Scan on date", "Index Scan using d_pk on date"),
    ]


def test_scans_of_different_tables_are_not_taken_for_each_other_where_their_own_is_there() -> None:
    left = tree("Nested Loop", scan("a"), scan("b"))
    right = tree("Nested Loop", scan("b"), scan("c"))
    assert ("Seq Scan on b", "Seq Scan on b") in titles(left, right)


def test_what_a_matched_node_differs_in_is_named() -> None:
    ran = {"Actual Rows": 100, "Actual Loops": 2, "Actual Total Time": 10.0, "Shared Hit Blocks": 50}
    left = scan("a", Filter="(x > 1)", **ran)
    for change, name in (
        ({"Filter": "(x > 2)"}, "conditions"),
        ({"Actual Rows": 110}, "rows"),
        ({"Actual Total Time": 14.0}, "time"),
        ({"Shared Hit Blocks": 40}, "blocks"),
        ({"Workers Planned": 2}, "workers"),
        ({"Parallel Aware": True}, "node"),
    ):
        (pair,) = side_by_side(read_plan({"Plan": left}), read_plan({"Plan": left | change}))
        assert pair.differs == {name}
    rounded = left | {"Actual Rows": 101, "Actual Total Time": 11.0, "Shared Hit Blocks": 51}
    (pair,) = side_by_side(read_plan({"Plan": left}), read_plan({"Plan": rounded}))
    assert not pair.differs


def test_only_the_condition_that_the_other_side_lacks_is_marked() -> None:
    left = scan("a", Filter="(x > 1)", **{"Index Cond": "(y = 2)"})
    (pair,) = side_by_side(read_plan({"Plan": left}), read_plan({"Plan": left | {"Filter": "(x > 2)"}}))
    assert pair.left_conditions == [("Index Cond", "(y = 2)", False), ("Filter", "(x > 1)", True)]
    assert pair.right_conditions[1] == ("Filter", "(x > 2)", True)


@pytest.mark.parametrize("partitions", [40, 600])
def test_wide_plans_are_matched_too(partitions: int) -> None:
    scans = [scan(f"part_{number}") for number in range(partitions)]
    matched_titles = titles(tree("Append", *scans), tree("Append", *scans[5:]))
    assert matched_titles[:2] == [("Append", "Append"), ("Seq Scan on part_0", "")]
    assert len([one for one in matched_titles if one[0] == one[1]]) == partitions - 4
