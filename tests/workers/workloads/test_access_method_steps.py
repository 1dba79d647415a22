"""The list of steps, and how each can end."""

from __future__ import annotations

from pathlib import Path

import pytest

from results.domain.kinds.parameters import Scalar
from workers.workloads import access_method
from workers.workloads.access_method.outcome import Outcome, by_index, of_psql
from workers.workloads.access_method.spec import SPEC, disk_bytes, stored_by
from workers.workloads.access_method.steps import Sizes, steps

DEFAULTS: dict[str, Scalar] = {parameter.name: parameter.default for parameter in SPEC.parameters}
SQL = Path(access_method.__file__).parent / "sql"


def test_the_defaults_are_the_report_s_sizes() -> None:
    assert Sizes.of(DEFAULTS) == Sizes(
        rows=1_000_000, wide_rows=5_000_000, range_rows=1_000, updates=620_000, scale=200
    )


def test_one_parameter_sizes_everything_but_what_is_set() -> None:
    assert Sizes.of({**DEFAULTS, "rows": 10_000}) == Sizes(10_000, 50_000, 1_000, 6_200, 2)
    assert Sizes.of({**DEFAULTS, "rows": 100, "updates": 5, "range_rows": 10}) == Sizes(100, 500, 10, 5, 1)
    assert disk_bytes({**DEFAULTS, "rows": 10_000}) < disk_bytes(DEFAULTS) / 50 < 12e9 / 50


def test_a_range_must_fit_into_its_table() -> None:
    assert list(SPEC.problems({**DEFAULTS, "rows": 1_000})) == []
    [problem] = SPEC.problems({**DEFAULTS, "rows": 999})
    assert (problem.field, problem.what) == ("range_rows", "A range of 1000 rows does not fit into a table of 999.")


def test_every_step_has_its_file_and_every_file_is_used() -> None:
    used = {step.file for step in steps(DEFAULTS, heap_baseline=True) if step.file}
    files = {path.name for path in SQL.glob("*.sql")}
    assert used <= files
    assert {name for name in files - used if not name.startswith("0")} == set()


def test_every_need_is_an_earlier_step() -> None:
    for heap_baseline in (False, True):
        names: list[str] = []
        for step in steps(DEFAULTS, heap_baseline=heap_baseline):
            assert set(step.needs) <= set(names), step.name
            names.append(step.name)


def test_a_twin_is_scanned_right_after_the_table_it_is_compared_with() -> None:
    names = [
        step.name
        for step in steps({**DEFAULTS, "scan_repetitions": 2}, heap_baseline=True)
        if step.name.startswith("scan")
    ]
    once = [f"scan {table} {column}" for table in ("wide", "wide_heap") for column in ("id", "val10", "val20")]
    assert names == once + once
    assert not any("wide_heap" in step.name for step in steps(DEFAULTS, heap_baseline=False))


def test_tpcb_can_be_left_out() -> None:
    names = [step.name for step in steps({**DEFAULTS, "tpcb": False}, heap_baseline=False)]
    assert [name for name in names if "TPC-B" in name or "pgbench" in name] == []


def test_only_scans_look_ups_updates_and_tpcb_begin_cold() -> None:
    cold = {step.name.split()[0] for step in steps(DEFAULTS, heap_baseline=True) if step.cold}
    assert cold == {"scan", "select", "update", "TPC-B"}


def test_the_twin_s_access_method_is_declared_where_there_is_a_baseline() -> None:
    assert stored_by(DEFAULTS) == {"wide_heap": "heap"}
    assert stored_by({**DEFAULTS, "heap_baseline": False}) == {}


@pytest.mark.parametrize(
    ("status", "message", "outcome"),
    [
        (0, "psql:x.sql:1: NOTICE:  00000: well", Outcome.DONE),
        (3, "psql:x.sql:1: ERROR:  0A000: only heap AM is supported\nLOCATION:  x", Outcome.REFUSED),
        (3, "psql:x.sql:1: ERROR:  XX000: function not implemented yet", Outcome.REFUSED),
        (3, 'psql:x.sql:1: ERROR:  42809: "foo" is not a table', Outcome.REFUSED),
        (3, "psql:x.sql:1: ERROR:  58P01: could not open extension control file", Outcome.REFUSED),
        (3, "psql:x.sql:1: ERROR:  53100: could not extend file: No space left on device", Outcome.FAILED),
        (3, "psql:x.sql:1: ERROR:  55P03: canceling statement due to lock timeout", Outcome.FAILED),
        (3, "psql:x.sql:1: ERROR:  57014: canceling statement due to statement timeout", Outcome.FAILED),
        (3, "psql:x.sql:1: ERROR:  XX001: invalid page in block 3", Outcome.FAILED),
        (2, "psql: error: connection to server failed", Outcome.FAILED),
        (1, "rows: No such file or directory", Outcome.FAILED),
        (None, "", Outcome.FAILED),
    ],
)
def test_a_refusal_is_told_from_what_broke(status: int | None, message: str, outcome: Outcome) -> None:
    verdict = of_psql(status, message)
    assert verdict.outcome is outcome
    assert outcome is Outcome.DONE or verdict.why


def test_a_deadline_is_no_refusal() -> None:
    assert of_psql(124, "ERROR:  0A000: x", timed_out=True).outcome is Outcome.FAILED


@pytest.mark.parametrize("node", ["Index Scan", "Index Only Scan", "Bitmap Index Scan"])
def test_any_way_by_the_index_counts(node: str) -> None:
    assert by_index({"Plan": {"Node Type": "Append", "Plans": [{"Node Type": node}]}}).outcome is Outcome.DONE


def test_a_plan_without_the_index_names_what_it_does() -> None:
    verdict = by_index({"Plan": {"Node Type": "Gather", "Plans": [{"Node Type": "Seq Scan"}]}})
    assert (verdict.outcome, verdict.why) == (Outcome.REFUSED, "The server does not use the index: Gather, Seq Scan.")
