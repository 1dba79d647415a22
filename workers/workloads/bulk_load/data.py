"""What is loaded: four tables of an order business, and how many rows of each a size has. Pure."""

from __future__ import annotations

from collections.abc import Mapping

PARTS = 48  # files of each table: whatever divides 48 shares them evenly
ROWS_PER_MB = {"customer": 1_200, "item": 200, "orders": 4_000, "order_line": 12_000}
TABLES = tuple(ROWS_PER_MB)


def rows_of(size_mb: int) -> dict[str, int]:
    """Table → its rows, exactly. Order n has 1 + n mod 5 lines, three on average."""
    return {table: rows * size_mb for table, rows in ROWS_PER_MB.items()}


def shares(jobs: int, bytes_of: Mapping[str, int]) -> list[list[str]]:
    """Whole tables shared among at most `jobs` sessions, the largest first to the session that has least to do."""
    portions: list[list[str]] = [[] for _ in range(min(jobs, len(bytes_of)))]
    for table in sorted(bytes_of, key=lambda name: -bytes_of[name]):
        min(portions, key=lambda share: sum(bytes_of[name] for name in share)).append(table)
    return portions
