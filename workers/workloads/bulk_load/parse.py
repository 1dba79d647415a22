"""What the sessions of a load printed → seconds, rates and WAL of every step. Pure."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from results.domain import json_text
from results.domain.errors import ParseError, damaged
from results.domain.exit_status import ending
from results.domain.kinds.specs import Reading
from results.domain.measurement.parsed_trial import Event, Measurement, Part
from results.domain.messages import COMMA, SEMICOLON, linked
from results.domain.messages import gettext_lazy as _

from .data import TABLES, rows_of

_STEPS = ("copy", "primary keys", "foreign keys", "vacuum", "analyze")
_MARK = re.compile(r"(begin|end)\|([a-z ]+)\|([a-z_]+)\|(\d+)\|(\d+)")
_ROWS = re.compile(r"rows\|([a-z_]+)\|(\d+)")
_ERROR = re.compile(r"ERROR|FATAL|PANIC|error:|server closed the connection")
_PRIMARY_KEYS = sorted(TABLES)
_FOREIGN_KEYS = ["order_line -> item", "order_line -> orders", "orders -> customer"]


@dataclass(frozen=True)
class Span:
    """One statement, or several as one. Moments in µs of the server's clock, WAL positions in bytes."""

    step: str
    table: str
    begin_us: int
    end_us: int
    begin_wal: int
    end_wal: int

    @property
    def seconds(self) -> float:
        return (self.end_us - self.begin_us) / 1e6


@dataclass(frozen=True)
class Printed:
    """The marks of all sessions.

    rows: as COPY counted them.
    broken: (step, table) begun and never ended.
    """

    spans: tuple[Span, ...]
    rows: Mapping[str, int]
    broken: tuple[tuple[str, str], ...]

    @property
    def reached(self) -> str:
        """How far the load came, for a sentence: ' in copy of orders', ' after copy of item', ''."""
        if self.broken:
            step, table = self.broken[0]
            return _(" in {step} of {table}", step=step, table=table)
        last = max(self.spans, key=lambda span: span.end_us, default=None)
        return _(" after {step} of {table}", step=last.step, table=last.table) if last else ""


def parse(reading: Reading) -> Part:
    """stdout, stderr and exit of the load, files.json, and the check's own three → a Part. Raises ParseError for
    damaged files."""
    with damaged(_("not the marks of a load"), "stdout"):
        printed = read_marks(reading.files.get("stdout", ""))
    if failure := _broken_off(reading, printed):
        return Part(failure=failure)
    check = _json(reading, "check/stdout")
    with damaged(_("not the check of what was loaded"), "check/stdout", reading.files.get("check/stdout", "")):
        failure = _wrong(check, printed, rows_of(int(reading.parameters["size_mb"])))
    if failure:
        return Part(failure=failure)
    files = _json(reading, "files.json")
    sizes = reading.files.get("files.json", "")
    with damaged(_("not the sizes of what was loaded"), "files.json, check/stdout", sizes):
        return Part(
            measurements=(*_steps(printed.spans, check, files), *_sizes(check, files)),
            events=tuple(_events(printed.spans)),
        )


def read_marks(text: str, file: str = "stdout") -> Printed:
    """Every statement's span. Sessions run side by side: of the same step and table, any end is the end of any begin,
    since only spans of whole tables and steps are made of them. Raises ParseError."""
    open_at: dict[tuple[str, str], list[tuple[int, int]]] = {}
    spans: list[Span] = []
    rows = dict.fromkeys(TABLES, 0)
    for number, line in enumerate(text.splitlines(), 1):
        if (counted := _ROWS.fullmatch(line)) and counted[1] in rows:
            rows[counted[1]] += int(counted[2])
            continue
        mark = _MARK.fullmatch(line)
        key = (mark[2], mark[3]) if mark else ("", "")
        if mark is None or mark[3] not in rows or (mark[1] == "end" and not open_at.get(key)):
            raise ParseError(_("not a mark of the load"), file=file, line=number, text=line)
        if mark[1] == "begin":
            open_at.setdefault(key, []).append((int(mark[4]), int(mark[5])))
        else:
            begin_us, begin_wal = open_at[key].pop(0)
            spans.append(Span(*key, begin_us, int(mark[4]), begin_wal, int(mark[5])))
    return Printed(tuple(spans), rows, tuple(key for key, begins in open_at.items() if begins))


def _json(reading: Reading, name: str) -> Any:
    text = reading.files.get(name, "")
    try:
        return json_text.loads(text)
    except ValueError as error:
        raise ParseError(_("not JSON: {error}", error=str(error)), file=name, text=text) from None


def _broken_off(reading: Reading, printed: Printed) -> str:
    if failure := _ended_badly(reading, "", _("The load"), printed.reached):
        return failure
    if failure := _ended_badly(reading, "check/", _("The check of what was loaded"), ""):
        return failure
    done = {span.step for span in printed.spans}
    missing = [step for step in _STEPS if step not in done]
    return _("The load ended without {steps}.", steps=linked(COMMA, missing)) if missing else ""


