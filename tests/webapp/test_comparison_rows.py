"""The rows of the comparison's table: whatever texts the warehouse holds, none of them becomes markup."""

from __future__ import annotations

from html.parser import HTMLParser

from tests.page_text import as_read
from webapp.compare.rows import rows_in_html
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
