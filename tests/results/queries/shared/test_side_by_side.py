"""Addresses of comparisons of two runs: what the comparison there says."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pytest

from results import models
from results.domain.statistics.verdict import Kind
from results.queries.comparison.cells import Comparison
from results.queries.comparison.compare import compare
from results.queries.shared.configurations import ConfigurationRow
from results.queries.shared.side_by_side import VERSION, side_by_side
from results.queries.trends.progress import progress
from tests import histories
from webapp.urlstate import read

pytestmark = pytest.mark.django_db


def linked(plan: models.Plan, **later: Any) -> tuple[Comparison, int, int]:
    """(the comparison that an alert of the plan's second run leads to, both runs)."""
    (first,) = histories.months(plan, [8000])
    (second,) = histories.months(plan, [7200], **later)
    return compare(read(progress(second.pk).comparison)), first.pk, second.pk


def judged(comparison: Comparison) -> set[tuple[str, str, Kind]]:
    return {(point.x, point.series, point.verdict.kind) for point in comparison.points if point.verdict}


def test_a_plan_of_one_configuration() -> None:
    address, first, second = linked(histories.nightly(replicates=5))
    assert judged(address) == {("pgbench", str(second), Kind.WORSE)}
    assert (address.mixed, address.unmatched, address.selection.baseline) == ((), (), str(first))


def test_each_configuration_is_compared_with_itself_over_another_minor_version() -> None:
    plan = histories.nightly(parameters={"scale": 5}, factors={"clients": [1, 8], "duration_s": [5, 7]}, replicates=5)
    address, _, second = linked(plan, version="18.2")
    name = f"{second} · "
    assert judged(address) == {(x, f"{name}{other}", Kind.WORSE) for x in ("1", "8") for other in ("5", "7")}
    assert (address.mixed, address.unmatched) == ((), ())


def row(run: int, version: str, clients: int, levels: Mapping[str, str] | None = None) -> ConfigurationRow:
    dimensions = {
        "workload": "pgbench",
        "installation": f"postgresql-{version}",
        "version": version,
        "major": version.split(".")[0],
        "clients": clients,
        "threads": clients,
    }
    return ConfigurationRow(run * 100 + clients, run, levels or {}, dimensions, 5, 0, 0, 0, 0)


def builds(run: int, *versions: str) -> list[ConfigurationRow]:
    return [
        row(run, version, clients, {"installation": version.split(".")[0], "clients": str(clients)})
        for version in versions
        for clients in (1, 8)
    ]


def test_an_installation_that_went_on_to_a_minor_version_is_compared_by_its_major_one() -> None:
    rows = [*builds(41, "16.9", "18.1"), *builds(42, "16.9", "18.2")]
    assert side_by_side(rows, "41") == "run=41,42&x=clients&series=run,major&baseline=41"


def test_several_builds_of_one_major_version_are_told_apart_by_name() -> None:
    rows = [*builds(41, "18.1", "18.2"), *builds(42, "18.1", "18.2")]
    assert side_by_side(rows, "41") == "run=41,42&x=clients&series=run,installation&baseline=41"


def test_versions_are_compared_whatever_the_run() -> None:
    rows = [*builds(41, "16.9", "18.1"), *builds(42, "16.9", "18.1")]
    address = side_by_side(rows, "16.9", by=VERSION, filters={"clients": ("8",), "version": ("16.9", "18.1")})
    assert read(address).series == "version"
    assert (read(address).x, read(address).baseline) == ("workload", "16.9")
    assert read(address).filters == {"clients": ("8",), "version": ("16.9", "18.1")}


def test_a_parameter_that_was_changed_between_the_runs_is_no_hidden_difference() -> None:
    rows = [row(41, "18.1", 8), row(42, "18.1", 16)]
    assert side_by_side(rows, "41") == "run=41,42&x=clients&series=run&baseline=41"
