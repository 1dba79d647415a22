"""What arbitrary files found, each as a plain example: a number read wrongly, or a parser that broke."""

from __future__ import annotations

import json
from dataclasses import replace

import pytest

from results.domain.errors import ParseError
from results.domain.kinds.specs import Reading
from results.domain.measurement import query_plans
from tests.fuzz.corpus import CASES, pgbench_reading, pgbench_reports
from workers.bundle.server_messages import with_server_message
from workers.workloads.capabilities import query_plan
from workers.workloads.pgbench.parse import parse as parse_pgbench


def refused(stdout: str, name: str = "") -> ParseError:
    with pytest.raises(ParseError) as raised:
        parse_pgbench(pgbench_reading(stdout, name=name))
    return raised.value


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("actually processed: 10000/10000", "actually processed: 1,5"),  # was read as 1
        ("actually processed: 10000/10000", "actually processed: 1.2.3"),  # broke
        ("actually processed: 10000/10000", "actually processed: 0x1F"),  # was read as 0
        ("average = 11.013 ms", "average = 1e309 ms"),
        ("stddev = 7.351 ms", "stddev = 7.351 ms\nlatency stddev = 8.000 ms"),  # the last one won
    ],
)
def test_a_number_that_is_spelled_otherwise_is_refused_with_its_line(old: str, new: str) -> None:
    report = pgbench_reports()["14"]
    assert old in report
    assert refused(report.replace(old, new)).line


@pytest.mark.parametrize("line", ["number of failed transactions: 1,5 (0.0%)", "number of transactions skipped: 2,5"])
def test_a_count_of_another_locale_is_refused(line: str) -> None:
    assert refused(f"{line}\n{pgbench_reports()['14']}").text == line


def test_of_an_old_report_the_rate_with_connecting_is_not_taken_for_the_one_without() -> None:
    """Up to 13 a report that ended between its two rates gave the first of them as the second."""
    report = pgbench_reports()["10"]
    error = refused(report[: report.index("tps = 622")])
    assert "the report was cut off: there is no line of tps without the time of connecting" in error.what


@pytest.mark.parametrize("until", ["SQL script 1", "SQL script 2", " - statement latencies"])
def test_a_mixture_whose_last_scripts_are_missing_is_named(until: str) -> None:
    report = pgbench_reports()["18-two-scripts"]
    assert "the report was cut off" in refused(report[: report.rindex(until)], "two-scripts").what


def test_a_script_of_a_mixture_that_never_ran_has_no_latency_and_the_report_is_whole() -> None:
    report = pgbench_reports()["18-two-scripts"]
    head, second = report[: report.rindex("SQL script 2")], report[report.rindex("SQL script 2") :]
    idle = second.replace("7884 ", "0 ").replace("2628.893824", "0.000000")
    idle = "".join(line for line in idle.splitlines(keepends=True) if "latency average" not in line)
    part = parse_pgbench(pgbench_reading(head + idle, name="two-scripts"))
    assert ("transactions", "simple-update", 0.0) in {(m.metric, m.label, m.value) for m in part.measurements}


def test_a_report_that_ends_within_a_statement_is_named() -> None:
    report = pgbench_reports()["18-tpcb-progress-per-statement"]
    assert "its last line has no end" in refused(report[:-2]).what


def test_a_statement_that_cannot_be_read_does_not_shift_the_numbers_of_those_after_it() -> None:
    report = pgbench_reports()["10"]
    assert "0.002  \\set aid" in refused(report.replace("0.002  \\set", "0,002  \\set") + "").text.replace(",", ".")


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("latency_log-recorded-folded.txt", "origin 1e309\nlatency 0 1 1\n"),
        ("latency_log-recorded-folded.txt", "origin nan\nlatency 0 1 1\n"),
        ("perf-recorded-recorded.txt", f"event x\ngraph fp\nfrequency {'9' * 5000}\nbegan 1\nover 2\n"),
        ("perf-recorded-stacks.txt", f"{'9' * 5000} a;b\nlost 0\n"),
        ("pg_stat-18-samples.txt", '{"at": 1, "xact_commit": [], "active": 1}\n'),
        ("pg_stat-18-server.log", "2026-13-45 99:00:00.000 UTC [1] ERROR:  x\n"),
        ("pg_stat-18-sizes.json", "[" * 10_000),
        ("sar-recorded-sadf.json", '{"sysstat": ' * 10_000),
        ("replication-primary-caught_up.json", '{"asked_at": 1, "caught_up": {"a": 1e309}}'),
        ("pgpool-recorded-servers.json", "7"),
        ("pgpool-recorded-after/cache.txt", "num_cache_hits|x\n"),
        ("ssb-recorded-clients/1.stdout", f"== {'9' * 5000} q1.1\n"),
        ("tpcc-recorded-stdout", "tps = 5 (without initial connection time)\n"),
        ("bulk_load-by-parts-check/stdout", "{}"),
        ("bulk_load-by-parts-files.json", '{"customer": {"bytes": null}}'),
        ("access_method-recorded-steps.json", f'[{{"step": "x", "kind": {"[" * 5000}'),
        ("ledger-recorded-folded.txt", f"client 1 1 {'9' * 400}\n"),
        ("ledger-recorded-folded.txt", "run 1 nan 5\n"),
    ],
)
def test_a_file_that_broke_its_parser_is_named(name: str, text: str) -> None:
    one = next(item for item in CASES if item.kind == name.split("-")[0] and name.endswith(item.file))
    reading: Reading = replace(one.reading, files={**one.reading.files, one.file: text})
    with pytest.raises(ParseError) as raised:
        one.parse(reading)
    assert raised.value.what


def test_a_time_that_there_is_not_does_not_hide_a_failure() -> None:
    error = {"kind": "trial", "what": "It broke."}
    log = b"2026-99-99 00:00:00 UTC [1] FATAL:  no\n2026-01-01 00:00:00 UTC [1] FATAL:  yes\n"
    told = with_server_message(error, (), {"server/primary.log": log}, {"primary": 0.0})
    assert told["server_log"] == "FATAL:  yes"


@pytest.mark.parametrize("text", ["", "[]", '[{"Plan": 5}]', '[{"Plan": {"Plans": [{}]}}]', json.dumps([{"Plan": {}}])])
def test_what_is_no_plan_is_named(text: str) -> None:
    with pytest.raises(ParseError, match="not the plan of a query"):
        query_plan.nodes(text)


@pytest.mark.parametrize(
    "content",
    [
        {"Plan": {}, "JIT": {"Timing": {"Generation": {"Deform": 1.0}}}},
        {"Plan": {}, "JIT": {"Timing": {"Emission": "x"}}},
        {"Plan": {}, "JIT": {"Functions": None}},
        {"Plan": {"Plans": [5]}},
        {"Plan": {"Workers Planned": "two"}},
    ],
)
def test_a_plan_with_other_things_in_it_is_named(content: object) -> None:
    with pytest.raises(ParseError, match="no plan of a query"):
        query_plans.workers([content])
