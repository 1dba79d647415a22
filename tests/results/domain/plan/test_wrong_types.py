"""A value of the wrong TOML type anywhere in a plan is a problem with its field, never a crash."""

from __future__ import annotations

import copy
import tomllib
from collections.abc import Iterator
from typing import Any

import pytest

from results.domain import plan as plans
from results.domain.errors import PlanError, Problem
from workers import registry

KINDS = registry.kinds()
COMPLETE = """
name = "small"
description = "words"
workload = "pgbench"
topology = "single"
installation = "16"
replicates = 3
seed = 1
duration_s = 10
warmup_s = 0
cache = "prewarm"
patience = 1.5
initdb = ["--data-checksums"]
collectors = ["sar"]
required_collectors = ["sar"]
exclude = [{scale = 1, load = "low"}]

[agents]
primary = "db"

[parameters]
clients = 4

[topology_parameters]

[settings]
work_mem = "4MB"
auto_explain.log_analyze = true

[host]
cpus = "2 cpus"

[factors]
scale = [1, 10]
load = [{label = "low", values = {protocol = "simple"}}, {label = "high", values = {protocol = "prepared"}}]
"""
VALUES = {
    "text": "'words'",
    "empty text": "''",
    "number": "7",
    "fraction": "1.5",
    "not a number": "nan",
    "true": "true",
    "date": "2026-01-01",
    "list": "[1, 'a']",
    "empty list": "[]",
    "list of lists": "[['a']]",
    "table": "{a = 1}",
    "empty table": "{}",
    "list of tables": "[{a = 1}]",
    "table of tables": "{a = {b = [{c = 1}]}}",
    "table with a level's keys": "{label = ['x'], values = 1}",
}
KeyPath = tuple[str | int, ...]


def paths(value: Any, path: KeyPath = ()) -> Iterator[KeyPath]:
    """Yield where each value of a TOML structure stands, tables and lists themselves included."""
    if path:
        yield path
    entries = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for key, inner in entries:
        yield from paths(inner, (*path, key))


def replaced(path: KeyPath, value: object) -> dict[str, Any]:
    """Return the complete plan with another value at the path."""
    mapping = tomllib.loads(COMPLETE)
    holder: Any = mapping
    for key in path[:-1]:
        holder = holder[key]
    holder[path[-1]] = copy.deepcopy(value)
    return mapping


def read(mapping: dict[str, Any]) -> tuple[plans.Plan | None, list[Problem]]:
    """Return the plan and no problems, or no plan and the problems with it."""
    try:
        return plans.from_mapping(mapping, KINDS), []
    except PlanError as error:
        return None, list(error.problems)


def test_the_plan_in_which_values_are_replaced_is_itself_right() -> None:
    assert plans.read(COMPLETE, KINDS).name == "small"


def test_a_table_among_the_collectors_is_a_problem_of_the_collectors() -> None:
    with pytest.raises(PlanError) as caught:
        plans.from_mapping(replaced(("collectors",), [{"name": "sar"}]), KINDS)
    assert caught.value.problems[0].field == "collectors"
    assert caught.value.problems[0].what == "There is no collector {'name': 'sar'}."


@pytest.mark.parametrize("path", tuple(paths(tomllib.loads(COMPLETE))), ids=lambda path: ".".join(map(str, path)))
def test_a_value_of_any_type_is_read_or_refused_with_its_field(path: KeyPath) -> None:
    for name, written in VALUES.items():
        mapping = replaced(path, tomllib.loads(f"value = {written}")["value"])
        plan, problems = read(mapping)
        assert all(problem.field and problem.what for problem in problems), (name, problems)
        assert plan is None or plans.read(plans.to_toml(plan), KINDS) == plan, name


@pytest.mark.parametrize("number", ["9" * 5000, "0x" + "f" * 5000], ids=["decimal", "hexadecimal"])
@pytest.mark.parametrize(
    "text",
    [
        "seed = {}\n",
        "initdb = {}\n",
        "collectors = [{}]\n",
        "settings = {{work_mem = {}}}\n",
        "host = {{cpus = {}}}\n",
        "factors = {{scale = [{}]}}\n",
        "exclude = [{{scale = {}}}]\n",
    ],
)
def test_a_number_too_long_to_be_written_is_refused(text: str, number: str) -> None:
    with pytest.raises(PlanError):
        plans.read("name = 'x'\ninstallation = '16'\nagents = {primary = 'db'}\n" + text.format(number), KINDS)


def test_lists_nested_too_deeply_to_be_read_are_refused() -> None:
    with pytest.raises(PlanError, match="TOML"):
        plans.read("initdb = " + "[" * 20_000, KINDS)
