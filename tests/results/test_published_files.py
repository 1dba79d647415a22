"""A published table that is described wrongly: the error names the file, the line and what is wrong."""

from __future__ import annotations

import re
import tomllib
from pathlib import Path

import pytest

from results.domain.errors import ParseError
from results.published.catalogue import TABLES, read_tables, translations
from results.published.tables import FOLDER, METRICS, Derived, Figure
from workers.registry import known_metrics

_REPORTS = """
[[reports]]
title = "A report"
publisher = "Somebody"
year = 2019
licence = "CC0"
tables = ["speed"]
"""
_TABLE = """
place = "Table 1"
caption = "Speed by clients"
workload = "pgbench"
headline = "tps"

[conditions]
scale = 10

[[trials]]
levels.clients = { column = "clients", type = "integer" }
more.build = { column = "build", values = { a = "16.4", b = "17.1" } }

[[trials.figures]]
metric = "tps"
column = "tps"

[[trials.figures]]
metric = "latency.mean"
column = "ms"
unit = "ms"
base_unit = "us"
label = "{build}"

[[quotients]]
column = "each"
words = "tps / clients of {build}"
numerator = ["tps"]
denominator = "clients"
"""
_ROWS = "clients,build,tps,ms,each\n1,a,100,10,100\n2,b,190,10.5,95\n"


def written(folder: Path, *, table: str = _TABLE, rows: str = _ROWS, reports: str = _REPORTS) -> Path:
    (folder / "reports.toml").write_text(reports.lstrip("\n"), encoding="utf-8")
    (folder / "speed.toml").write_text(table.lstrip("\n"), encoding="utf-8")
    (folder / "speed.csv").write_text(rows, encoding="utf-8")
    return folder


def test_a_table_is_two_files_and_a_line_in_the_list_of_reports(tmp_path: Path) -> None:
    (table,) = read_tables(written(tmp_path))
    assert (table.slug, table.report.title, table.dimensions) == ("speed", "A report", {"scale": 10})
    first, second = table.trials
    assert first.figures == (Figure("tps", 100.0, 2, "tps"), Figure("latency.mean", 10000.0, 2, "ms", label="a"))
    assert (second.levels, second.more) == ({"clients": 2}, {"build": "17.1"})
    assert table.derived[1] == Derived(3, "each", "tps / clients of b", "95", 95.0)


@pytest.mark.parametrize(
    ("old", "new", "expected"),
    [
        ("type =", "kind =", r"^speed\.toml:10: trials\[0\]\.levels\['clients'\]: there is no field kind\.$"),
        ("scale = 10", "scale = [10]", r"^speed\.toml:7: conditions\['scale'\]: \[10\] .*not part of str \| int"),
        ('headline = "tps"\n', "", r"^speed\.toml:1: headline: this field is missing\.$"),
        ('unit = "ms"\n', "unit = 3\n", r"^speed\.toml:20: trials\[0\]\.figures\[1\]\.unit: 3 is not text\.$"),
        ('column = "ms"', 'column = "µs"', r"^speed\.toml:19: .*no column 'µs', but build, clients, each, ms, tps\.$"),
        ('["tps"]', '["tp"]', r"^speed\.toml:27: quotients\[0\]\.numerator: the table has no column 'tp'"),
        ("place = ", "place == ", r"^speed\.toml:1: The file is not TOML"),
        (
            'base_unit = "us"',
            'base_unit = "B"',
            r"^speed\.csv:2: Column ms is in ms, which is not a multiple of 'B'\.$",
        ),
        ('"{build}"', '"{built}"', r"^speed\.csv:2: The words '\{built\}' cannot be filled in: 'built'\.$"),
    ],
)
def test_a_wrong_description_is_named_with_its_line(tmp_path: Path, old: str, new: str, expected: str) -> None:
    assert old in _TABLE
    with pytest.raises(ParseError) as raised:
        read_tables(written(tmp_path, table=_TABLE.replace(old, new, 1)))
    assert re.search(expected, str(raised.value)), raised.value


