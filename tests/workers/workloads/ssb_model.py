"""The Star Schema Benchmark in plain Python: the rows that the generators must make, and the answers over them.

Written from the README's definitions, not from the awk: whole numbers instead of doubles, `//` instead of int()."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from datetime import date, timedelta
from functools import cached_property
from typing import Any, NamedTuple

MODULUS, MULTIPLIER = 2**28 - 57, 26887936
REGIONS = {
    "AFRICA": ("ALGERIA", "ETHIOPIA", "KENYA", "MOROCCO", "MOZAMBIQUE"),
    "AMERICA": ("ARGENTINA", "BRAZIL", "CANADA", "PERU", "UNITED STATES"),
    "ASIA": ("CHINA", "INDIA", "INDONESIA", "JAPAN", "VIETNAM"),
    "EUROPE": ("FRANCE", "GERMANY", "ROMANIA", "RUSSIA", "UNITED KINGDOM"),
    "MIDDLE EAST": ("EGYPT", "IRAN", "IRAQ", "JORDAN", "SAUDI ARABIA"),
}
NATIONS = [(nation, region) for region, nations in REGIONS.items() for nation in nations]
PRIORITIES = ("1-URGENT", "2-HIGH", "3-MEDIUM", "4-NOT SPECIFIED", "5-LOW")
MODES = ("REG AIR", "AIR", "RAIL", "SHIP", "TRUCK", "MAIL", "FOB")
DAYS = [date(1992, 1, 1) + timedelta(days=number) for number in range(2556)]


class Place(NamedTuple):
    city: str
    nation: str
    region: str


class Part(NamedTuple):
    mfgr: str
    category: str
    brand: str


class Line(NamedTuple):
    """A row of the fact table, in the order of COPY's columns."""

    order: int
    customer: int
    day: int
    priority: str
    ship_priority: int
    total: int
    number: int
    quantity: int
    discount: int
    tax: int
    mode: str
    price: int
    revenue: int
    cost: int
    part: int
    supplier: int
    commit: int


class FormLine(NamedTuple):
    quantity: int
    discount: int
    tax: int
    mode: str
    price_class: int
    promise: int


class Stream:
    """A Lehmer generator."""

    def __init__(self, state: int) -> None:
        self.state = state

    def draw(self, n: int) -> int:
        self.state = self.state * MULTIPLIER % MODULUS
        return self.state * n // MODULUS


def stream(seed: int, number: int) -> Stream:
    return Stream(1 + (seed * 1000003 + number * 7654321) % (MODULUS - 1))


