"""Quantities: conversion and formatting. Pure.

Base units inside Teiten: seconds (`s`), microseconds for latencies (`us`), bytes (`B`), percent (`%`),
transactions per second (`tps`), plain counts (`1`). Conversions happen at the edges only.
"""

from __future__ import annotations

import math
import re

_BYTES = {"B": 1, "kB": 1024, "MB": 1024**2, "GB": 1024**3, "TB": 1024**4}
_SECONDS = {"us": 1e-6, "ms": 1e-3, "s": 1.0, "min": 60.0, "h": 3600.0, "d": 86400.0}
_TIMES = _SECONDS | {"ns": 1e-9, "µs": 1e-6, "μs": 1e-6}  # both of Unicode's signs for micro
_QUANTITY = re.compile(r"^\s*([-+]?\d+(?:\.\d+)?)\s*([A-Za-z]*)\s*$")


def parse_bytes(text: str) -> float:
    """'64MB', '8192 kB', '8kB' → bytes, with PostgreSQL's units (1024 based). Raises ValueError."""
    return _parse(text, _BYTES, "B")


def parse_seconds(text: str) -> float:
    """'5min', '200ms', '30s' → seconds, with PostgreSQL's units. Raises ValueError."""
    return _parse(text, _SECONDS, "s")


def _parse(text: str, table: dict[str, float] | dict[str, int], default: str) -> float:
    match = _QUANTITY.match(text)
    if match is None or (match[2] or default) not in table:
        raise ValueError(f"{text!r} is not a quantity in {', '.join(table)}")
    return float(match[1]) * table[match[2] or default]


def to_base(value: float, unit: str) -> tuple[float, str]:
    """A value in a unit of time or size → in the base unit: (1.5, 'ms') → (0.0015, 's'), (2, 'MB') → (2097152.0, 'B').
    Times all become seconds, so that a program may print the same metric now in ms and now in s. Sizes are 1024 based
    as PostgreSQL's, 'MiB' being another way to write 'MB'; 'MB/s' becomes 'B/s'. A count has no unit or '1'. Any other
    unit stays."""
    if unit in _TIMES:
        return value * _TIMES[unit], "s"
    plain = unit.removesuffix("/s")
    size = _BYTES.get("kB" if plain == "KiB" else plain.replace("iB", "B"))
    if size is not None:
        return float(value * size), "B/s" if plain != unit else "B"
    return value, unit or "1"


def setting_in_base_units(value: str, unit: str | None) -> str:
    """A row of pg_settings (setting, unit) as one readable quantity: ('16384', '8kB') → '128MB'.

    Unit '8kB' counts blocks. Values of −1 and 0 keep PostgreSQL's special meaning and are not converted.
    """
    if not unit or value in ("-1", "0"):
        return value
    match = re.match(r"^(\d*)(\w+)$", unit)
    if match is None or not re.fullmatch(r"-?\d+(\.\d+)?", value):
        return value
    count, name = int(match[1] or 1), match[2]
    if name in _BYTES:
        return _largest(float(value) * count * _BYTES[name], _BYTES)
    if name in _SECONDS:
        return _largest(round(float(value) * count * _SECONDS[name] * 1e6), {k: v * 1e6 for k, v in _SECONDS.items()})
    return value


def _largest(amount: float, table: dict[str, float] | dict[str, int]) -> str:
    for name, size in sorted(table.items(), key=lambda item: -item[1]):
        if amount >= size and amount % size == 0:
            return f"{int(amount // size)}{name}"
    return f"{amount:g}"


def counted(count: int, noun: str) -> str:
    """Return '1 replicate', '1,200 replicates'; a noun in -y becomes one in -ies."""
    if count != 1:
        noun = f"{noun[:-1]}ies" if noun.endswith("y") else f"{noun}s"
    return f"{count:,} {noun}"


def format_number(value: float, digits: int = 4) -> str:
    """A number for reading: thousands separated, at least `digits` significant digits, never in exponents
    between 1e-6 and 1e15. 12345.678 → '12,346'; 0.98765 → '0.9877'."""
    if value == 0:
        return "0"
    if not math.isfinite(value):
        return "–"
    if abs(value) >= 10**digits:
        return f"{value:,.0f}"
    value = float(f"{value:.{digits}g}")  # 999.96 is 1,000, not 1,000.0
    places = max(0, digits - 1 - math.floor(math.log10(abs(value))))
    return f"{value:,.{min(places, 9)}f}"


_SCALES: dict[str, list[tuple[float, str]]] = {
    "us": [(1e6, "s"), (1e3, "ms"), (1, "µs")],
    "B": [(1024**4, "TB"), (1024**3, "GB"), (1024**2, "MB"), (1024, "kB"), (1, "B")],
    "B/s": [(1024**3, "GB/s"), (1024**2, "MB/s"), (1024, "kB/s"), (1, "B/s")],
    "s": [(86400, "d"), (3600, "h"), (60, "min"), (1, "s"), (1e-3, "ms"), (1e-6, "µs")],
}


def scale_for(value: float, unit: str) -> tuple[float, str]:
    """(divisor, unit shown) that make `value` of `unit` readable. Units without a scale are shown as they are."""
    scales = _SCALES.get(unit)
    if scales is None:
        return 1.0, "" if unit == "1" else unit
    for size, name in scales:
        if abs(value) >= size:
            return float(size), name
    return float(scales[-1][0]), scales[-1][1]


def format_quantity(value: float | None, unit: str) -> str:
    """A value of a base unit for reading, with its unit: (8123.4, 'us') → '8.123 ms'. None → '–'."""
    if value is None or not math.isfinite(value):
        return "–"
    divisor, shown = scale_for(value, unit)
    scaled = value / divisor
    whole = scaled.is_integer() and abs(scaled) < 1e15
    number = f"{int(scaled):,}" if whole else format_number(scaled)
    return f"{number} {shown}" if shown else number
