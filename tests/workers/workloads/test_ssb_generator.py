"""The generators against the model in plain Python: the same rows, whatever the chunks; shares of the facts near the
paper's."""

from __future__ import annotations

import hashlib
import math
import subprocess
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from tests.workers.workloads.ssb_model import DAYS, Model
from workers.workloads import ssb
from workers.workloads.ssb.sizes import Sizes, sizes
from workers.workloads.ssb.spec import GENERATOR

HERE = Path(ssb.__file__).parent
# What the paper's section 3 says each query selects, of the fact table. q1.1 counts quantity < 25 as a half, q1.3
# quantities 26 to 35 as a tenth: they are 24 and 10 of 50.
PAPER = {
    "q1.1": 1 / 7 * 24 / 50 * 3 / 11,
    "q1.2": 1 / 84 * 3 / 11 * 0.2,
    "q1.3": 1 / 364 * 3 / 11 * 0.2,
    "q2.1": 1 / 125,
    "q2.2": 1 / 625,
    "q2.3": 1 / 5000,
    "q3.1": 6 / 7 / 25,
    "q3.2": 6 / 7 / 625,
    "q4.1": 2 / 5 / 25,
    "q4.2": 2 / 7 * 2 / 5 / 25,
    "q4.3": 2 / 7 / 5 / 25 / 25,
}


def generated(generator: str, size: Sizes, tmp_path: Path, **variables: Any) -> list[list[str]]:
    counted = tmp_path / "made"
    values = {"customers": size.customers, "suppliers": size.suppliers, "parts": size.parts, "counted": counted}
    words = [word for name, value in (values | variables).items() for word in ("-v", f"{name}={value}")]
    command = ["awk", *words, "-f", str(HERE / "common.awk"), "-f", str(HERE / generator)]
    result = subprocess.run(command, capture_output=True, text=True, check=True)
    rows = [line.split("\t") for line in result.stdout.splitlines()]
    assert (int(counted.read_text()), result.stderr) == (len(rows), "")
    return rows


def model(seed: int, scale_factor: float) -> Model:
    size = sizes(scale_factor)
    return Model(seed, size.customers, size.suppliers, size.parts, size.orders)


@pytest.mark.parametrize(("seed", "scale_factor"), [(0, 0.001), (1, 0.002), (2**31 - 1, 0.001)])
def test_the_fact_table_is_the_models(seed: int, scale_factor: float, tmp_path: Path) -> None:
    size = sizes(scale_factor)
    rows = generated("lineorder.awk", size, tmp_path, seed=seed, first=1, last=size.orders)
    assert rows == [[str(value) for value in line] for line in model(seed, scale_factor).lines]


def test_orders_of_a_large_scale_factor_are_the_models_too(tmp_path: Path) -> None:
    size, whole = sizes(1000), model(7, 1000)
    keys = (1, 999_999_999, size.orders)
    rows = [row for k in keys for row in generated("lineorder.awk", size, tmp_path, seed=7, first=k, last=k)]
    assert rows == [[str(value) for value in line] for key in keys for line in whole.order(key)]


def test_chunks_make_the_rows_of_the_whole(tmp_path: Path) -> None:
    size = sizes(0.001)
    whole = generated("lineorder.awk", size, tmp_path, seed=5, first=1, last=size.orders)
    edges = [(1, 1), (2, 700), (701, size.orders)]
    parts = [generated("lineorder.awk", size, tmp_path, seed=5, first=first, last=last) for first, last in edges]
    assert [row for part in parts for row in part] == whole


def test_rows_change_with_the_generators_version_alone(tmp_path: Path) -> None:
    """Whoever changes the rows raises GENERATOR, so that kept data is loaded anew, and then these."""
    size = sizes(0.001)
    rows = generated("lineorder.awk", size, tmp_path, seed=1, first=1, last=size.orders)
    for table in ("customer", "supplier", "part", "date"):
        rows += generated("dimensions.awk", size, tmp_path, seed=1, table=table)
    digest = hashlib.sha256("\n".join("\t".join(row) for row in rows).encode()).hexdigest()[:16]
    assert (GENERATOR, digest) == ("1", "dff9ea933173ad95")


def test_another_seed_makes_other_rows(tmp_path: Path) -> None:
    size = sizes(0.001)
    one, two = (generated("lineorder.awk", size, tmp_path, seed=seed, first=1, last=99) for seed in (1, 2))
    assert one != two


def test_the_hierarchies_are_the_models(tmp_path: Path) -> None:
    size, whole = sizes(0.01), model(4, 0.01)
    for table, places in (("customer", whole.customer), ("supplier", whole.supplier)):
        rows = generated("dimensions.awk", size, tmp_path, seed=4, table=table)
        assert [(int(row[0]), *row[3:6]) for row in rows] == [(key, *place) for key, place in places.items()]
    rows = generated("dimensions.awk", size, tmp_path, seed=4, table="part")
    assert [(int(row[0]), *row[2:5]) for row in rows] == [(key, *part) for key, part in whole.part.items()]


def test_cities_and_brands_are_equally_many() -> None:
    whole = model(9, 0.1)
    for places, each in ((whole.customer, {12}), (whole.supplier, {4})):
        assert set(Counter(place.city for place in places.values()).values()) == each
        assert len({place.city for place in places.values()}) == 250
    assert set(Counter(part.brand for part in whole.part.values()).values()) == {20}
    assert len({part.brand for part in whole.part.values()}) == 1000


def test_the_calendar_is_that_of_the_world(tmp_path: Path) -> None:
    rows = generated("dimensions.awk", sizes(1), tmp_path, seed=1, table="date")
    for row, day in zip(rows, DAYS, strict=True):
        of_year = day.timetuple().tm_yday
        of_week = day.isoweekday() % 7 + 1
        last_of_month = "1" if day.month != (day.fromordinal(day.toordinal() + 1)).month else "0"
        assert row[:12] == [
            day.strftime("%Y%m%d"),
            f"{day:%B} {day.day}, {day.year}",
            f"{day:%A}",
            f"{day:%B}",
            str(day.year),
            f"{day:%Y%m}",
            f"{day:%b%Y}",
            str(of_week),
            str(day.day),
            str(of_year),
            str(day.month),
            str(1 + (of_year - 1) // 7),
        ]
        assert row[13:15] == ["1" if of_week == 7 else "0", last_of_month]
        assert row[16] == ("0" if day.isoweekday() >= 6 else "1")


def test_queries_select_what_the_paper_says() -> None:
    """Lines of one order share date and customer, five of the seven lines that an average line lies among: the spread
    is that of a fifth as many draws."""
    whole = model(1, 0.02)
    for query, share in PAPER.items():
        expected = share * len(whole.lines)
        assert abs(whole.count(query) - expected) < 4 * math.sqrt(5 * expected), query


@pytest.mark.parametrize(
    ("scale_factor", "expected"),
    [
        (1, Sizes(30_000, 10_000, 200_000, 1_500_000)),
        (2, Sizes(60_000, 20_000, 400_000, 3_000_000)),
        (3, Sizes(90_000, 30_000, 400_000, 4_500_000)),
        (100, Sizes(3_000_000, 1_000_000, 1_400_000, 150_000_000)),
        (0.01, Sizes(300, 100, 2000, 15_000)),
        (0.29, Sizes(8700, 2900, 58_000, 435_000)),
    ],
)
def test_tables_are_as_large_as_the_paper_says(scale_factor: float, expected: Sizes) -> None:
    assert sizes(scale_factor) == expected
