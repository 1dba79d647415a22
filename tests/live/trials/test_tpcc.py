"""Whole trials of the TPC-C-like workload on real servers: numbers against the data, isolation, violations, a crash."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Sequence
from math import sqrt
from pathlib import Path
from typing import Any

import pytest

from results import models
from results.domain.states import TrialState
from tests.live.trials.afterwards import Afterwards
from tests.live.trials.conftest import value
from tests.live.trials.killing import AT_WORK, servers_killed_at
from workers.bundle import reader
from workers.interfaces import Stage
from workers.pgbench import run
from workers.remote.address import Address
from workers.workloads.tpcc.nurand import constants
from workers.workloads.tpcc.spec import MIX

Tpcc = Callable[..., models.Attempt]
SMALL = {
    "warehouses": 2,
    "customers_per_district": 30,
    "items": 200,
    "clients": 3,
    "transactions": 400,
    "home": "random",
}
FROM_DATA = ["nopm", "tpm", "new_orders", "rolled_back"]
CONDITIONS = [f"tpcc.condition {number}" for number in (1, 2, 3, 4)]


@pytest.fixture
def tpcc(measure: Tpcc) -> Tpcc:
    """Runs one small trial on fresh data; `parameters` are merged."""

    def one(**changes: Any) -> models.Attempt:
        plan = {"workload": "tpcc", "duration_s": 1, "data": "fresh", "collectors": ["latency_log"], **changes}
        return measure(**plan | {"parameters": SMALL | changes.get("parameters", {})})

    return one


def counted(attempt: models.Attempt, metric: str, label: str = "") -> int:
    return int(value(attempt, metric, label=label))


@pytest.mark.parametrize("version", ["16", "18"])
def test_the_numbers_are_those_of_the_data(tpcc: Tpcc, afterwards: Afterwards, version: str) -> None:
    attempt = tpcc(installation=version)
    assert attempt.error is None
    [data] = afterwards.query(
        version,
        "SELECT (SELECT count(*) - 600 FROM orders) AS ordered, (SELECT count(*) - 600 FROM history) AS paid,"
        " (SELECT sum(c_delivery_cnt) FROM customer) AS delivered,"
        " (SELECT count(*) FROM orders WHERE o_carrier_id IS NULL) AS undelivered,"
        " (SELECT count(*) FROM order_line WHERE ol_i_id > 200) AS unused,"
        " (SELECT sum(h_amount) FROM history) - (SELECT sum(w_ytd) FROM warehouse) AS difference,"
        " (SELECT count(DISTINCT (ol_w_id, ol_supply_w_id)) FROM order_line) AS ways",
    )
    assert counted(attempt, "transactions") == 3 * 400
    assert counted(attempt, "new_orders") == data["ordered"]
    assert counted(attempt, "transactions", "payment") <= data["paid"]
    assert data["undelivered"] == 600 * 0.3 + data["ordered"] - data["delivered"]
    skipped = counted(attempt, "deliveries_skipped")
    assert 10 * counted(attempt, "transactions", "delivery") <= data["delivered"] + skipped
    minutes = counted(attempt, "transactions") / value(attempt, "tpm")
    assert value(attempt, "nopm") == pytest.approx(data["ordered"] / minutes)
    assert (data["unused"], data["difference"], data["ways"]) == (0, 0, 4)
    labels = attempt.measurements.filter(metric_id="latency.p99").values_list("label", flat=True)
    assert set(labels) == {"", *MIX}
    assert {check["name"]: check["passed"] for check in attempt.checks}.items() >= {(name, True) for name in CONDITIONS}
    assert value(attempt, "load.rows", label="stock") == 2 * 200


def test_the_inputs_are_drawn_as_the_specification_says(tpcc: Tpcc, afterwards: Afterwards) -> None:
    attempt = tpcc(parameters={"clients": 1, "transactions": 3000, "protocol": "prepared"})
    assert attempt.error is None
    finished, rolled_back = counted(attempt, "transactions", "new-order"), counted(attempt, "rolled_back")
    [data] = afterwards.query(
        "16",
        "SELECT (SELECT count(*) FROM orders) AS orders,"
        " (SELECT avg((h_w_id <> h_c_w_id)::integer) FROM history WHERE h_date > '2020-01-01') AS remote_payments,"
        " (SELECT avg((ol_supply_w_id <> ol_w_id)::integer) FROM order_line WHERE ol_o_id > 30) AS remote_lines,"
        " (SELECT json_agg(ol_i_id) FROM order_line WHERE ol_o_id > 30) AS items,"
        " (SELECT json_agg(o_c_id) FROM orders WHERE o_id > 30) AS customers",
    )
    assert counted(attempt, "new_orders") == finished - rolled_back == data["orders"] - 600
    # bounds that one run in a million would miss: some 1350 New-Orders of ten lines each, and 1290 Payments
    assert 1 <= rolled_back <= 35
    assert 0.10 < data["remote_payments"] < 0.20
    assert 0.005 < data["remote_lines"] < 0.015
    shares = {name: counted(attempt, "transactions", name) / 3000 for name in MIX}
    assert shares == pytest.approx({name: weight / 100 for name, weight in MIX.items()}, abs=0.05)
    chosen = constants(1)
    assert as_nurand(data["items"], 8191, SMALL["items"], chosen.item)
    assert as_nurand(data["customers"], 1023, SMALL["customers_per_district"], chosen.customer)
    assert not as_nurand(data["items"], 8191, SMALL["items"], chosen.item + 1)


def as_nurand(sample: list[int], a: int, highest: int, c: int) -> bool:
    """Whether numbers are distributed as NURand(a, 1, highest), every pair of whose uniform numbers is counted out: by
    chi-square, within five of its standard deviations."""
    pairs = Counter(((one | other) + c) % highest + 1 for one in range(a + 1) for other in range(1, highest + 1))
    counter = Counter(sample)
    expected = {number: len(sample) * pairs[number] / ((a + 1) * highest) for number in range(1, highest + 1)}
    often = [number for number, count in expected.items() if count >= 5]
    square = sum((counter[number] - expected[number]) ** 2 / expected[number] for number in often)
    return counter.keys() <= pairs.keys() and abs(square - len(often)) < 5 * sqrt(2 * len(often))


def test_another_access_method_with_foreign_keys_and_a_fill_factor(
    tpcc: Tpcc, afterwards: Afterwards, heap2: Callable[..., None]
) -> None:
    heap2("18")
    attempt = tpcc(
        installation="18", access_method="heap2", parameters={"foreign_keys": True, "fillfactor": 80, "load_jobs": 3}
    )
    assert attempt.error is None
    [data] = afterwards.query(
        "18",
        "SELECT count(*) FILTER (WHERE amname = 'heap2') AS heap2, array_agg(DISTINCT reloptions) AS options"
        " FROM pg_class JOIN pg_am AS a ON a.oid = relam WHERE relkind = 'r' AND relnamespace = 'public'::regnamespace",
    )
    assert data == {"heap2": 9, "options": [["fillfactor=80"]]}


def test_serialization_failures_are_told_by_type_and_retried(tpcc: Tpcc) -> None:
    contended = {"warehouses": 1, "clients": 4, "transactions": 150, "isolation": "serializable"}
    failing = tpcc(parameters=contended)
    assert failing.error is None
    assert counted(failing, "failed", "payment serialization") > 0
    assert counted(failing, "failed") == sum(counted(failing, "failed", name) for name in MIX)
    retrying = tpcc(parameters=contended | {"max_tries": 1000})
    assert retrying.error is None
    assert counted(retrying, "failed") == 0
    assert counted(retrying, "retries", "payment") > 0
    assert counted(retrying, "transactions") == 4 * 150


def test_a_load_of_one_warehouse_by_many_clients_meets_no_deadlock(tpcc: Tpcc) -> None:
    attempt = tpcc(parameters={"warehouses": 1, "items": 100, "clients": 8, "transactions": 100, "home": "fixed"})
    assert (attempt.error, counted(attempt, "failed")) == (None, 0)


BREAKS = {
    1: (
        "UPDATE district SET d_ytd = d_ytd + 7.5 WHERE d_w_id = 2 AND d_id = 3;",
        r"warehouse 2: W_YTD is \d+\.\d\d, the sum of D_YTD is \d+\.\d\d\.",
    ),
    2: (
        "UPDATE district SET d_next_o_id = d_next_o_id + 1 WHERE d_w_id = 1 AND d_id = 4;",
        r"warehouse 1, district 4: D_NEXT_O_ID - 1 is \d+, the largest O_ID is \d+; "
        r"warehouse 1, district 4: D_NEXT_O_ID - 1 is \d+, the largest NO_O_ID is \d+\.",
    ),
    3: (
        "DELETE FROM new_order WHERE no_w_id = 2 AND no_d_id = 9 AND no_o_id ="
        " (SELECT max(no_o_id) - 1 FROM new_order WHERE no_w_id = 2 AND no_d_id = 9);",
        r"warehouse 2, district 9: max\(NO_O_ID\) - min\(NO_O_ID\) \+ 1 is \d+, "
        r"the number of rows in NEW-ORDER is \d+\.",
    ),
    4: (
        "DELETE FROM order_line WHERE ol_w_id = 1 AND ol_d_id = 10 AND ol_o_id = 1 AND ol_number = 2;",
        r"warehouse 1, district 10: the sum of O_OL_CNT is \d+, the number of rows in ORDER-LINE is \d+\.",
    ),
}


def test_violations_after_the_run_fail_the_trial_which_names_them(tpcc: Tpcc, monkeypatch: pytest.MonkeyPatch) -> None:
    real = run.finish

    async def then_break(stage: Stage) -> None:
        await real(stage)
        for statement, _ in BREAKS.values():
            await stage.primary.execute(statement, database=stage.database)

    monkeypatch.setattr(run, "finish", then_break)
    attempt = tpcc(parameters={"transactions": 20})
    message = failed(attempt)["why"]
    wanted = (f"Consistency condition {number} is violated: {reported}" for number, (_, reported) in BREAKS.items())
    assert re.fullmatch(" ".join(wanted), message)
    figures = re.findall(r" is ([\d.]*\d)\b", message)
    assert all(one != other for one, other in zip(figures[::2], figures[1::2], strict=True))
    assert not attempt.measurements.filter(metric_id__in=FROM_DATA).exists()


def test_data_that_are_not_consistent_are_not_measured(tpcc: Tpcc, afterwards: Afterwards) -> None:
    reused = {"data": "reuse", "parameters": {"transactions": 20}}
    before = tpcc(**reused)
    assert before.error is None
    with afterwards.spoiled(before, "16", "UPDATE warehouse SET w_ytd = w_ytd + 1 WHERE w_id = 1;"):
        attempt = tpcc(**reused)
    assert attempt.error is not None
    assert (attempt.error["phase"], attempt.error["kind"]) == ("verify", "verify")
    assert "tpcc.condition 1" in attempt.error["why"]
    assert not attempt.measurements.filter(metric_id="tps").exists()


def test_a_server_killed_in_mid_run_leaves_no_number_from_the_data(tpcc: Tpcc, address: Address, bundles: Path) -> None:
    with servers_killed_at(address, *AT_WORK):
        attempt = tpcc(duration_s=60, parameters={"transactions": 0})
    failed(attempt)
    assert not attempt.measurements.filter(metric_id__in=FROM_DATA).exists()
    files = reader.open_files(bundles / attempt.bundle)
    assert files["workload/uncounted"]
    assert "workload/conditions" not in files


def test_somebody_else_who_orders_in_the_same_database_is_noticed(tpcc: Tpcc, monkeypatch: pytest.MonkeyPatch) -> None:
    real = run.start
    order = "CALL new_order(1, 1, 1, 1, ARRAY[1], ARRAY[1], ARRAY[1], NULL, NULL);"

    async def beside(stage: Stage, arguments: Sequence[str], names: Sequence[str]) -> None:
        await stage.primary.execute(order, database=stage.database)
        await real(stage, arguments, names)

    monkeypatch.setattr(run, "start", beside)
    error = failed(tpcc(parameters={"transactions": 20, "clients": 1}))
    assert "another session wrote to the database" in error["why"]


def failed(attempt: models.Attempt) -> dict[str, Any]:
    """The error of the measured phase of an attempt that counts for nothing."""
    trial = models.Trial.objects.get(pk=attempt.trial_id)
    assert (trial.state, trial.attempt_id) == (TrialState.FAILED, None)
    assert attempt.error is not None
    assert attempt.error["where"] == "measure"
    return dict(attempt.error)
