"""Bulk loads on real servers: what they leave, what they write, and how they fail."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

import pytest

from results import models
from tests.live.trials.afterwards import Afterwards
from tests.live.trials.conftest import value
from tests.live.trials.killing import on_agent, servers_killed_at
from workers.remote.address import Address

Measure = Callable[..., models.Attempt]
TABLES = ("customer", "item", "orders", "order_line")
QUIET = {"autovacuum": "off"}  # which may give pages back, or not, while the load still runs
MINIMAL = QUIET | {"wal_level": "minimal", "max_wal_senders": "0", "wal_skip_threshold": "0"}


@pytest.fixture
def load(measure: Measure) -> Measure:
    """Runs a small bulk load with these parameters and changes of its plan."""

    def one(parameters: dict[str, Any] | None = None, **changes: Any) -> models.Attempt:
        own = {"size_mb": 1, **(parameters or {})}
        plan = {"workload": "bulk_load", "collectors": [], "data": "fresh", "settings": QUIET, "parameters": own}
        return measure(**plan | changes)

    return one


@pytest.mark.parametrize("version", ["16", "18"])
def test_a_load_is_what_the_server_says_afterwards(load: Measure, afterwards: Afterwards, version: str) -> None:
    attempt = load({"jobs": 2}, installation=version)
    assert attempt.error is None
    for table in TABLES:
        [left] = afterwards.query(
            version,
            f"SELECT count(*) AS rows, pg_table_size('{table}') AS bytes, pg_indexes_size('{table}') AS indexes,"
            f" (SELECT n_live_tup FROM pg_stat_user_tables WHERE relname = '{table}') AS live FROM {table}",
        )
        assert left["rows"] == value(attempt, "bulk.rows", label=table) == left["live"]
        assert left["bytes"] == value(attempt, "bulk.table_bytes", label=table)
        assert left["indexes"] == value(attempt, "bulk.index_bytes", label=table)


def test_another_access_method_is_loaded_with_the_same_rows_and_sizes(
    load: Measure, afterwards: Afterwards, heap2: Callable[[str], None]
) -> None:
    heap2("16")
    heap, other = load(), load(access_method="heap2")
    assert (heap.error, other.error) == (None, None)
    am = afterwards.query(
        "16", "SELECT DISTINCT amname FROM pg_class JOIN pg_am a ON a.oid = relam WHERE relname = ANY('{item,orders}')"
    )
    assert am == [{"amname": "heap2"}]
    for metric in ("bulk.rows", "bulk.file_bytes", "bulk.table_bytes", "bulk.index_bytes"):
        for label in ("", *TABLES):
            assert value(heap, metric, label=label) == value(other, metric, label=label), (metric, label)


@pytest.mark.parametrize("version", ["16", "18"])
def test_wal_skipping_writes_less_wal_for_the_same_rows(load: Measure, version: str) -> None:
    logged = load({"size_mb": 5}, installation=version)
    skipped = load({"size_mb": 5, "jobs": 2, "wal_skipping": True}, installation=version, settings=MINIMAL)
    assert (logged.error, skipped.error) == (None, None)
    assert value(logged, "bulk.rows") == value(skipped, "bulk.rows")
    assert value(logged, "bulk.table_bytes") == value(skipped, "bulk.table_bytes")
    assert value(skipped, "bulk.wal", label="copy") < 0.05 * value(logged, "bulk.wal", label="copy")
    assert value(logged, "bulk.wal", label="copy") > value(logged, "bulk.file_bytes")
    assert value(logged, "bulk.wal", label="copy: orders") > value(logged, "bulk.file_bytes", label="orders")
    assert not skipped.measurements.filter(metric_id="bulk.wal", label="copy: orders").exists()


def test_wal_skipping_on_a_server_that_writes_all_wal_is_refused_before_the_clock(load: Measure) -> None:
    attempt = load({"wal_skipping": True})
    assert attempt.error is not None
    assert (attempt.error["kind"], attempt.error["phase"]) == ("verify", "load")
    assert "wal_level is replica" in attempt.error["why"]
    assert "max_wal_senders = 0" in attempt.error["todo"]
    assert attempt.measured_from is None


def test_steps_add_up_and_rates_follow_from_rows_and_seconds(load: Measure) -> None:
    attempt = load({"jobs": 3})
    steps = ("copy", "primary keys", "foreign keys", "vacuum", "analyze")
    parts = [value(attempt, "bulk.seconds", label=step) for step in steps]
    assert 0 < sum(parts) <= value(attempt, "bulk.seconds")
    assert value(attempt, "bulk.rows") == 17_400
    assert value(attempt, "bulk.rows_per_s", label="copy") * parts[0] == pytest.approx(17_400)
    assert value(attempt, "bulk.bytes_per_s", label="copy") * parts[0] == pytest.approx(
        value(attempt, "bulk.file_bytes")
    )
    assert [event["text"] for event in attempt.events if event["kind"] == "step"] == list(steps)


def test_a_database_used_again_is_loaded_anew(load: Measure) -> None:
    first, second = load(data="reuse"), load(data="reuse")
    assert (first.error, second.error) == (None, None)
    assert second.notes["data"]["how"] == "reused"
    assert value(second, "bulk.rows") == 17_400


def test_a_missing_row_fails_the_trial(load: Measure, address: Address) -> None:
    on_agent(address, "rm -rf -- $1/bulk_load/1mb-77-*", address.data_dir)
    assert load({"seed": 77}).error is None
    on_agent(address, "sed -i '$d' $1/bulk_load/1mb-77-*/order_line.5", address.data_dir)
    attempt = load({"seed": 77})
    assert attempt.error is not None
    assert attempt.error["where"] == "measure"
    assert "order_line has 11999 rows and COPY counted 11999, not 12000" in attempt.error["why"]
    assert not attempt.measurements.filter(metric__name__startswith="bulk.").exists()


def test_a_server_killed_in_mid_copy_fails_the_trial_in_its_own_words(load: Measure, address: Address) -> None:
    with servers_killed_at(address, "begin|copy|order_line", "load/stdout"):
        attempt = load({"size_mb": 60})
    assert attempt.error is not None
    assert attempt.error["where"] == "measure"
    assert "The load ended with exit status" in attempt.error["why"]
    # a backend that is busy may end its COPY before it sees that its postmaster is gone
    assert re.search("(in|after) copy of order_line", attempt.error["why"])
    assert "workload/stdout" in {file["path"] for file in attempt.files}
    assert not attempt.measurements.filter(metric__name__startswith="bulk.").exists()
    assert load().error is None
