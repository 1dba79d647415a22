"""pgbench's output of every version, read back."""

from __future__ import annotations

from pathlib import Path

import pytest

from results.domain.errors import ParseError
from results.domain.kinds.specs import Reading
from results.domain.measurement.parsed_trial import Part
from workers.workloads.pgbench.parse import parse
from workers.workloads.pgbench.spec import SPEC

DATA = Path(__file__).parents[2] / "data" / "pgbench"
VERSIONS = ("12beta1", "15", "16", "18")
DEFAULTS = {parameter.name: parameter.default for parameter in SPEC.parameters}
CASES: dict[str, dict[str, str | int | bool]] = {
    "tpcb-progress-per-statement": {"script": "tpcb-like"},
    "two-scripts": {"script": "select-only@9, simple-update@1"},
    "select-only-prepared": {"script": "select-only"},
    "rate-and-latency-limit": {"script": "select-only", "rate": 500},
    "reconnect": {"script": "select-only", "connect": True},
    "serialization-failures": {"script": "custom"},
    "transactions": {"script": "tpcb-like", "transactions": 100},
    "aborted-by-terminate": {"script": "select-only"},
    "syntax-error": {"script": "custom"},
}


def parsed(files: dict[str, str], **parameters: str | int | bool) -> Part:
    return parse(Reading("client", files, {**DEFAULTS, **parameters}, (0.0, 3.0)))


def recorded(version: str, case: str) -> Part:
    folder = DATA / version
    status = (folder / f"{case}.command").read_text().split("exit status ")[1]
    files = {name: (folder / f"{case}.{name}").read_text() for name in ("stdout", "stderr")}
    return parsed({**files, "exit": status}, **CASES.get(case, {}))


def value(part: Part, metric: str, label: str = "") -> float:
    values = [m.value for m in part.measurements if (m.metric, m.label) == (metric, label)]
    assert len(values) == 1, f"{metric} {label!r}: {values}"
    return values[0]


def names(part: Part) -> set[str]:
    return {measurement.metric for measurement in part.measurements}


@pytest.mark.parametrize("version", VERSIONS)
@pytest.mark.parametrize("case", CASES)
def test_every_recorded_output_is_read_into_declared_metrics(version: str, case: str) -> None:
    part = recorded(version, case)
    assert names(part) <= {metric.name for metric in SPEC.metrics}
    keys = [(m.metric, m.node, m.label) for m in part.measurements]
    assert len(keys) == len(set(keys))


def test_version_18_prints_tps_without_initial_connection_time() -> None:
    part = recorded("18", "tpcb-progress-per-statement")
    assert value(part, "tps") == 4251.032927
    assert value(part, "transactions") == 12754
    assert value(part, "latency.mean") == 938
    assert value(part, "latency.sd") == 383
    assert value(part, "connection.time") == 4699
    assert value(part, "failed") == 0
    assert part.failure == ""


def test_tps_including_connecting_is_computed_where_it_is_no_longer_printed() -> None:
    part = recorded("18", "tpcb-progress-per-statement")
    elapsed_s = 12754 / 4251.032927 + 0.004699
    assert value(part, "tps.including") == pytest.approx(12754 / elapsed_s)


def test_version_12_prints_tps_including_and_excluding() -> None:
    part = recorded("12beta1", "tpcb-progress-per-statement")
    assert value(part, "tps") == 4730.209405
    assert value(part, "tps.including") == 4727.998131
    assert "failed" not in names(part)


@pytest.mark.parametrize(("version", "tps"), [("12beta1", 750.277462), ("16", 664.333010)])
def test_reconnecting_counts_the_time_of_connecting_in_every_version(version: str, tps: float) -> None:
    part = recorded(version, "reconnect")
    assert value(part, "tps") == value(part, "tps.including") == tps


def test_mean_connection_time_comes_from_reconnecting() -> None:
    assert value(recorded("16", "reconnect"), "connection.mean") == 1387


def test_statements_are_numbered_within_their_script() -> None:
    part = recorded("12beta1", "tpcb-progress-per-statement")
    assert value(part, "statement.latency", "0/5 BEGIN;") == 29
    assert value(part, "statement.latency", "0/11 END;") == 235


def test_failures_and_retries_of_a_statement_are_read() -> None:
    part = recorded("18", "retries")
    label = "0/4 UPDATE pgbench_accounts SET abalance=abalance+1 WHERE aid=:a;"
    assert value(part, "statement.failed", label) == 282
    assert value(part, "statement.retries", label) == 12835
    assert (value(part, "failed"), value(part, "failed", "serialization")) == (282, 282)
    assert (value(part, "retried"), value(part, "retries")) == (3885, 12822)