@dataclass
class Model:
    """All rows for a seed and the sizes of the tables."""

    seed: int
    customers: int
    suppliers: int
    parts: int
    orders: int
    forms: list[list[FormLine]] = field(init=False)

    def __post_init__(self) -> None:
        draws, line = stream(self.seed, 1), 0
        self.forms = []
        for form in range(1, 1926):
            lines = []
            for _ in range(1 + form % 7):
                line += 1
                pair = line * 201 % 550
                tax = draws.draw(9)
                price_class = (line * 37 + line // 1100 * 7) % 100
                mode = MODES[draws.draw(7)]
                lines.append(FormLine(1 + pair % 50, pair // 50, tax, mode, price_class, 30 + draws.draw(61)))
            self.forms.append(lines)

    def order(self, key: int) -> Iterator[Line]:
        """The lines of one order: from nothing but the seed and its key."""
        mixed = (key * 40692 + self.seed * 1000003) % MODULUS
        high, low = divmod(mixed, 16384)
        draws = Stream(1 + (low * low * (high + 1 + self.seed % 16381) + mixed) % (MODULUS - 1))
        form = self.forms[draws.draw(1925)]
        day, priority = divmod(draws.draw(12780), 5)
        customer = 1 + draws.draw(self.customers)
        prices = [90000 + 1200 * line.price_class for line in form]
        revenues = [p * e.quantity * (100 - e.discount) // 100 for p, e in zip(prices, form, strict=True)]
        total = sum(r * (100 + e.tax) // 100 for r, e in zip(revenues, form, strict=True))
        share = self.parts // 100
        for number, (line, price, revenue) in enumerate(zip(form, prices, revenues, strict=True), 1):
            yield Line(
                key,
                customer,
                datekey(day),
                PRIORITIES[priority],
                0,
                total,
                number,
                line.quantity,
                line.discount,
                line.tax,
                line.mode,
                price * line.quantity,
                revenue,
                price * 6 // 10,
                1 + line.price_class * share + draws.draw(share),
                1 + draws.draw(self.suppliers),
                datekey(min(day + line.promise, 2555)),
            )

    @cached_property
    def lines(self) -> list[Line]:
        return [line for key in range(1, self.orders + 1) for line in self.order(key)]

    @cached_property
    def customer(self) -> dict[int, Place]:
        return self._places(2, self.customers)

    @cached_property
    def supplier(self) -> dict[int, Place]:
        return self._places(3, self.suppliers)

    @cached_property
    def part(self) -> dict[int, Part]:
        offset = stream(self.seed, 4).draw(1000)
        return {key: _part((key * 373 + offset) % 1000) for key in range(1, self.parts + 1)}

    def _places(self, number: int, count: int) -> dict[int, Place]:
        offset = stream(self.seed, number).draw(250)
        return {key: _place((key * 107 + offset) % 250) for key in range(1, count + 1)}

    def count(self, query: str) -> int:
        """Lines that a query selects."""
        return sum(1 for row in self._joined if QUERIES[query].where(row))

    def answer(self, query: str) -> list[str]:
        """What psql prints, unaligned."""
        requested = QUERIES[query]
        sums: dict[tuple[Any, ...], int] = defaultdict(int)
        for row in self._joined:
            if requested.where(row):
                sums[requested.group(row)] += requested.value(row)
        rows = [requested.shape(key, total) for key, total in sums.items()] or [("",)] * (not requested.groups)
        return ["|".join(map(str, row)) for row in sorted(rows, key=requested.order)]

    @cached_property
    def answers(self) -> dict[str, list[str]]:
        return {query: self.answer(query) for query in QUERIES}

    @cached_property
    def _joined(self) -> list[JoinedRow]:
        days = {datekey(number): day for number, day in enumerate(DAYS)}
        return [
            JoinedRow(
                line, self.customer[line.customer], self.supplier[line.supplier], self.part[line.part], days[line.day]
            )
            for line in self.lines
        ]


class JoinedRow(NamedTuple):
    """A line with all that it points at."""

    line: Line
    customer: Place
    supplier: Place
    part: Part
    day: date


def datekey(number: int) -> int:
    """0 → 19920101."""
    day = DAYS[number]
    return day.year * 10000 + day.month * 100 + day.day


def _place(city: int) -> Place:
    nation, region = NATIONS[city // 10]
    return Place(f"{nation:9.9}{city % 10}", nation, region)


def _part(brand: int) -> Part:
    manufacturer = f"MFGR#{1 + brand // 200}"
    category = f"{manufacturer}{1 + brand // 40 % 5}"
    return Part(manufacturer, category, f"{category}{1 + brand % 40}")


@dataclass(frozen=True)
class Query:
    where: Callable[[JoinedRow], bool]
    group: Callable[[JoinedRow], tuple[Any, ...]] = lambda r: ()
    value: Callable[[JoinedRow], int] = lambda r: r.line.price * r.line.discount
    shape: Callable[[tuple[Any, ...], int], tuple[Any, ...]] = lambda key, total: (*key, total)
    order: Callable[[tuple[Any, ...]], Any] = lambda row: row
    groups: bool = True


KINGDOM = ("UNITED KI1", "UNITED KI5")


def _one(where: Callable[[JoinedRow], bool]) -> Query:
    return Query(where, groups=False)


def _two(where: Callable[[JoinedRow], bool], region: str) -> Query:
    return Query(
        lambda r: r.supplier.region == region and where(r),
        lambda r: (r.day.year, r.part.brand),
        lambda r: r.line.revenue,
        lambda key, total: (total, *key),
        lambda row: row[1:],
    )


def _three(where: Callable[[JoinedRow], bool], level: str) -> Query:
    return Query(
        where,
        lambda r: (getattr(r.customer, level), getattr(r.supplier, level), r.day.year),
        lambda r: r.line.revenue,
        order=lambda row: (row[2], -row[3]),
    )


def _four(where: Callable[[JoinedRow], bool], group: Callable[[JoinedRow], tuple[Any, ...]]) -> Query:
    return Query(lambda r: r.customer.region == "AMERICA" and where(r), group, lambda r: r.line.revenue - r.line.cost)


QUERIES = {
    "q1.1": _one(lambda r: r.day.year == 1993 and 1 <= r.line.discount <= 3 and r.line.quantity < 25),
    "q1.2": _one(
        lambda r: (r.day.year, r.day.month) == (1994, 1) and 4 <= r.line.discount <= 6 and 26 <= r.line.quantity <= 35
    ),
    "q1.3": _one(
        lambda r: (
            r.day.year == 1994
            and 36 <= r.day.timetuple().tm_yday <= 42
            and 5 <= r.line.discount <= 7
            and 26 <= r.line.quantity <= 35
        )
    ),
    "q2.1": _two(lambda r: r.part.category == "MFGR#12", "AMERICA"),
    "q2.2": _two(lambda r: r.part.brand in [f"MFGR#22{number}" for number in range(21, 29)], "ASIA"),
    "q2.3": _two(lambda r: r.part.brand == "MFGR#2221", "EUROPE"),
    "q3.1": _three(lambda r: r.customer.region == r.supplier.region == "ASIA" and r.day.year <= 1997, "nation"),
    "q3.2": _three(lambda r: r.customer.nation == r.supplier.nation == "UNITED STATES" and r.day.year <= 1997, "city"),
    "q3.3": _three(lambda r: r.customer.city in KINGDOM and r.supplier.city in KINGDOM and r.day.year <= 1997, "city"),
    "q3.4": _three(
        lambda r: r.customer.city in KINGDOM and r.supplier.city in KINGDOM and (r.day.year, r.day.month) == (1997, 12),
        "city",
    ),
    "q4.1": _four(
        lambda r: r.supplier.region == "AMERICA" and r.part.mfgr in ("MFGR#1", "MFGR#2"),
        lambda r: (r.day.year, r.customer.nation),
    ),
    "q4.2": _four(
        lambda r: r.supplier.region == "AMERICA" and r.part.mfgr in ("MFGR#1", "MFGR#2") and r.day.year >= 1997,
        lambda r: (r.day.year, r.supplier.nation, r.part.category),
    ),
    "q4.3": _four(
        lambda r: r.supplier.nation == "UNITED STATES" and r.part.category == "MFGR#14" and r.day.year >= 1997,
        lambda r: (r.day.year, r.supplier.city, r.part.brand),
    ),
}
