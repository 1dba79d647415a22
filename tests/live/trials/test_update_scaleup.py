"""The update scale-up on real servers: every transaction is one update, on data that no trial has touched before."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from results import models
from tests.live.trials.afterwards import Afterwards
from tests.live.trials.conftest import value

Measure = Callable[..., models.Attempt]
ACCOUNTS = """
SELECT count(*) FILTER (WHERE filler <> '') AS changed,
       count(*) FILTER (WHERE filler <> '' AND filler !~ '^([0-9a-f]{32})\\1 *$') AS otherwise,
       (SELECT n_tup_upd FROM pg_stat_user_tables WHERE relname = 'pgbench_accounts') AS updates,
       (SELECT n_tup_hot_upd FROM pg_stat_user_tables WHERE relname = 'pgbench_accounts') AS hot
  FROM pgbench_accounts
"""


@pytest.mark.parametrize(("installation", "access_method", "trials"), [("16", "", 2), ("18", "heap2", 1)])
def test_each_trial_updates_fresh_data_as_often_as_it_says(
    measure: Measure,
    heap2: Callable[..., None],
    afterwards: Afterwards,
    installation: str,
    access_method: str,
    trials: int,
) -> None:
    if access_method:
        heap2(installation)
    for _ in range(trials):
        attempt = measure(
            workload="update_scaleup",
            installation=installation,
            access_method=access_method,
            duration_s=1,
            data="template",
            parameters={"clients": 2},
        )
        assert attempt.error is None
    [row] = afterwards.query(installation, ACCOUNTS)
    assert row["updates"] == value(attempt, "transactions")
    assert 0 < row["changed"] <= row["updates"]
    assert row["otherwise"] == 0
    assert row["hot"] / row["updates"] > 0.9  # a fill factor of 80 leaves room beside each row


def test_a_table_with_another_fill_factor_is_refused(measure: Measure, afterwards: Afterwards) -> None:
    plan = {"workload": "update_scaleup", "duration_s": 1, "data": "reuse", "parameters": {"fillfactor": 70}}
    first = measure(**plan)
    assert first.error is None
    with afterwards.spoiled(first, "16", "ALTER TABLE pgbench_accounts SET (fillfactor = 100);"):
        error = measure(**plan).error
    assert error is not None
    assert "update_scaleup.fillfactor on primary: expected 70, found 100" in error["why"]
