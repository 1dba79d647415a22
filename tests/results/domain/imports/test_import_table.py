"""A CSV file with a mapping: decimal marks, thousands, encodings, and cells that are no numbers."""

from __future__ import annotations

import pytest

from results.domain.errors import ImportedFileError
from results.domain.imports.table import (
    Column,
    CsvOptions,
    Role,
    read_rows,
    read_trials,
    suggested_columns,
    suggested_decimal,
    suggested_delimiter,
)
from results.domain.imports.text import possible_encodings, suggested_encoding, to_text
from results.domain.imports.values import ImportedTrial, TextFile
from results.domain.measurement.metrics import Better, Metric
from tests.imported import text_file

KNOWN = {
    "tps": Metric("tps", "tps", Better.HIGHER, "Transactions per second"),
    "latency.mean": Metric("latency.mean", "us", Better.LOWER, "Mean latency"),
}
TPS = Column(Role.METRIC, "tps", "tps", Better.HIGHER)
FACTOR = Column(Role.FACTOR, "version")


def trials(text: str, columns: dict[str, Column], delimiter: str = ",", decimal: str = ".") -> list[ImportedTrial]:
    rows = read_rows(TextFile("a.csv", text), delimiter)
    return read_trials("a.csv", rows, CsvOptions(decimal, columns), KNOWN)


def refused(text: str, columns: dict[str, Column], delimiter: str = ",", decimal: str = ".") -> ImportedFileError:
    with pytest.raises(ImportedFileError) as caught:
        trials(text, columns, delimiter, decimal)
    return caught.value


def value(text: str, decimal: str = ".", column: Column = TPS) -> float:
    return trials(f'v|x\n16|"{text}"\n', {"x": column}, delimiter="|", decimal=decimal)[0].part.measurements[0].value


def test_a_row_is_a_trial_with_levels_values_and_where_they_stand() -> None:
    first, second = trials("version,tps\n16.4,1000\n17.2,1300.5\n", {"version": FACTOR, "tps": TPS})
    assert (first.levels, first.source) == ({"version": "16.4"}, "a.csv:2")
    assert second.part.measurements[0].value == 1300.5
    assert second.places == {("tps", ""): "line 3, column tps"}


@pytest.mark.parametrize(
    ("text", "decimal", "expected"),
    [
        ("1234.5", ".", 1234.5),
        ("1,234.5", ".", 1234.5),
        ("1.234,5", ",", 1234.5),
        ("1 234,5", ",", 1234.5),
        ("1\u00a0234\u202f567,5", ",", None),
        ("1\u00a0234,5", ",", 1234.5),
        ("12'345.6", ".", 12345.6),
        ("-.5", ".", -0.5),
        ("1e3", ".", 1000.0),
        ("1,5", ".", None),
        ("1.5", ",", None),
        ("12,34,567", ".", None),
        ("1.234", ",", 1234.0),
        ("0.234", ",", None),
        ("0,234", ".", None),
        ("nan", ".", None),
        ("Infinity", ".", None),
        ("1e999", ".", None),
        ("١٢", ".", None),
        ("12 ms", ".", None),
        ("1_000", ".", None),
    ],
)
def test_numbers_with_decimal_marks_and_thousands(text: str, decimal: str, expected: float | None) -> None:
    if expected is not None:
        assert value(text, decimal) == expected
        return
    error = refused(f'v|x\n16|"{text}"\n', {"x": TPS}, delimiter="|", decimal=decimal)
    assert (error.what, error.where) == ("The cell is not a number.", "a.csv:2, column x")
    assert error.todo


def test_the_other_decimal_mark_is_suggested() -> None:
    error = refused("v;x\n16;1,5\n", {"x": TPS}, delimiter=";")
    assert error.todo == "With ',' as decimal mark it would be 1.5: choose that, or correct the cell."


def test_units_become_those_of_the_metric() -> None:
    assert value("7.5", column=Column(Role.METRIC, "latency.mean", "ms", Better.LOWER)) == 7500
    assert value("2", column=Column(Role.METRIC, "latency.mean", "s", Better.LOWER)) == 2_000_000
    assert value("3", column=Column(Role.METRIC, "size", "MB")) == 3 * 1024**2
    assert value("250", column=Column(Role.METRIC, "load", "ms", Better.LOWER)) == 0.25


@pytest.mark.parametrize(
    ("column", "what"),
    [
        (Column(Role.METRIC, "tps", "ms", Better.HIGHER), "tps is in tps in this warehouse, and in ms here."),
        (Column(Role.METRIC, "tps", "tps", Better.LOWER), "Of tps, higher is better in this warehouse."),
        (Column(Role.METRIC, "", "tps"), "'' is no name."),
        (Column(Role.METRIC, "Größe", ""), "'Größe' is no name."),
        (Column(Role.IGNORED), "No column is a metric."),
    ],
)
def test_a_mapping_that_cannot_be(column: Column, what: str) -> None:
    assert refused("v,x\n16,1\n", {"x": column}).what == what


