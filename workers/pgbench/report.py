"""Parse pgbench's final report (its standard output), 9.5 to 18. Pure."""

from __future__ import annotations

import math
import re
from dataclasses import dataclass, field

from results.domain.errors import ParseError
from results.domain.messages import gettext_lazy as _
from results.domain.secrets import masked_end

# a whole one: of '1,5', as another locale would print it, the 1 is none
_NUMBER = r"(-?(?:\d++(?:\.\d*+)?|\.\d++)(?:e[-+]?\d++)?|-?nan|-?inf)(?![\w.,])"
_MS = 1000.0

# A line: its pattern, then (metric, label, factor) for each of the pattern's groups.
_Values = tuple[tuple[str, str, float], ...]
_TOTALS: tuple[tuple[str, _Values], ...] = (
    (rf"number of transactions actually processed: {_NUMBER}", (("transactions", "", 1),)),
    (rf"number of failed transactions: {_NUMBER}", (("failed", "", 1),)),
    (rf"number of serialization failures: {_NUMBER}", (("failed", "serialization", 1),)),
    (rf"number of deadlock failures: {_NUMBER}", (("failed", "deadlock", 1),)),
    (rf"number of transactions retried: {_NUMBER}", (("retried", "", 1),)),
    (rf"total number of retries: {_NUMBER}", (("retries", "", 1),)),
    (rf"number of transactions skipped: {_NUMBER}", (("skipped", "", 1),)),
    (rf"number of transactions above the .* latency limit: {_NUMBER}", (("late", "", 1),)),
    (rf"latency average(?: =|:) {_NUMBER} ms", (("latency.mean", "", _MS),)),
    (rf"latency stddev(?: =|:) {_NUMBER} ms", (("latency.sd", "", _MS),)),
    (
        rf"rate limit schedule lag: avg {_NUMBER} \(max {_NUMBER}\) ms",
        (("schedule.lag", "", _MS), ("schedule.lag.max", "", _MS)),
    ),
    (rf"initial connection time = {_NUMBER} ms", (("connection.time", "", _MS),)),
    (rf"average connection time = {_NUMBER} ms", (("connection.mean", "", _MS),)),
    (rf"tps = {_NUMBER} \((?:excluding|without)", (("tps", "", 1),)),
    (rf"tps = {_NUMBER} \(including", (("tps.including", "", 1),)),
)
# ' - 123 transactions (90.1% of total, tps = 456)' to 17; from 18 the tps is on a line of its own
_SCRIPT_LINES: tuple[tuple[str, _Values], ...] = (
    (rf"{_NUMBER} transactions \(.* of total, tps = {_NUMBER}\)", (("transactions", "", 1), ("tps", "", 1))),
    (
        rf"number of transactions actually processed: {_NUMBER} \(tps = {_NUMBER}\)",
        (("transactions", "", 1), ("tps", "", 1)),
    ),
    *_TOTALS[1:],
)
# A line that begins like this and matches no pattern above is damaged.
_BEGINNINGS = (
    "number of transactions actually",
    "number of transactions above",
    "number of transactions retried",
    "number of transactions skipped",
    "number of failed",
    "number of serialization failures",
    "number of deadlock failures",
    "total number of retries",
    "latency average",
    "latency stddev",
    "rate limit schedule lag",
    "initial connection",
    "average connection",
    "tps =",
)
# how 9.6 and later indent a statement; a continued line of the command above it may begin with a number too
_STATEMENT_COLUMN = re.compile(r"(?=.{10}(?:\.\d{3}|[- ]nan) ) {3}", re.ASCII)
_MIXTURE = "transaction type: multiple scripts"  # from 9.6, which has a section for each of them
_HALF_OF_THE_RATES = "(including connections establishing)"  # to 13, before the line that excludes them


@dataclass(frozen=True)
class StatementLine:
    """One line of `pgbench -r`.

    number: position in its script, from 1
    text: its first line
    latency_us: None where it never ran (9.6 prints -nan)
    failures, retries: None where this version does not print them
    """

    number: int
    text: str
    latency_us: float | None
    failures: int | None
    retries: int | None


@dataclass
class Section:
    """The whole report, or its section about one script.

    values: (metric, label) → value in base units.
    lines: the patterns of the lines that it has."""

    values: dict[tuple[str, str], float] = field(default_factory=dict)
    statements: list[StatementLine] = field(default_factory=list)
    lines: set[str] = field(default_factory=set)


@dataclass
class Report:
    """A report.

    scripts: a section for each script of a mixture, in pgbench's order; empty for a single script."""

    total: Section = field(default_factory=Section)
    scripts: list[Section] = field(default_factory=list)


