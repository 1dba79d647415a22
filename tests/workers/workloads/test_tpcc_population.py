"""The generated rows against the specification's numbers and an independent evaluation of its formulas."""

from __future__ import annotations

import hashlib
import subprocess
from collections import Counter
from functools import cache
from math import sqrt
from pathlib import Path

import pytest

from workers.workloads import tpcc
from workers.workloads.tpcc.nurand import constants

GENERATOR = Path(tpcc.__file__).parent / "population" / "generate.awk"
SYLLABLES = ("BAR", "OUGHT", "ABLE", "PRI", "PRES", "ESE", "ANTI", "CALLY", "ATION", "EING")
TABLES = ("item", "warehouse", "district", "customer", "history", "stock", "orders", "order_line", "new_order")
C_LAST = 173
Rows = list[list[str]]


@cache
def made(
    table: str,
    warehouses: int = 1,
    customers: int = 3000,
    items: int = 100_000,
    seed: int = 1,
    worker: int = 0,
    workers: int = 1,
) -> str:
    values = {
        "table": table,
        "seed": seed,
        "warehouses": warehouses,
        "customers": customers,
        "items": items,
        "c_last": C_LAST,
        "moment": "2012-10-01 00:00:00",
        "worker": worker,
        "workers": workers,
    }
    options = [word for name, value in values.items() for word in ("-v", f"{name}={value}")]
    done = subprocess.run(["awk", *options, "-f", GENERATOR], capture_output=True, text=True, check=True)
    assert done.stderr == ""
    return done.stdout


def rows(table: str, warehouses: int = 1, customers: int = 3000, items: int = 100_000) -> Rows:
    return [line.split("\t") for line in made(table, warehouses, customers, items).splitlines()]


def name_of(number: int) -> str:
    return "".join(SYLLABLES[int(digit)] for digit in f"{number:03d}")


def test_one_warehouse_has_the_specification_s_rows() -> None:
    counts = {table: made(table).count("\n") for table in TABLES if table != "order_line"}
    assert counts == {
        "item": 100_000,
        "warehouse": 1,
        "district": 10,
        "customer": 30_000,
        "history": 30_000,
        "stock": 100_000,
        "orders": 30_000,
        "new_order": 9_000,
    }


def test_every_key_is_there_once() -> None:
    two = {"warehouses": 2, "customers": 30, "items": 120}
    places = [(w, d) for w in (1, 2) for d in range(1, 11)]
    customers = sorted((c, d, w) for w, d in places for c in range(1, 31))
    assert sorted((int(r[0]), int(r[1]), int(r[2])) for r in rows("customer", **two)) == customers
    assert sorted((int(r[0]), int(r[1]), int(r[2])) for r in rows("orders", **two)) == customers
    assert sorted((int(r[0]), int(r[1]), int(r[2])) for r in rows("history", **two)) == customers
    assert sorted((int(r[0]), int(r[1]), int(r[2])) for r in rows("new_order", **two)) == [
        key for key in customers if key[0] > 21
    ]
    assert sorted((int(r[0]), int(r[1])) for r in rows("district", **two)) == sorted((d, w) for w, d in places)
    assert sorted((int(r[1]), int(r[0])) for r in rows("stock", **two)) == [
        (w, i) for w in (1, 2) for i in range(1, 121)
    ]
    assert [int(r[0]) for r in rows("item", **two)] == list(range(1, 121))
    assert [int(r[0]) for r in rows("warehouse", **two)] == [1, 2]


def test_each_order_has_as_many_lines_as_it_says() -> None:
    reported = {tuple(r[:3]): int(r[6]) for r in rows("orders")}
    lines: dict[tuple[str, ...], list[int]] = {}
    for row in rows("order_line"):
        lines.setdefault(tuple(row[:3]), []).append(int(row[3]))
    assert lines == {order: list(range(1, count + 1)) for order, count in reported.items()}
    spread = Counter(reported.values())
    assert sorted(spread) == list(range(5, 16))
    # each of the eleven lengths: 30,000 / 11, within five standard deviations
    assert all(abs(count - 30_000 / 11) < 5 * sqrt(30_000 / 11) for count in spread.values())


def test_the_customers_of_a_district_s_orders_are_a_permutation() -> None:
    by_district: dict[str, list[int]] = {}
    for row in rows("orders"):
        by_district.setdefault(row[1], []).append(int(row[3]))
    for buyers in by_district.values():
        assert sorted(buyers) == list(range(1, 3001))
    assert by_district["1"] != by_district["2"] != list(range(1, 3001))


def test_what_is_delivered_and_what_is_not() -> None:
    for row in rows("orders"):
        assert (row[5] == r"\N") == (int(row[0]) > 2100)
        assert row[5] == r"\N" or 1 <= int(row[5]) <= 10
    for row in rows("order_line"):
        delivered = int(row[0]) <= 2100
        assert row[6] == ("2012-10-01 00:00:00" if delivered else r"\N")
        assert (row[7], row[5]) == ("5", "1")
        assert row[8] == "0.00" if delivered else 0.01 <= float(row[8]) <= 9999.99
        assert 1 <= int(row[4]) <= 100_000
        assert len(row[9]) == 24


