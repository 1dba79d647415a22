"""Appending: how many partitions, what a transaction is, and what a lost row does, without a server."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from results.domain.errors import ParseError, VerifyError
from results.domain.kinds.parameters import Scalar
from results.domain.kinds.specs import Reading, timed_limit_s
from results.domain.matrix import InstallationRef, TrialSpec
from results.domain.measurement.parsed_trial import Part
from workers.bundle.writer import BundleWriter
from workers.interfaces import Stage
from workers.workloads import append
from workers.workloads.append.execute import WORKLOAD
from workers.workloads.append.parse import parse
from workers.workloads.append.partitions import MARGIN_S, script, seconds_ahead
from workers.workloads.append.spec import SPEC

DEFAULTS: dict[str, Scalar] = {parameter.name: parameter.default for parameter in SPEC.parameters}


def read(rows: str | None, exit_status: int = 0) -> Part:
    report = "tps = 100.0 (without initial connection time)\nnumber of transactions actually processed: 200\n"
    files = {"stdout": report, "stderr": "pgbench: fatal: no\n" if exit_status else "", "exit": str(exit_status)}
    if rows is not None:
        files["rows.json"] = rows
    return parse(Reading("client", files, DEFAULTS, (0.0, 2.0)))


def values(part: Part) -> dict[str, float]:
    return {one.metric: one.value for one in part.measurements if not one.label}


def test_rows_a_second_stand_beside_transactions_a_second() -> None:
    part = read('{"before": 50, "after": 2050}')
    assert part.failure == ""
    stored_values = values(part)
    assert (stored_values["append.rows"], stored_values["append.rows_per_second"], stored_values["tps"]) == (
        2000,
        1000,
        100,
    )


@pytest.mark.parametrize("after", [2049, 2051])
def test_a_row_too_few_or_too_many_fails_the_trial_without_a_rate_of_rows(after: int) -> None:
    part = read(f'{{"before": 50, "after": {after}}}')
    assert part.failure == f"The server has {after - 50:,} rows of the run, pgbench's transactions make 2,000."
    assert "append.rows_per_second" not in values(part)


def test_a_run_that_broke_off_says_why_whatever_was_counted() -> None:
    for rows in (None, '{"before": 0, "after": 2000}'):
        part = read(rows, exit_status=2)
        assert part.failure == "pgbench ended with exit status 2: pgbench: fatal: no"
        assert "append.rows_per_second" not in values(part)


def test_rows_that_were_not_counted_fail_the_trial() -> None:
    assert read(None).failure == "The server's rows were not counted after the run."


def test_a_damaged_count_is_told() -> None:
    with pytest.raises(ParseError, match="not a count of rows"):
        read('{"before": 0}')


def test_partitions_reach_past_the_longest_run() -> None:
    assert seconds_ahead(DEFAULTS, warmup_s=30, duration_s=300) == 30 + timed_limit_s(300) + MARGIN_S == 30 + 510 + 600


def test_more_partitions_than_a_server_can_bear_are_refused() -> None:
    with pytest.raises(VerifyError, match=r"parameters\.partition_s: .*partitions are more than the 10,000"):
        seconds_ahead({**DEFAULTS, "partition_s": 1}, warmup_s=0, duration_s=86400)


def test_a_transaction_has_as_many_inserts_as_rows_or_one() -> None:
    one_by_one = script({**DEFAULTS, "rows_per_transaction": 3}).splitlines()
    assert [line for line in one_by_one if line.startswith("INSERT")] == [one_by_one[-2]] * 3
    assert (one_by_one[2], one_by_one[-1]) == ("BEGIN;", "COMMIT;")
    together = script({**DEFAULTS, "inserts": "together"})
    assert together.count("INSERT") == 1 and "generate_series(1, :rows)" in together


@pytest.mark.parametrize(("name", "value"), [("rows_per_transaction", 0), ("partition_s", 0), ("index", "hash")])
def test_a_parameter_out_of_its_limits_is_refused(name: str, value: Scalar) -> None:
    parameter = next(parameter for parameter in SPEC.parameters if parameter.name == name)
    with pytest.raises(ValueError, match=str(value)):
        parameter.check(value)


async def test_a_server_without_indexes_on_partitioned_tables_is_refused_before_anything_is_made(
    tmp_path: Path,
) -> None:
    spec = TrialSpec(
        workload="append",
        parameters=DEFAULTS,
        topology="single",
        topology_parameters={},
        installation=InstallationRef("10.23", "/bin", "/bin", "10.23", 100023),
        agents={},
        settings={},
    )
    stage = Stage(spec, {}, {}, BundleWriter(tmp_path, "1/1", 1), "1")
    with pytest.raises(VerifyError, match=r"PostgreSQL 10\.23 cannot do this It came with version 11\."):
        await WORKLOAD.load(stage, "bench")
    other = replace(spec, installation=InstallationRef("11.0", "/bin", "/bin", "11.0", 110000), access_method="zheap")
    with pytest.raises(VerifyError, match="access_method: PostgreSQL 11 cannot do this"):
        await WORKLOAD.load(replace(stage, spec=other), "bench")


def test_every_parameter_and_metric_is_in_the_readme() -> None:
    text = (Path(append.__file__).parent / "README.md").read_text()
    names = [*(p.name for p in SPEC.parameters), *(m.name for m in SPEC.metrics)]
    assert [name for name in names if f"| `{name}` |" not in text] == []