def read_report(text: str, file: str = "stdout") -> Report:
    """Parse a report. Lines of other programs are ignored. Raises ParseError for a damaged line."""
    report = Report()
    section, columns, continues = report.total, 0, False
    for number, line in enumerate(text.splitlines(), 1):
        if line.startswith("SQL script "):
            section, columns, continues = Section(), 0, False
            report.scripts.append(section)
            continue
        stripped = line.strip().removeprefix("- ")
        if stripped.startswith("statement latencies in milliseconds"):
            columns = 1 + ("failures" in stripped) + ("retries" in stripped)
            section.lines.add("statements")
            continue
        parse_error = ParseError(_("not a line of pgbench's report"), file=file, line=number, text=line)
        if not columns:
            _read_line(section, stripped, bool(report.scripts), parse_error)
        elif continues and not _STATEMENT_COLUMN.match(line):
            continues = line.endswith("\\")
        elif statement := _statement(line, columns, len(section.statements) + 1):
            section.statements.append(statement)
            continues = statement.text.startswith("\\") and line.endswith("\\")
        elif stripped and line[0].isspace():
            raise parse_error  # the statements after it would be numbered wrongly
    return report


def require_whole(report: Report, text: str, scripts: int, file: str = "stdout") -> None:
    """Raise ParseError for the report of a run that ended well, where the report itself was cut off.

    scripts: how many were run
    """
    if reason := _why_cut_off(report, text, scripts):
        raise ParseError(_("the report was cut off: {reason}", reason=reason), file=file, text=masked_end(text, 199))


def _why_cut_off(report: Report, text: str, scripts: int) -> str:
    if not text.endswith("\n"):
        return _("its last line has no end")
    if missing := [name for name in ("transactions", "tps") if not _has(report, name)]:
        return _("there is no line of {name}", name=missing[0])
    if _HALF_OF_THE_RATES in text and ("tps", "") not in report.total.values:
        return _("there is no line of tps without the time of connecting")
    if (report.scripts or _MIXTURE in text) and not _has_all(report, scripts):
        return _(
            "{count} of {scripts} scripts are there, or lines of one are missing",
            count=len(report.scripts),
            scripts=scripts,
        )
    has_all = all(map(_has_its_statements, (report.total, *report.scripts)))
    return "" if has_all else _("it has no latencies of statements")


def _has_all(report: Report, scripts: int) -> bool:
    """Whether the sections are all there and alike; of a script that never ran pgbench prints no latency."""
    counted = all(("transactions", "") in section.values for section in report.scripts)
    kinds_of_lines = {frozenset(section.lines) for section in report.scripts if _ran(section)}
    return counted and len(report.scripts) == scripts and len(kinds_of_lines) <= 1


def _ran(section: Section) -> bool:
    """Whether a script ran at all; to 14 the count of its transactions includes those that were skipped."""
    count = section.values.get(("transactions", ""))
    return bool(count) and count != section.values.get(("skipped", ""))


def _has_its_statements(section: Section) -> bool:
    return "statements" not in section.lines or bool(section.statements)


def _has(report: Report, metric: str) -> bool:
    return any((name, "") in report.total.values for name in (metric, f"{metric}.including"))


def _read_line(section: Section, line: str, in_script: bool, parse_error: ParseError) -> None:
    for pattern, values in _SCRIPT_LINES if in_script else _TOTALS:
        if match := re.match(pattern, line, re.IGNORECASE | re.ASCII):
            section.lines.add(pattern)
            for (metric, label, factor), text in zip(values, match.groups(), strict=True):
                if text.lower().endswith(("nan", "inf")):
                    continue  # nan, and to 9.5 inf, where nothing was counted
                value = float(text) * factor
                if math.isinf(value):
                    raise parse_error
                if section.values.setdefault((metric, label), value) != value:
                    raise parse_error  # it is there with another value already
            return
    if line.startswith(_BEGINNINGS):
        raise parse_error


def _statement(line: str, columns: int, number: int) -> StatementLine | None:
    match = re.match(r"^\s+(\d+\.\d+|-?nan)\s+" + r"(\d{1,18})\s+" * (columns - 1) + r"(\S.*)$", line, re.ASCII)
    if match is None:
        return None
    latency, *counts, text = match.groups()
    failures, retries = [*(int(count) for count in counts), None, None][:2]
    latency_us = None if "nan" in latency else round(float(latency) * _MS, 3)
    return StatementLine(number, text, latency_us, failures, retries)