def test_the_first_thousand_last_names_are_all_names_and_the_others_are_non_uniform() -> None:
    by_district: dict[str, list[str]] = {}
    for row in rows("customer"):
        by_district.setdefault(row[1], []).append(row[5])
    later: Counter[str] = Counter()
    for names in by_district.values():
        assert names[:1000] == [name_of(number) for number in range(1000)]
        later.update(names[1000:])
    # NURand(255, 0, 999) counted out: every pair of its two uniform numbers once
    pairs = Counter(((a | x) + C_LAST) % 1000 for a in range(256) for x in range(1000))
    expected = {name_of(number): 20_000 * pairs[number] / 256_000 for number in range(1000)}
    assert set(later) <= {name for name, count in expected.items() if count}
    often = {name: count for name, count in expected.items() if count >= 5}
    square = sum((later[name] - count) ** 2 / count for name, count in often.items())
    freedom = len(often) - 1
    assert abs(square - freedom) < 5 * sqrt(2 * freedom)


LENGTHS = {
    "item": {2: (14, 24), 4: (26, 50)},
    "stock": {**dict.fromkeys(range(3, 13), (24, 24)), 16: (26, 50)},
    "customer": {3: (8, 16), **dict.fromkeys((6, 7, 8), (10, 20)), 9: (2, 2), 10: (9, 9), 11: (16, 16), 20: (300, 500)},
    "history": {7: (12, 24)},
    "district": {2: (6, 10), 6: (2, 2), 7: (9, 9)},
}
NUMBERS: dict[str, dict[int, tuple[float, float]]] = {
    "item": {1: (1, 10_000), 3: (1, 100)},
    "stock": {2: (10, 100), 13: (0, 0), 14: (0, 0), 15: (0, 0)},
    "customer": {14: (50_000, 50_000), 15: (0, 0.5), 16: (-10, -10), 17: (10, 10), 18: (1, 1), 19: (0, 0)},
    "history": {6: (10, 10)},
    "orders": {7: (1, 1)},
    "district": {8: (0, 0.2), 9: (30_000, 30_000), 10: (3001, 3001)},
    "warehouse": {7: (0, 0.2), 8: (300_000, 300_000)},
}


@pytest.mark.parametrize("table", LENGTHS)
def test_texts_have_every_length_within_their_bounds_and_no_other(table: str) -> None:
    columns = list(zip(*rows(table), strict=True))
    for column, (least, most) in LENGTHS[table].items():
        lengths = {len(text) for text in columns[column]}
        assert least <= min(lengths) <= max(lengths) <= most, column
        if len(columns[column]) > 10_000:
            assert lengths == set(range(least, most + 1)), column


@pytest.mark.parametrize("table", NUMBERS)
def test_numbers_are_uniform_within_their_bounds(table: str) -> None:
    columns = list(zip(*rows(table), strict=True))
    for column, (low, high) in NUMBERS[table].items():
        values = [float(text) for text in columns[column]]
        assert low <= min(values) <= max(values) <= high, column
        if len(values) > 10_000:
            # the mean of n uniform numbers, within five of its standard deviations
            error = 5 * (high - low) / sqrt(12 * len(values))
            assert sum(values) / len(values) == pytest.approx((low + high) / 2, abs=error + 1e-6), column


@pytest.mark.parametrize(("table", "column"), [("item", 4), ("stock", 16)])
def test_a_tenth_of_the_data_is_original(table: str, column: int) -> None:
    share = sum("ORIGINAL" in row[column] for row in rows(table)) / 100_000
    assert share == pytest.approx(0.1, abs=0.005)


def test_a_tenth_of_the_customers_has_bad_credit() -> None:
    credit = Counter(row[13] for row in rows("customer"))
    assert credit.keys() == {"GC", "BC"}
    assert credit["BC"] / 30_000 == pytest.approx(0.1, abs=0.01)


@pytest.mark.parametrize("table", TABLES)
def test_the_rows_are_the_same_for_any_number_of_workers_and_others_with_another_seed(table: str) -> None:
    small = {"warehouses": 3, "customers": 20, "items": 20_500}
    alone = made(table, **small)
    shares = [made(table, **small, worker=worker, workers=4) for worker in range(4)]
    assert sorted("".join(shares).splitlines()) == sorted(alone.splitlines())
    assert len({*alone.splitlines()}) == alone.count("\n")
    if table != "new_order":
        assert made(table, **small, seed=2) != alone


def test_the_data_of_a_seed_stay_what_they_were() -> None:
    """Trials share data by their parameters alone: other rows for the same ones would be compared with the old."""
    whole = "".join(made(table, warehouses=2, customers=40, items=120, seed=7) for table in TABLES)
    assert hashlib.sha256(whole.encode()).hexdigest()[:16] == "4e80c7ef16e181f5"


def test_fewer_customers_keep_the_sums_that_must_agree() -> None:
    small = {"warehouses": 2, "customers": 40, "items": 100}
    paid = sum(float(row[6]) for row in rows("history", **small))
    assert paid == sum(float(row[9]) for row in rows("district", **small))
    assert paid == sum(float(row[8]) for row in rows("warehouse", **small))
    assert {row[5] for row in rows("customer", **small)} == {name_of(number) for number in range(40)}


def test_the_constants_of_the_last_names_keep_the_specification_s_distance() -> None:
    distances = set()
    for seed in range(2000):
        chosen = constants(seed)
        assert 0 <= chosen.last_name_load <= 255 >= chosen.last_name_run >= 0
        assert 0 <= chosen.customer <= 1023
        assert 0 <= chosen.item <= 8191
        distances.add(abs(chosen.last_name_load - chosen.last_name_run))
    assert distances == set(range(65, 120)) - {96, 112}
    assert constants(7) == constants(7) != constants(8)