def _ended_badly(reading: Reading, folder: str, doing: str, where: str) -> str:
    """Describe how the program whose output lies in this folder broke off; '' where it did not."""
    stderr = reading.files.get(f"{folder}stderr", "").strip()
    reason = next((line for line in stderr.splitlines() if _ERROR.search(line)), stderr[:600])
    if reading.files.get(f"{folder}timed_out", "").strip():
        message = _("{what} was still running at its deadline and was ended{where}.", what=doing, where=where)
        return _("{message} {output}", message=message, output=reason) if reason else message
    status = reading.files.get(f"{folder}exit", "").strip()
    if status != "0":
        ended = ending(int(status)) if status.isdigit() else _("ended with an unknown exit status")
        why = reason or _("it gave no reason")
        return _("{what} {ended}{where}: {why}", what=doing, ended=ended, where=where, why=why)
    return ""


def _wrong(check: Mapping[str, Any], printed: Printed, expected: Mapping[str, int]) -> str:
    """Describe how the tables differ from the plan; '' where they do not."""
    faults = [
        _(
            "{table} has {stored} rows and COPY counted {counted}, not {rows}",
            table=table,
            stored=check["rows"][table],
            counted=printed.rows[table],
            rows=rows,
        )
        for table, rows in expected.items()
        if not check["rows"][table] == printed.rows[table] == rows
    ]
    if sorted(check["primary_keys"]) != _PRIMARY_KEYS:
        found, due = str(check["primary_keys"]), str(_PRIMARY_KEYS)
        faults.append(_("valid primary keys are {found}, not {due}", found=found, due=due))
    if sorted(check["foreign_keys"]) != _FOREIGN_KEYS:
        found, due = str(check["foreign_keys"]), str(_FOREIGN_KEYS)
        faults.append(_("valid foreign keys are {found}, not {due}", found=found, due=due))
    if not faults:
        return ""
    together = linked(SEMICOLON, faults)
    return _("The tables are not what was to be loaded: {faults}.", faults=together)


def _steps(spans: Iterable[Span], check: Mapping[str, Any], files: Mapping[str, Any]) -> Iterator[Measurement]:
    all_spans = list(spans)
    of_files = {table: int(files[table]["bytes"]) for table in TABLES}
    yield from _span_measurements("", all_spans, TABLES, check, of_files)
    for step in _STEPS:
        of_step = [span for span in all_spans if span.step == step]
        tables = tuple(dict.fromkeys(span.table for span in of_step))
        sizes = of_files if step == "copy" else check["table_bytes"]
        yield from _span_measurements(step, of_step, tables, check, sizes)
        for table in tables:
            alone = not _overlapped(table, of_step)
            table_spans = [span for span in of_step if span.table == table]
            yield from _span_measurements(f"{step}: {table}", table_spans, (table,), check, sizes, wal=alone)


def _span_measurements(
    label: str,
    spans: list[Span],
    tables: Iterable[str],
    check: Mapping[str, Any],
    sizes: Mapping[str, int],
    *,
    wal: bool = True,
) -> Iterator[Measurement]:
    """Yield the measurements of several spans as one, from the first begin to the last end."""
    tables = tuple(tables)
    seconds = (max(span.end_us for span in spans) - min(span.begin_us for span in spans)) / 1e6
    yield Measurement("bulk.seconds", seconds, label=label)
    if seconds > 0:
        yield Measurement("bulk.rows_per_s", sum(check["rows"][t] for t in tables) / seconds, label=label)
        yield Measurement("bulk.bytes_per_s", sum(sizes[t] for t in tables) / seconds, label=label)
    if wal:
        written = max(span.end_wal for span in spans) - min(span.begin_wal for span in spans)
        yield Measurement("bulk.wal", written, label=label)


def _overlapped(table: str, spans: Iterable[Span]) -> bool:
    """Tell whether another table was written at the same time, so that the WAL of one is not known."""
    all_spans = list(spans)
    table_spans = [span for span in all_spans if span.table == table]
    begin, end = min(span.begin_us for span in table_spans), max(span.end_us for span in table_spans)
    return any(span.table != table and span.begin_us < end and begin < span.end_us for span in all_spans)


def _sizes(check: Mapping[str, Any], files: Mapping[str, Any]) -> Iterator[Measurement]:
    for metric, values in (
        ("bulk.rows", check["rows"]),
        ("bulk.file_bytes", {table: files[table]["bytes"] for table in TABLES}),
        ("bulk.table_bytes", check["table_bytes"]),
        ("bulk.index_bytes", check["index_bytes"]),
    ):
        yield Measurement(metric, float(sum(values[table] for table in TABLES)))
        for table in TABLES:
            yield Measurement(metric, float(values[table]), label=table)


def _events(spans: Iterable[Span]) -> Iterator[Event]:
    """Where each step began. The window begins with the first session, milliseconds before the first mark."""
    all_spans = list(spans)
    first_us = min(span.begin_us for span in all_spans)
    for step in _STEPS:
        begin_us = min(span.begin_us for span in all_spans if span.step == step)
        yield Event((begin_us - first_us) / 1e6, "primary", "step", step)