@pytest.mark.parametrize(
    ("old", "new", "expected"),
    [
        ("190", "19O", r"^speed\.csv:3: Column tps is not a number\. '19O'$"),
        ("\n2,", "\n2.5,", r"^speed\.csv:3: Column clients is not a whole number\. '2\.5'$"),
        (",b,", ",c,", r"^speed\.csv:3: Column build is none of a, b\. 'c'$"),
        ("10.5,95", "10.5", r"^speed\.csv:3: The row has 4 cells, the heading 5\. '2,b,190,10\.5'$"),
        ("100,10,100", '100,"10"0,100', r"^speed\.csv:2: The file is not CSV"),
        ("190", "", r"^speed\.csv:3: Column tps is not a number\.$"),
    ],
)
def test_a_wrong_row_is_named_with_its_line(tmp_path: Path, old: str, new: str, expected: str) -> None:
    assert old in _ROWS
    with pytest.raises(ParseError) as raised:
        read_tables(written(tmp_path, rows=_ROWS.replace(old, new, 1)))
    assert re.search(expected, str(raised.value)), raised.value


_JAPANESE = """
[ja]
place = "表1"
caption = "クライアント数ごとの速さ"
notes = []
words = { "tps / clients of {build}" = "{build}のtps÷クライアント数" }
"""


def test_a_table_is_translated_by_its_own_file(tmp_path: Path) -> None:
    report = '\n[reports.ja]\ntitle = "報告書"\npublisher = "ある人"\nlicence = "CC0"\n'
    folder = written(tmp_path, table=_TABLE + _JAPANESE, reports=_REPORTS + report)
    assert translations(folder, "ja") == {
        "A report": "報告書",
        "Somebody": "ある人",
        "CC0": "CC0",
        "Table 1": "表1",
        "Speed by clients": "クライアント数ごとの速さ",
        "tps / clients of a": "aのtps÷クライアント数",
        "tps / clients of b": "bのtps÷クライアント数",
    }


def test_translations_change_nothing_of_a_table(tmp_path: Path) -> None:
    (table,) = read_tables(written(tmp_path))
    (translated,) = read_tables(written(tmp_path, table=_TABLE + _JAPANESE))
    assert translated == table


@pytest.mark.parametrize(
    ("old", "new", "expected"),
    [
        ("notes =", "remarks =", r"^speed\.toml:30: ja: there is no field remarks"),
        ("caption =", "title =", r"^speed\.toml:30: ja\.caption: this field is missing"),
        ("notes = []", 'notes = ["備考"]', r"^speed\.toml:33: ja\.notes: 0 notes have 1 translations"),
        ("clients of", "client of", r"^speed\.toml:34: ja\.words\..*no such words\. Did you mean tps / clients of"),
    ],
)
def test_a_wrong_translation_is_named_with_its_line(tmp_path: Path, old: str, new: str, expected: str) -> None:
    assert old in _JAPANESE
    with pytest.raises(ParseError) as raised:
        read_tables(written(tmp_path, table=_TABLE + _JAPANESE.replace(old, new, 1)))
    assert re.search(expected, str(raised.value)), raised.value


def test_a_table_that_is_listed_and_not_there_is_named(tmp_path: Path) -> None:
    written(tmp_path, reports=_REPORTS.replace('"speed"', '"sped"'))
    with pytest.raises(ParseError, match=r"^sped\.csv: There is no such file, though reports\.toml lists it\.$"):
        read_tables(tmp_path)


def test_a_report_without_a_year_is_named(tmp_path: Path) -> None:
    written(tmp_path, reports=_REPORTS.replace("year = 2019\n", ""))
    with pytest.raises(ParseError, match=r"^reports\.toml:1: reports\[0\]\.year: this field is missing\.$"):
        read_tables(tmp_path)


def test_every_figure_that_is_converted_ends_in_the_unit_of_its_metric() -> None:
    units = {metric.name: metric.unit for metric in (*METRICS, *known_metrics())}
    converted = 0
    for table in TABLES:
        description = tomllib.loads((FOLDER / f"{table.slug}.toml").read_text(encoding="utf-8"))
        for figure in (figure for trial in description["trials"] for figure in trial.get("figures", ())):
            if "base_unit" in figure:
                converted += 1
                assert figure["base_unit"] == units[figure["metric"]], table.slug
    assert converted
