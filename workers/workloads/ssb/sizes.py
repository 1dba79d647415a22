"""How many rows each table has at a scale factor. Pure.

O'Neil, O'Neil, Chen: Star Schema Benchmark, section 2. Below a scale factor of 1, of which the paper says nothing,
every table but the calendar shrinks in proportion."""

from __future__ import annotations

import math
from dataclasses import dataclass

DAYS = 2556
LINES_PER_ORDER = (1, 7)
_PRICE_CLASSES = 100  # as in lineorder.awk: each has equally many parts


@dataclass(frozen=True)
class Sizes:
    """Rows of the dimensions, and orders. Lines are 1 to 7 an order, 4 on average."""

    customers: int
    suppliers: int
    parts: int
    orders: int

    @property
    def dimensions(self) -> dict[str, int]:
        """Table → rows."""
        return {"customer": self.customers, "supplier": self.suppliers, "part": self.parts, "date": DAYS}


def sizes(scale_factor: float) -> Sizes:
    """Return the number of rows at a scale factor above 0."""
    if scale_factor >= 1:
        parts = 200_000 * math.floor(1 + math.log2(scale_factor))
    else:
        parts = _PRICE_CLASSES * max(1, round(200_000 * scale_factor / _PRICE_CLASSES))
    return Sizes(
        customers=max(1, round(30_000 * scale_factor)),
        suppliers=max(1, round(10_000 * scale_factor)),
        parts=parts,
        orders=max(1, round(1_500_000 * scale_factor)),
    )
