"""The read scale-up's scripts and the judgement of plans, without a server."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from results.domain.errors import ParseError, VerifyError
from results.domain.kinds.parameters import Scalar
from results.domain.kinds.specs import Reading
from workers.workloads import read_scaleup
from workers.workloads.read_scaleup.parse import parse
from workers.workloads.read_scaleup.queries import SCRIPTS, check_pages, check_plan, check_range, explain_script
from workers.workloads.read_scaleup.spec import SPEC

DEFAULTS: dict[str, Scalar] = {parameter.name: parameter.default for parameter in SPEC.parameters}


def plan(*scans: dict[str, Any]) -> list[dict[str, Any]]:
    return [{"Plan": {"Node Type": "Aggregate", "Plans": list(scans)}}]


def scan(kind: str, index: str = "pgbench_accounts_aid_abalance", **more: Any) -> dict[str, Any]:
    return {"Node Type": kind, "Relation Name": "pgbench_accounts", "Index Name": index, **more}


def test_the_range_is_one_row_longer_than_row_count_and_never_cut_off() -> None:
    lines = SCRIPTS["count"].splitlines()
    assert lines[1:4] == [
        r"\set aid_max :naccounts - :row_count",
        r"\set aid random(1, :aid_max)",
        r"\set aid_last :aid + :row_count",
    ]


@pytest.mark.parametrize(("row_count", "scale", "variant"), [(100_000, 1, "count"), (200_001, 2, "index-only")])
def test_a_range_longer_than_the_table_is_refused(row_count: int, scale: int, variant: str) -> None:
    with pytest.raises(VerifyError, match=r"parameters\.row_count"):
        check_range({**DEFAULTS, "row_count": row_count, "scale": scale, "variant": variant})


def test_a_range_that_fits_and_a_variant_without_one_are_taken() -> None:
    check_range({**DEFAULTS, "row_count": 99_999})
    check_range({**DEFAULTS, "row_count": 1_000_000, "variant": "select-only"})


@pytest.mark.parametrize(("name", "value"), [("scale", 0), ("clients", 0), ("row_count", 0), ("variant", "all")])
def test_a_parameter_out_of_its_limits_is_refused(name: str, value: Scalar) -> None:
    parameter = next(parameter for parameter in SPEC.parameters if parameter.name == name)
    with pytest.raises(ValueError, match=str(value)):
        parameter.check(value)


def test_only_the_variant_and_the_scale_decide_the_data() -> None:
    assert set(SPEC.data_key(DEFAULTS)) == {"variant", "scale"}


def test_the_very_query_is_explained() -> None:
    query = "SELECT count(abalance) FROM pgbench_accounts WHERE aid BETWEEN :aid AND :aid_last;"
    assert explain_script("count", "simple") == f"EXPLAIN (FORMAT JSON) {query}\n"
    assert query in SCRIPTS["index-only"]


def test_a_prepared_query_is_explained_after_its_plan_has_settled() -> None:
    first, *executed, explained = explain_script("count", "prepared").splitlines()
    assert first == "PREPARE measured AS SELECT count(abalance) FROM pgbench_accounts WHERE aid BETWEEN $1 AND $2;"
    assert executed == [r"EXECUTE measured (:aid, :aid_last) \g /dev/null"] * 6
    assert explained == "EXPLAIN (FORMAT JSON) EXECUTE measured (:aid, :aid_last);"


def test_an_index_only_scan_of_the_index_passes_parallel_or_not() -> None:
    assert check_plan(plan(scan("Index Only Scan"))).passed
    assert check_plan(plan(scan("Index Only Scan", **{"Parallel Aware": True}))).passed


@pytest.mark.parametrize(
    "scans",
    [
        [scan("Index Scan")],
        [scan("Index Only Scan", "pgbench_accounts_pkey")],
        [scan("Index Only Scan"), scan("Seq Scan")],
        [],
    ],
)
def test_any_other_plan_is_refused_by_name(scans: list[dict[str, Any]]) -> None:
    check = check_plan(plan(*scans))
    assert not check.passed
    assert check.actual


def test_an_empty_or_uncounted_visibility_map_is_refused() -> None:
    assert check_pages(1640, 1640).passed
    assert not check_pages(1640, 1639).passed
    assert not check_pages(0, 0).passed


def reading(plan_text: str) -> Reading:
    report = "tps = 100.0 (without initial connection time)\nnumber of transactions actually processed: 200\n"
    files = {"stdout": report, "stderr": "", "exit": "0", "plan.json": plan_text}
    return Reading("client", files, DEFAULTS, (0.0, 2.0))


def test_the_plan_is_a_document_of_the_trial() -> None:
    [document] = parse(reading('[{"Plan": {"Node Type": "Result"}}]')).documents
    assert (document.kind, document.label, document.node) == ("plan", "count", "primary")


def test_a_damaged_plan_is_told() -> None:
    with pytest.raises(ParseError, match="not the plan of a query"):
        parse(reading("[{"))


def test_every_parameter_and_metric_is_in_the_readme() -> None:
    text = (Path(read_scaleup.__file__).parent / "README.md").read_text()
    names = [*(p.name for p in SPEC.parameters), *(m.name for m in SPEC.metrics)]
    assert [name for name in names if f"| `{name}` |" not in text] == []
