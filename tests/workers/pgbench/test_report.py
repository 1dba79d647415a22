"""Reports of a finished pgbench that are whole, however rare their lines."""

from __future__ import annotations

from pathlib import Path

import pytest

from results.domain.errors import ParseError
from results.domain.kinds.specs import Reading
from results.domain.measurement.parsed_trial import Part
from workers.pgbench.parse import run_part
from workers.pgbench.progress import read_progress
from workers.pgbench.report import read_report

RECORDED = Path(__file__).parents[2] / "data" / "pgbench" / "15" / "continued-set.stdout"
# 9.6 divides by the number of times that a command ran
NEVER_RAN = """\
transaction type: multiple scripts
scaling factor: 1
query mode: simple
number of clients: 1
number of threads: 1
duration: 2 s
number of transactions actually processed: 201
latency average = 0.221 ms
latency stddev = 0.362 ms
tps = 100.912125 (including connections establishing)
tps = 101.012125 (excluding connections establishing)
SQL script 1: slow.sql
 - weight: 1 (targets 0.1% of total)
 - 0 transactions (0.0% of total, tps = 0.000000)
 - latency average = -nan ms
 - latency stddev = -nan ms
 - statement latencies in milliseconds:
          -nan  SELECT pg_sleep(0.3);
SQL script 2: fast.sql
 - weight: 1000 (targets 99.9% of total)
 - 201 transactions (100.0% of total, tps = 100.912125)
 - latency average = 0.221 ms
 - latency stddev = 0.362 ms
 - statement latencies in milliseconds:
         0.062  SELECT 1;
"""
# 14 counts skipped transactions of a script as its transactions
ALL_SKIPPED = """\
pgbench (14.1)
transaction type: multiple scripts
scaling factor: 1
query mode: simple
number of clients: 1
number of threads: 1
duration: 2 s
number of transactions actually processed: 201
number of transactions skipped: 1 (0.495%)
number of transactions above the 1.0 ms latency limit: 7/201 (3.483%)
latency average = 0.221 ms
latency stddev = 0.362 ms
rate limit schedule lag: avg 0.159 (max 3.358) ms
initial connection time = 2.943 ms
tps = 100.912125 (without initial connection time)
SQL script 1: slow.sql
 - weight: 1 (targets 0.1% of total)
 - 1 transactions (0.5% of total, tps = 0.000000)
 - number of transactions skipped: 1 (100.000%)
SQL script 2: fast.sql
 - weight: 1000 (targets 99.9% of total)
 - 201 transactions (99.5% of total, tps = 100.912125)
 - number of transactions skipped: 0 (0.000%)
 - latency average = 0.221 ms
 - latency stddev = 0.362 ms
"""
# 9.5 divides by the number of transactions
NONE_FINISHED = """\
transaction type: Custom query
scaling factor: 1
query mode: simple
number of clients: 1
number of threads: 1
duration: 1 s
number of transactions actually processed: 0
latency average: inf ms
tps = 0.000000 (including connections establishing)
tps = 0.000000 (excluding connections establishing)
"""


def parsed(stdout: str, *scripts: str) -> Part:
    return run_part(Reading("client", {"stdout": stdout, "stderr": "", "exit": "0"}, {}, (0.0, 2.0)), scripts)


def latencies(part: Part) -> dict[str, float]:
    return {one.label: one.value for one in part.measurements if one.metric == "statement.latency"}


def as_before_15(report: str) -> str:
    """Without the column of failures, as 9.6 to 14 print it."""
    return report.replace("           0  ", "  ").replace(" and failures:", ":")


@pytest.mark.parametrize("report", [RECORDED.read_text(), as_before_15(RECORDED.read_text())])
def test_the_lines_of_a_continued_command_move_no_statement_after_it(report: str) -> None:
    assert latencies(parsed(report, "s.sql")) == {
        "0/1 \\set aid random(1, \\": 1,
        "0/2 \\set b 1 + \\": 0,
        "0/3 \\set c 5 \\": 0,
        "0/4 BEGIN;": 10,
        "0/5 SELECT": 54,
        "0/6 END;": 7,
    }


@pytest.mark.parametrize("above", ["\\set b 1", "BEGIN;", "SELECT 'a\\"])
def test_an_indented_line_below_a_whole_statement_is_named(above: str) -> None:
    report = RECORDED.read_text() + f"         0.007           0  {above}\n    more of it\n"
    with pytest.raises(ParseError) as refused:
        parsed(report, "s.sql")
    assert refused.value.text == "    more of it"


@pytest.mark.parametrize("nan", ["-nan  S", " nan  S"])
def test_a_statement_that_never_ran_has_no_latency(nan: str) -> None:
    part = parsed(NEVER_RAN.replace("-nan  S", nan), "slow", "fast")
    assert latencies(part) == {"1/1 SELECT 1;": 62}
    assert part.failure == ""


def test_a_statement_that_never_ran_may_follow_a_command_that_ends_with_a_backslash() -> None:
    report = NEVER_RAN.replace("          -nan  S", "          -nan  \\set c 5 \\\n          -nan  S")
    section = read_report(report).scripts[0]
    assert [(line.number, line.text) for line in section.statements] == [
        (1, "\\set c 5 \\"),
        (2, "SELECT pg_sleep(0.3);"),
    ]


def test_a_script_whose_transactions_were_all_skipped_has_no_latency_and_the_report_is_whole() -> None:
    part = parsed(ALL_SKIPPED, "slow", "fast")
    assert ("skipped", "slow", 1.0) in {(one.metric, one.label, one.value) for one in part.measurements}


def test_a_script_without_its_latency_is_a_report_that_was_cut_off() -> None:
    report = ALL_SKIPPED.replace(" - 1 transactions", " - 2 transactions")
    with pytest.raises(ParseError, match="lines of one are missing"):
        parsed(report, "slow", "fast")


def test_a_run_without_a_transaction_says_so_in_9_5_too() -> None:
    part = parsed(NONE_FINISHED, "script")
    assert part.failure == "No transaction was finished."
    assert "latency.mean" not in {one.metric for one in part.measurements}


@pytest.mark.parametrize("line", ["inf tps, lat 1.2 ms stddev 0.5", "9.0 tps, lat 1e306 ms stddev 0.5"])
def test_progress_without_end_is_named(line: str) -> None:
    with pytest.raises(ParseError, match="not a progress line"):
        read_progress(f"progress: 1.0 s, {line}\n")


def test_a_number_of_a_million_digits_is_refused_in_one_pass() -> None:
    with pytest.raises(ParseError, match="not a line of pgbench's report"):
        read_report(f"tps = {'1' * 1_000_000}x (without initial connection time)\n")
