"""The rows of the comparison's table: whatever texts the warehouse holds, none of them becomes markup."""

from __future__ import annotations

import re
from html.parser import HTMLParser

import pytest

from tests.page_text import as_read
from webapp.compare.rows import rows_after, rows_in_html
from webapp.compare.table import Bar, Cell, Section, Table, TableRow

NASTY = """<b onclick="x">&'"""


def cell(**changes: object) -> Cell:
    given = {
        "value": NASTY,
        "ratio": "×1.500",
        "kind": "too-few",
        "words": NASTY,
        "interval": NASTY,
        "bar": Bar("40.0", "20.0", "50.0"),
        "dots": "M0 6h0M100 6h0",
        "count": "n=2, 1 outlier",
        "place": f'at="&of={NASTY}',
        "mixed": True,
        "lacks": NASTY,
    }
    return Cell(**given | changes)


def rows(*cells: Cell | None) -> str:
    row = TableRow(NASTY, NASTY, 0, True, cells)
    table = Table("tps", ((0, "16", "16"),), "16", (Section("", (row,), ()),), "49.0", "2.0", True)
    return as_read(rows_in_html([row], table, 1, f'run=1&x="{NASTY}'))


class Read(HTMLParser):
    def __init__(self, text: str) -> None:
        super().__init__()
        self.tags: list[str] = []
        self.attributes: list[tuple[str, str | None]] = []
        self.text = ""
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append(tag)
        self.attributes += attrs

    def handle_data(self, data: str) -> None:
        self.text += data


def test_no_text_becomes_markup() -> None:
    read = Read(rows(cell(), None, cell()))
    assert "onclick" not in [name for name, _ in read.attributes]
    assert read.tags.count("b") == 2
    assert read.text.count(NASTY) == 7  # x, two values, two words, and twice what they lack
    assert ("data-count", NASTY) in read.attributes
    assert ("aria-label", f"Count {NASTY} in the summary") in read.attributes
    assert ("href", f"""cell/?run=1&x="{NASTY}&at="&of={NASTY}""") in read.attributes


def test_a_cell_says_what_is_special_about_it() -> None:
    assert "n=2, 1 outlier<" in rows(cell(lacks=""))
    assert "n=2<" in rows(cell(count="n=2", lacks=""))
    assert "n=2, <small>about 4 more<" in rows(cell(count="n=2", lacks="about 4 more"))
    assert "mixed" not in rows(cell(mixed=False))
    assert 'class="cell base"' in rows(cell(ratio="", kind=""))


def test_a_verdict_is_no_button() -> None:
    read = Read(rows(cell()))
    assert "button" not in read.tags and "form" not in [name for name, _ in read.attributes]


def test_rows_come_in_parts_that_say_where_sections_begin_and_end(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("webapp.compare.rows.AT_ONCE", 4)
    first, second = (
        Section(name, tuple(TableRow(x, f"{name}{x}", 0, True, (cell(), None)) for x in levels), ())
        for name, levels in (("a", "123"), ("b", "12"))
    )
    table = Table("tps", ((0, "16", "16"), (1, "18", "18")), "16", (first, second), "49.0", "2.0", True)
    seen = []
    for after in (0, 2, 4, 5):
        rows = rows_after(table, "run=1", after)
        parts = [
            (part.section.panel, re.findall(r"> (\w\d)</th>", part.rows), part.begins, part.ends) for part in rows.parts
        ]
        seen.append((parts, rows.shown, rows.all))
    assert seen == [
        ([("a", ["a1", "a2"], True, False)], 2, 5),
        ([("a", ["a3"], False, True), ("b", ["b1"], True, False)], 4, 5),
        ([("b", ["b2"], False, True)], 5, 5),
        ([], 5, 5),
    ]
