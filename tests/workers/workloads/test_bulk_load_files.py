"""The files that are loaded: made by the agent's own awk, the same every time, keys that lead somewhere."""

from __future__ import annotations

import re
import subprocess
from collections import Counter
from pathlib import Path

import pytest

from workers.workloads import bulk_load
from workers.workloads.bulk_load.data import PARTS, rows_of

FOLDER = Path(bulk_load.__file__).parent
ROWS = rows_of(1)


def made(directory: Path, seed: int = 1) -> dict[str, list[list[str]]]:
    """Table → its rows, in the order of the parts."""
    words = ["sh", str(FOLDER / "generate.sh"), str(directory), (FOLDER / "generate.awk").read_text(), str(seed)]
    counts = [str(ROWS[table]) for table in ("customer", "item", "orders")]
    subprocess.run([*words, *counts, str(PARTS)], check=True, capture_output=True)
    return {
        table: [
            line.split("\t")
            for part in range(PARTS)
            for line in (directory / f"{table}.{part}").read_text().splitlines()
        ]
        for table in ROWS
    }


@pytest.fixture(scope="module")
def tables(tmp_path_factory: pytest.TempPathFactory) -> dict[str, list[list[str]]]:
    return made(tmp_path_factory.mktemp("files") / "one")


def test_every_table_has_its_rows(tables: dict[str, list[list[str]]]) -> None:
    assert {table: len(rows) for table, rows in tables.items()} == ROWS


def test_keys_are_unique_and_whole(tables: dict[str, list[list[str]]]) -> None:
    for table in ("customer", "item", "orders"):
        assert [row[0] for row in tables[table]] == [str(key) for key in range(1, ROWS[table] + 1)]
    lines = Counter(row[0] for row in tables["order_line"])
    assert lines == {str(order): 1 + order % 5 for order in range(1, ROWS["orders"] + 1)}
    assert len({(row[0], row[1]) for row in tables["order_line"]}) == ROWS["order_line"]


def test_references_lead_to_rows_all_over_their_table(tables: dict[str, list[list[str]]]) -> None:
    for table, column, target in (("orders", 1, "customer"), ("order_line", 2, "item")):
        keys = [int(row[column]) for row in tables[table]]
        assert min(keys) >= 1 and max(keys) <= ROWS[target]
        assert len(set(keys)) > 0.9 * ROWS[target]


def test_values_have_the_form_of_their_columns(tables: dict[str, list[list[str]]]) -> None:
    forms = {
        "customer": r"\d+\tCustomer \d+\t[0-9a-f]{32}\t\+\d{10}\t\d{1,4}\.\d\d\t[0-9a-f]{64}",
        "item": r"\d+\tItem \d+\t\d{1,3}\.\d\d\t[0-9a-f]{48}",
        "orders": r"\d+\t\d+\t20[0-2]\d-\d\d-\d\d \d\d:\d\d:\d\d\t[0-4]\t[0-9a-f]{24}",
        "order_line": r"\d+\t[1-5]\t\d+\t\d{1,2}\t\d{1,4}\.\d\d\t[0-9a-f]{24}",
    }
    for table, form in forms.items():
        assert [row for row in tables[table] if not re.fullmatch(form, "\t".join(row))] == []


def test_the_same_seed_makes_the_same_files_and_another_makes_others(
    tables: dict[str, list[list[str]]], tmp_path: Path
) -> None:
    assert made(tmp_path / "again") == tables
    assert made(tmp_path / "other", seed=2)["orders"] != tables["orders"]


def test_a_full_disk_leaves_no_half_made_files(tmp_path: Path) -> None:
    full = 'BEGIN { print "row" >"/dev/full"; if (close("/dev/full") != 0) exit 1 }'
    words = ["sh", str(FOLDER / "generate.sh"), str(tmp_path / "one"), full, "1", "10", "10", "10", str(PARTS)]
    made = subprocess.run(words, capture_output=True, text=True)
    assert made.returncode != 0
    assert "No space left on device" in made.stderr
    assert list(tmp_path.iterdir()) == []


def test_files_hold_about_a_megabyte(tables: dict[str, list[list[str]]]) -> None:
    size = sum(len("\t".join(row)) + 1 for rows in tables.values() for row in rows)
    assert 0.85e6 < size < 1.1e6


def test_keys_beyond_2_to_the_31_are_written_whole(tmp_path: Path) -> None:
    first = 3_000_000_000
    words = ["awk", "-v", "table=orders", "-v", f"directory={tmp_path}", "-v", "seed=1", "-v", f"orders={first}"]
    words += ["-v", f"customers={first}", "-v", "parts=1500000000", "-v", "first=1499999999", "-v", "step=1"]
    subprocess.run([*words, (FOLDER / "generate.awk").read_text()], check=True)
    rows = [line.split("\t") for line in (tmp_path / "orders.1499999999").read_text().splitlines()]
    assert [row[0] for row in rows] == [str(first - 1), str(first)]
    assert all(1 <= int(row[1]) <= first for row in rows)
