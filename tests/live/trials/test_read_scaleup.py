"""The read scale-up on real servers: what the server counted itself agrees with what pgbench did."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from results import models
from results.domain.measurement.query_plans import read_plan
from results.queries.runs.documents import document
from tests.live.trials.afterwards import Afterwards
from tests.live.trials.conftest import value

Measure = Callable[..., models.Attempt]
LEFT_OPEN = "BEGIN; UPDATE pgbench_accounts SET abalance = 1 WHERE aid = 7; PREPARE TRANSACTION 'left open';"


def read_from(afterwards: Afterwards, version: str, index: str) -> tuple[int, int]:
    """Entries read from an index since its making, and rows fetched for them from the table. Of entries there are some
    more than queries ask for: a planner looks at the ends of the index to estimate what lies near them."""
    columns = "idx_tup_read AS read, idx_tup_fetch AS fetched"
    sql = f"SELECT {columns} FROM pg_stat_user_indexes WHERE indexrelname = '{index}'"
    [row] = afterwards.query(version, sql)
    return row["read"], row["fetched"]


@pytest.mark.parametrize(("installation", "protocol"), [("16", "simple"), ("18", "prepared")])
def test_a_transaction_reads_one_row_more_than_row_count(
    measure: Measure, afterwards: Afterwards, installation: str, protocol: str
) -> None:
    parameters = {"row_count": 100, "clients": 2, "protocol": protocol}
    attempt = measure(
        workload="read_scaleup", installation=installation, duration_s=1, data="fresh", parameters=parameters
    )
    assert attempt.error is None
    _, fetched = read_from(afterwards, installation, "pgbench_accounts_pkey")
    by_the_check = 6 if protocol == "prepared" else 0
    assert fetched == (value(attempt, "transactions") + by_the_check) * 101
    plan = read_plan(document(attempt.pk, "plan", "count").content)
    assert plan.lines[-1].title == "Index Scan using pgbench_accounts_pkey on pgbench_accounts"


@pytest.mark.parametrize(("installation", "access_method"), [("16", ""), ("18", "heap2")])
def test_index_only_never_visits_the_table(
    measure: Measure,
    heap2: Callable[..., None],
    afterwards: Afterwards,
    installation: str,
    access_method: str,
) -> None:
    if access_method:
        heap2(installation)
    attempt = measure(
        workload="read_scaleup",
        installation=installation,
        access_method=access_method,
        duration_s=1,
        data="template",
        parameters={"variant": "index-only", "row_count": 100},
    )
    assert attempt.error is None
    read, fetched = read_from(afterwards, installation, "pgbench_accounts_aid_abalance")
    assert read // value(attempt, "transactions") == 101
    assert fetched == 0


def test_select_only_reads_one_row(measure: Measure, afterwards: Afterwards) -> None:
    attempt = measure(workload="read_scaleup", duration_s=1, data="fresh", parameters={"variant": "select-only"})
    assert attempt.error is None
    _, fetched = read_from(afterwards, "16", "pgbench_accounts_pkey")
    assert fetched == value(attempt, "transactions")
    assert value(attempt, "latency.p50") <= value(attempt, "latency.p99")


def test_index_only_with_a_page_that_vacuum_could_not_set_is_refused(measure: Measure, afterwards: Afterwards) -> None:
    settings = {"max_prepared_transactions": "2"}
    parameters = {"variant": "index-only", "row_count": 100}
    plan = {"workload": "read_scaleup", "duration_s": 1, "data": "reuse", "settings": settings}
    first = measure(**plan, parameters=parameters)
    assert first.error is None
    with afterwards.spoiled(first, "16", LEFT_OPEN, mend="ROLLBACK PREPARED 'left open';", **settings):
        error = measure(**plan, parameters=parameters).error
    assert error is not None
    assert error["phase"] == "verify"
    assert "read_scaleup.all_visible on primary: expected all of 1640 pages, found 1638 of 1640 pages" in error["why"]


def test_index_only_with_another_plan_is_refused(measure: Measure) -> None:
    attempt = measure(
        workload="read_scaleup",
        settings={"enable_indexonlyscan": "off"},
        parameters={"variant": "index-only", "row_count": 100},
    )
    assert attempt.error is not None
    assert "found Index Scan using pgbench_accounts_" in attempt.error["why"]
    assert attempt.measured_from is None


def test_a_range_longer_than_the_table_is_refused_before_it_is_loaded(measure: Measure) -> None:
    attempt = measure(workload="read_scaleup", data="fresh", parameters={"row_count": 100_000})
    assert attempt.error is not None
    assert (attempt.error["where"], attempt.error["phase"]) == ("parameters.row_count", "load")