@pytest.mark.parametrize(("version", "tps"), [("12beta1", 23436.942929), ("18", 23515.661992)])
def test_each_script_of_a_mixture_has_its_own_numbers(version: str, tps: float) -> None:
    part = recorded(version, "two-scripts")
    assert value(part, "tps", "select-only") == tps
    assert value(part, "latency.mean", "simple-update") in (677, 673)
    assert any(m.label.startswith("1/9 END") for m in part.measurements)


def test_progress_becomes_series_by_the_second() -> None:
    series = {one.name: one for one in recorded("18", "tpcb-progress-per-statement").series}
    assert series["tps"].values == (4142.6, 4201.2, 4400.8)
    assert series["tps"].times() == [1.0, 2.0, 3.0]
    assert series["latency.mean"].values == pytest.approx((958, 950, 906))
    assert series["latency.sd"].unit == "us"
    assert series["failed"].values == (0, 0, 0)


def test_failed_transactions_are_rates_by_the_second() -> None:
    failed = next(one for one in recorded("16", "serialization-failures").series if one.name == "failed")
    assert failed.values == (6140, 6225)


def test_version_12_has_no_series_of_failures() -> None:
    assert {one.name for one in recorded("12beta1", "tpcb-progress-per-statement").series} == {
        "tps",
        "latency.mean",
        "latency.sd",
    }


@pytest.mark.parametrize("version", VERSIONS)
def test_an_aborted_run_is_a_failure_that_keeps_its_numbers(version: str) -> None:
    part = recorded(version, "aborted-by-terminate")
    assert "exit status 2" in part.failure
    assert "aborted in command 1" in part.failure
    assert value(part, "transactions") > 40000
    assert len(part.series[0].values) == 1


@pytest.mark.parametrize("version", VERSIONS)
def test_a_syntax_error_is_shown_in_the_servers_words(version: str) -> None:
    part = recorded(version, "syntax-error")
    assert 'syntax error at or near "SELEC"\nLINE 1: SELEC 1;' in part.failure


def test_clients_that_gave_up_make_a_failure_whatever_the_exit_status() -> None:
    stderr = "Client 3 aborted in state 5: ERROR:  out of memory\n"
    part = parsed({"stdout": MANUAL_9_5, "stderr": stderr, "exit": "0"})
    assert "out of memory" in part.failure


def test_a_run_past_its_deadline_says_so() -> None:
    part = parsed({"stdout": "", "stderr": "progress: 1.0 s, 5.0 tps, lat 1", "exit": "124", "timed_out": "yes"})
    assert "deadline" in part.failure
    assert part.series == ()


def test_a_refused_connection_is_shown() -> None:
    stderr = (
        'pgbench: error: connection to server at "127.0.0.1", port 5999 failed: Connection refused\n'
        "\tIs the server running on that host and accepting TCP/IP connections?\n"
        "pgbench: error: could not create connection for setup\n"
    )
    part = parsed({"stdout": "", "stderr": stderr, "exit": "1"})
    assert "Connection refused" in part.failure
    assert "Is the server running" in part.failure


# From the manual of 9.5, with the latency lines of its source (a colon instead of ' =').
MANUAL_9_5 = """\
transaction type: TPC-B (sort of)
scaling factor: 10
query mode: simple
number of clients: 10
number of threads: 1
number of transactions per client: 1000
number of transactions actually processed: 10000/10000
latency average: 117.394 ms
latency stddev: 14.100 ms
tps = 85.184871 (including connections establishing)
tps = 85.296346 (excluding connections establishing)
statement latencies in milliseconds:
\t0.004386\t\\set nbranches 1 * :scale
\t0.370646\tBEGIN;
\t85.296346\tEND;
"""
# From the manuals of 10 and 14.
MANUAL_10 = """\
starting vacuum...end.
transaction type: <builtin: TPC-B (sort of)>
scaling factor: 1
query mode: simple
number of clients: 10
number of threads: 1
number of transactions per client: 1000
number of transactions actually processed: 10000/10000
latency average = 15.844 ms
latency stddev = 2.715 ms
tps = 618.764555 (including connections establishing)
tps = 622.977698 (excluding connections establishing)
script statistics:
 - statement latencies in milliseconds:
        0.002  \\set aid random(1, 100000 * :scale)
        0.326  BEGIN;
"""
MANUAL_14 = """\
pgbench (14.1)
transaction type: <builtin: TPC-B (sort of)>
scaling factor: 10
query mode: simple
number of clients: 10
number of threads: 1
number of transactions per client: 1000
number of transactions actually processed: 10000/10000
latency average = 11.013 ms
latency stddev = 7.351 ms
initial connection time = 45.758 ms
tps = 896.967014 (without initial connection time)
"""


