"""Every replicate of a comparison as a row: CSV, Excel, Parquet."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from results.domain.statistics.verdict import Verdict
from results.queries.comparison.cells import Comparison, Key, LeftOut, Point
from webapp.spreadsheets import shown_as_text

COLUMNS = (
    "panel",
    "x",
    "series",
    "metric",
    "unit",
    "node",
    "label",
    "per",
    "run",
    "configuration",
    "trial",
    "attempt",
    "block",
    "position",
    "value",
    "outlier",
    "statistic",
    "cell",
    "baseline",
    "ratio",
    "verdict_ratio",
    "low",
    "high",
    "verdict",
    "rule",
    "p",
    "adjusted",
    "across_runs",
    "runs",
    "level",
    "configurations",
    "compared",
    "left_out",
)


def as_csv(comparison: Comparison) -> str:
    """Return one row a replicate, with all that identifies it and what was made of its cell; every digit of it. No text
    of a user's is a formula (`shown_as_text`)."""
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(COLUMNS)
    writer.writerows(map(shown_as_text, row) for row in _rows(comparison))
    return text.getvalue()


def _rows(comparison: Comparison) -> Iterator[tuple[Any, ...]]:
    left_out: dict[Key, list[LeftOut]] = {}
    for one in comparison.left_out:
        left_out.setdefault((one.panel, one.x, one.series), []).append(one)
    for point in comparison.points:
        before, after = _of_cell(comparison, point, left_out.get(point.key, ()))
        for r in point.values:
            yield (
                *before,
                r.run_id,
                r.configuration_id,
                r.trial_id,
                r.attempt_id,
                r.block,
                r.position,
                r.value,
                int(r.trial_id in point.outliers),
                *after,
            )


def _of_cell(
    comparison: Comparison, point: Point, left_out: Sequence[LeftOut]
) -> tuple[tuple[Any, ...], tuple[Any, ...]]:
    """Return what stands before and after the columns of a replicate in each row of a cell."""
    chosen, metric = comparison.selection, comparison.metric
    node, label = ("" if name in chosen.axes else getattr(chosen, name) for name in ("node", "label"))
    before = (point.panel, point.x, point.series, metric.name, metric.unit, node, label, chosen.per)
    base = f"{point.base[2]} at {point.base[1]}" if point.base else ""
    verdict = _judged(point.verdict)
    configurations = point.configurations, point.compared, "; ".join(map(_one_left_out, left_out))
    return before, (chosen.statistic, point.value, base, point.ratio, *verdict, *configurations)


def _one_left_out(one: LeftOut) -> str:
    """'clients=4 scale=10'; of the baseline's 'baseline: clients=8'."""
    levels = " ".join(f"{name}={level}" for name, level in one.levels.items())
    return levels if one.lacks == "baseline" else f"baseline: {levels}"


def _judged(verdict: Verdict | None) -> tuple[Any, ...]:
    if verdict is None:
        return (None,) * 10
    found = (verdict.ratio, verdict.low, verdict.high, verdict.kind.value, verdict.rule)
    return *found, verdict.p, verdict.adjusted, int(verdict.across_runs), verdict.runs, verdict.level


def as_excel(comparison: Comparison, facts: Mapping[str, Any]) -> bytes:
    """Return a workbook: the replicates, and on a second sheet the provenance."""
    import xlsxwriter

    file = io.BytesIO()
    options = {"in_memory": True, "strings_to_formulas": False, "strings_to_urls": False, "strings_to_numbers": False}
    with xlsxwriter.Workbook(file, options) as workbook:
        bold = workbook.add_format({"bold": True})
        sheet = workbook.add_worksheet("replicates")
        sheet.write_row(0, 0, COLUMNS, bold)
        sheet.freeze_panes(1, 0)
        for number, row in enumerate(_rows(comparison), 1):
            sheet.write_row(number, 0, row)
        sheet.autofilter(0, 0, max(sum(point.n for point in comparison.points), 1), len(COLUMNS) - 1)
        sheet.autofit()
        about = workbook.add_worksheet("provenance")
        for number, line in enumerate(json.dumps(facts, ensure_ascii=False, indent=1).splitlines()):
            about.write_string(number, 0, line)
    return file.getvalue()


def as_parquet(comparison: Comparison, facts: Mapping[str, Any]) -> bytes:
    """Return the replicates with their types; the provenance is in the file's metadata."""
    import pyarrow  # 30 MB, which most processes never need
    import pyarrow.parquet

    columns = list(zip(*_rows(comparison), strict=True)) or [()] * len(COLUMNS)
    types = dict.fromkeys(_WHOLE, pyarrow.int64()) | dict.fromkeys(_REAL, pyarrow.float64())
    schema = pyarrow.schema([(name, types.get(name, pyarrow.string())) for name in COLUMNS])
    arrays = [pyarrow.array(values, field.type) for values, field in zip(columns, schema, strict=True)]
    file = io.BytesIO()
    metadata = {b"provenance": json.dumps(facts, ensure_ascii=False).encode()}
    pyarrow.parquet.write_table(pyarrow.table(arrays, schema).replace_schema_metadata(metadata), file)
    return file.getvalue()


_OF_TRIALS = ("run", "configuration", "trial", "attempt", "block", "position", "outlier")
_WHOLE = (*_OF_TRIALS, "rule", "across_runs", "runs", "configurations", "compared")
_REAL = ("value", "cell", "ratio", "verdict_ratio", "low", "high", "p", "adjusted", "level")
