"""Appending on real servers: every row that pgbench sent is in the table, or the trial fails."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from results import models
from tests.live.trials.afterwards import Afterwards
from tests.live.trials.conftest import value
from tests.live.trials.killing import AT_WORK, servers_killed_at
from workers.remote.address import Address
from workers.workloads.append import execute, partitions

Measure = Callable[..., models.Attempt]
BY_NUMBER = (
    "SELECT number, count(*) AS rows, count(DISTINCT at) AS times FROM append_rows GROUP BY number ORDER BY number"
)
PARTITIONS = """
SELECT count(DISTINCT tableoid) AS used,
       (SELECT string_agg(DISTINCT amname, ',') FROM pg_inherits JOIN pg_class ON pg_class.oid = inhrelid
         JOIN pg_am ON pg_am.oid = relam WHERE relkind = 'r') AS access_methods
  FROM append_rows
"""
# loses the third row of each transaction, as a careless trigger does
CARELESS = """
CREATE FUNCTION careless() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN IF NEW.number = 3 THEN RETURN NULL; END IF;
RETURN NEW; END';
CREATE TRIGGER careless BEFORE INSERT ON append_rows FOR EACH ROW EXECUTE FUNCTION careless();
"""


@pytest.mark.parametrize(
    ("installation", "access_method", "inserts"),
    [("16", "", "one-by-one"), ("18", "heap2", "together")],
)
def test_every_row_of_every_transaction_is_in_the_table(
    measure: Measure,
    heap2: Callable[..., None],
    afterwards: Afterwards,
    monkeypatch: pytest.MonkeyPatch,
    installation: str,
    access_method: str,
    inserts: str,
) -> None:
    if access_method:
        heap2(installation)
    monkeypatch.setattr(partitions, "MARGIN_S", 90)  # each second is a partition here
    attempt = measure(
        workload="append",
        installation=installation,
        access_method=access_method,
        data="template",
        parameters={"clients": 2, "inserts": inserts, "partition_s": 1},
    )
    assert attempt.error is None
    transactions = value(attempt, "transactions")
    rows = afterwards.query(installation, BY_NUMBER)
    assert [(row["number"], row["rows"]) for row in rows] == [(n, transactions) for n in range(1, 11)]
    assert value(attempt, "append.rows") == 10 * transactions
    assert value(attempt, "append.rows_per_second") == pytest.approx(10 * value(attempt, "tps"))
    [spread] = afterwards.query(installation, PARTITIONS)
    assert spread["used"] >= 2
    assert spread["access_methods"] == (access_method or "heap")


def test_rows_of_the_warm_up_are_not_counted(measure: Measure) -> None:
    attempt = measure(workload="append", duration_s=1, warmup_s=1, data="reuse", parameters={"index": "time"})
    assert attempt.error is None
    assert value(attempt, "append.rows") == 10 * value(attempt, "transactions")
    # the count is in no number of the run: nothing is watched any more
    assert [phase["name"] for phase in attempt.phases][-3:] == ["collect", "audit", "clean"]


def test_a_lost_row_fails_the_trial(measure: Measure, afterwards: Afterwards) -> None:
    plan = {"workload": "append", "duration_s": 1, "data": "reuse", "parameters": {"index": "none"}}
    first = measure(**plan)
    assert first.error is None
    with afterwards.spoiled(first, "16", CARELESS):
        attempt = measure(**plan)
    transactions = int(value(attempt, "transactions"))
    assert attempt.error is not None
    assert attempt.error["why"] == (
        f"The server has {transactions * 9:,} rows of the run, pgbench's transactions make {transactions * 10:,}."
    )
    assert attempt.trial.attempt_id is None
    assert not attempt.measurements.filter(metric_id="append.rows_per_second").exists()


def test_a_row_without_a_partition_fails_the_trial(measure: Measure, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(execute, "seconds_ahead", lambda *_: 2)
    monkeypatch.setattr(execute, "timed_limit_s", lambda *_: -3600.0)  # they may even have ended when it is verified
    attempt = measure(workload="append", duration_s=4, data="fresh", parameters={"partition_s": 1})
    assert attempt.error is not None
    assert 'no partition of relation "append_rows" found for row' in attempt.error["why"]
    assert not attempt.measurements.filter(metric_id="append.rows_per_second").exists()


def test_partitions_that_end_too_early_are_refused_before_the_clock(
    measure: Measure, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(execute, "seconds_ahead", lambda *_: 2)
    attempt = measure(workload="append", data="fresh")
    assert attempt.error is not None
    assert "append.partitions on primary: expected at least 63 s ahead" in attempt.error["why"]


def test_a_server_killed_in_mid_run_leaves_no_rate_of_rows(measure: Measure, address: Address, bundles: Path) -> None:
    parameters = {"clients": 2, "background": "checkpoint", "background_at_s": 50}
    with servers_killed_at(address, *AT_WORK):
        attempt = measure(workload="append", duration_s=60, data="fresh", parameters=parameters)
    assert attempt.error is not None
    gone, pgbench = attempt.error["why"].splitlines()[:2]
    assert gone.startswith("The server primary on agent live had ended, and not by Teiten.")
    assert pgbench.startswith(("pgbench ended with exit status", "Clients gave up"))
    assert "the rows could not be counted" in next(g["reason"] for g in attempt.gaps if g["source"] == "append")
    assert not attempt.measurements.filter(metric__name__startswith="append.").exists()
    assert attempt.trial.attempt_id is None