@pytest.mark.parametrize(
    ("text", "tps", "latency_us", "sd_us"),
    [
        (MANUAL_9_5, 85.296346, 117394, 14100),
        (MANUAL_10, 622.977698, 15844, 2715),
        (MANUAL_14, 896.967014, 11013, 7351),
    ],
)
def test_versions_that_were_not_recorded_are_read_from_their_manuals(
    text: str, tps: float, latency_us: float, sd_us: float
) -> None:
    part = parsed({"stdout": text, "stderr": "", "exit": "0"})
    assert value(part, "tps") == tps
    assert value(part, "latency.mean") == pytest.approx(latency_us)
    assert value(part, "latency.sd") == pytest.approx(sd_us)
    assert value(part, "transactions") == 10000


def test_old_statement_lines_are_read() -> None:
    part = parsed({"stdout": MANUAL_9_5, "stderr": "", "exit": "0"})
    assert value(part, "statement.latency", "0/2 BEGIN;") == pytest.approx(370.646)
    part = parsed({"stdout": MANUAL_10, "stderr": "", "exit": "0"})
    assert value(part, "statement.latency", "0/2 BEGIN;") == 326


def test_all_counts_of_a_throttled_and_retried_second_are_read() -> None:
    line = "progress: 5.0 s, 10.0 tps, lat 0.5 ms stddev 0.1, 3 failed, lag 0.08 ms, 0 skipped, 2 retried, 4 retries\n"
    part = parsed({"stdout": MANUAL_14, "stderr": line, "exit": "0"})
    failed = next(one for one in part.series if one.name == "failed")
    assert list(failed.values) == [pytest.approx(3 / 5)]


def test_a_second_without_transactions_is_a_gap_in_latency() -> None:
    line = "progress: 1.0 s, 0.0 tps, lat -nan ms stddev -nan, 0 failed\n"
    series = {one.name: one for one in parsed({"stdout": MANUAL_14, "stderr": line, "exit": "0"}).series}
    assert series["tps"].within(0, 2) == [0.0]
    assert series["latency.mean"].within(0, 2) == []


@pytest.mark.parametrize(
    ("files", "where"),
    [
        ({"stdout": MANUAL_14.replace("896.967014", "lots"), "stderr": "", "exit": "0"}, "stdout:12"),
        ({"stdout": "", "stderr": "", "exit": "never"}, "exit:1"),
        ({"stdout": MANUAL_14, "stderr": "progress: soon\n", "exit": "0"}, "stderr:1"),
        ({"stdout": MANUAL_14[: MANUAL_14.index("tps")], "stderr": "", "exit": "0"}, "stdout"),
    ],
)
def test_damaged_text_is_refused_with_file_and_line(files: dict[str, str], where: str) -> None:
    with pytest.raises(ParseError) as caught:
        parsed(files)
    assert caught.value.where == where


def test_a_run_without_any_transaction_is_a_failure() -> None:
    text = "number of transactions actually processed: 0\nnumber of failed transactions: 0 (NaN%)\n"
    assert "No transaction" in parsed({"stdout": text, "stderr": "", "exit": "0"}).failure


@pytest.mark.parametrize(
    "words",
    [
        'connection to database "bench" failed:\nFATAL:  sorry, too many clients already\n',
        'pgbench: error: connection to server on socket "/s" failed: FATAL:  sorry, too many clients already\n',
        "pgbench: error: could not connect: out of memory\n",
    ],
)
def test_clients_that_never_connected_fail_a_run_that_ends_well(words: str) -> None:
    """Up to 13 the other threads go on, the report counts all clients, and the exit status is 0."""
    folder = DATA / "12beta1"
    files = {name: (folder / f"select-only-prepared.{name}").read_text() for name in ("stdout", "stderr")}
    assert parsed({**files, "exit": "0"}).failure == ""
    failure = parsed({**files, "stderr": words + files["stderr"], "exit": "0"}).failure
    assert failure.startswith("Not all clients ran: ")
    assert words.splitlines()[0] in failure