def test_an_empty_cell_is_not_measured_and_a_row_of_them_is_refused() -> None:
    columns = {"a": TPS, "b": Column(Role.METRIC, "b")}
    assert [one.metric for one in trials("a,b\n1,\n", columns)[0].part.measurements] == ["tps"]
    assert refused("a,b,c\n,,1\n", columns).where == "a.csv:2"


@pytest.mark.parametrize(
    ("text", "where", "what"),
    [
        ("a,a\n1,2\n", "a.csv:1", "Two columns are called 'a'."),
        ("a,,\n1,2,3\n", "a.csv:1", "Two columns have no heading."),
        ("a\n1\n", "a.csv:1", "The table has one column."),
        ("a,b\n", "a.csv", "The table has a heading and no rows."),
        ("a,b\n1,2\n3\n", "a.csv:3", "The row has 1 cells, the heading 2."),
        ('a,b\n1,"2\n', "a.csv:2", "The file is not CSV."),
    ],
)
def test_a_table_that_is_none(text: str, where: str, what: str) -> None:
    error = refused(text, {"b": TPS})
    assert (error.where, error.what) == (where, what)
    assert error.todo


def test_two_rows_that_are_the_same_replicate_are_refused() -> None:
    columns = {"v": FACTOR, "r": Column(Role.REPLICATE), "x": TPS}
    error = refused("v,r,x\n16,1,5\n16,2,6\n16,1,7\n", columns)
    assert error.where == "a.csv:4, column r"
    assert "line 2" in error.what
    assert len(trials("v,r,x\n16,1,5\n17,1,6\n", columns)) == 2


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "cp932", "euc_jp", "utf-16"])
def test_japanese_tables_are_read_in_what_they_are_written_in(encoding: str) -> None:
    file = text_file("a.csv", "版,スループット性能ー\n16,1000\n", encoding)
    suggested = suggested_encoding(file.content)
    assert suggested == encoding.removesuffix("-sig")
    assert list(read_rows(to_text(file, suggested), ",")[0].cells) == ["版", "スループット性能ー"]


@pytest.mark.parametrize("text", ["modèle,tps\n16,1\n", "Läufe,tps\n16,1\n"])
def test_letters_that_stand_alone_are_latin_1(text: str) -> None:
    content = text.encode("latin-1")
    assert suggested_encoding(content) == "latin-1"
    assert possible_encodings(content) == ["cp932", "latin-1"]


def test_ascii_utf_8_and_byte_order_marks_leave_no_doubt() -> None:
    for text, encoding in (("v,x\n", "ascii"), ("版,é\n", "utf-8"), ("版,é\n", "utf-16")):
        assert len(possible_encodings(text.encode(encoding))) == 1


def test_the_wrong_encoding_names_the_line_and_one_that_may_fit() -> None:
    file = text_file("a.csv", "v,x\n速度,1\n", "cp932")
    with pytest.raises(ImportedFileError) as caught:
        to_text(file)
    assert caught.value.where == "a.csv:2"
    assert "Shift_JIS (CP932)" in caught.value.todo


def test_versions_and_thousands_do_not_hide_decimal_commas() -> None:
    rows = read_rows(TextFile("a.csv", "version;tps;n;備考\n16.4;1.000,5;1.200;x\n17.2;900;1.300;\n"), ";")
    assert suggested_decimal(rows) == ","
    columns = suggested_columns(rows, ",", KNOWN)
    assert [column.role for column in columns.values()] == [Role.FACTOR, Role.METRIC, Role.IGNORED, Role.IGNORED]


@pytest.mark.parametrize(
    ("cells", "mark"),
    [
        (["1,198", "1,178", "2,126"], ""),
        (["1.198"], ""),
        (["1,198", "0,198"], ","),
        (["1,198", "1972.3"], "."),
        (["1,198", "1972.3", "7,5"], ""),
        (["1972.3", "7.5", "7,5"], "."),
        (["1198", "note, or none"], "."),
        (["1198"] * 5000 + ["1,198"], ""),
    ],
)
def test_a_decimal_mark_is_suggested_only_where_a_cell_decides(cells: list[str], mark: str) -> None:
    table = "\n".join(["clients;latency.mean", *(f"1;{cell}" for cell in cells)])
    assert suggested_decimal(read_rows(TextFile("a.csv", table), ";")) == mark


def test_more_columns_or_cells_than_are_read_at_once_are_refused() -> None:
    headings = ",".join(f"c{number}" for number in range(201))
    assert refused(f"{headings}\n", {}).what == "201 columns are too many."
    wide = [",".join(f"c{number}" for number in range(200)), *([",".join("1" * 200)] * 2001)]
    assert refused("\n".join(wide), {}).what == "The table has more than 400,000 cells."


def test_delimiter_decimal_and_columns_are_suggested() -> None:
    file = TextFile("a.csv", "version;rep;tps;note\n16;1;1,5;x\n17;1;2,5;y\n")
    assert suggested_delimiter(file.text) == ";"
    rows = read_rows(file, ";")
    assert suggested_decimal(rows) == ","
    columns = suggested_columns(rows, ",", KNOWN)
    assert {name: column.role for name, column in columns.items()} == {
        "version": Role.FACTOR,
        "rep": Role.REPLICATE,
        "tps": Role.METRIC,
        "note": Role.FACTOR,
    }
