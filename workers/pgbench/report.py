"""Parse pgbench's final report (its standard output), 9.5 to 18. Pure."""

from __future__ import annotations

import math
import re
from dataclasses import dataclass, field

from results.domain.errors import ParseError

# a whole one: of '1,5', as another locale would print it, the 1 is none
_NUMBER = r"(-?(?:\d+\.?\d*|\.\d+)(?:e[-+]?\d+)?|-?nan|-?inf)(?![\w.,])"
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
_MIXTURE = "transaction type: multiple scripts"  # from 9.6, which has a section for each of them
_HALF_OF_THE_RATES = "(including connections establishing)"  # to 13, before the line that excludes them


@dataclass(frozen=True)
class StatementLine:
    """One line of `pgbench -r`.

    number: position in its script, from 1
    failures, retries: None where this version does not print them
    """

    number: int
    text: str
    latency_us: float
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
    section, columns = report.total, 0
    for number, line in enumerate(text.splitlines(), 1):
        if line.startswith("SQL script "):
            section, columns = Section(), 0
            report.scripts.append(section)
            continue
        stripped = line.strip().removeprefix("- ")
        if stripped.startswith("statement latencies in milliseconds"):
            columns = 1 + ("failures" in stripped) + ("retries" in stripped)
            section.lines.add("statements")
            continue
        parse_error = ParseError("not a line of pgbench's report", file=file, line=number, text=line)
        if not columns:
            _read_line(section, stripped, bool(report.scripts), parse_error)
        elif statement := _statement(line, columns, len(section.statements) + 1):
            section.statements.append(statement)
        elif stripped and line[0].isspace():
            raise parse_error  # the statements after it would be numbered wrongly
    return report


def require_whole(report: Report, text: str, scripts: int, file: str = "stdout") -> None:
    """Raise ParseError for the report of a run that ended well, where the report itself was cut off.

    scripts: how many were run
    """
    if reason := _why_cut_off(report, text, scripts):
        raise ParseError(f"the report was cut off: {reason}", file=file, text=text[-200:])


def _why_cut_off(report: Report, text: str, scripts: int) -> str:
    if not text.endswith("\n"):
        return "its last line has no end"
    if missing := [name for name in ("transactions", "tps") if not _has(report, name)]:
        return f"there is no line of {missing[0]}"
    if _HALF_OF_THE_RATES in text and ("tps", "") not in report.total.values:
        return "there is no line of tps without the time of connecting"
    if (report.scripts or _MIXTURE in text) and not _has_all(report, scripts):
        return f"{len(report.scripts)} of {scripts} scripts are there, or lines of one are missing"
    return "" if all(map(_has_its_statements, (report.total, *report.scripts))) else "it has no latencies of statements"


def _has_all(report: Report, scripts: int) -> bool:
    """Whether the sections are all there and alike; of a script that never ran pgbench prints no latency."""
    transactions = [section.values.get(("transactions", "")) for section in report.scripts]
    ran = [section for section, count in zip(report.scripts, transactions, strict=True) if count]
    kinds_of_lines = {frozenset(section.lines) for section in ran}
    return len(transactions) == scripts and None not in transactions and len(kinds_of_lines) <= 1


def _has_its_statements(section: Section) -> bool:
    return "statements" not in section.lines or bool(section.statements)


def _has(report: Report, metric: str) -> bool:
    return any((name, "") in report.total.values for name in (metric, f"{metric}.including"))


def _read_line(section: Section, line: str, in_script: bool, parse_error: ParseError) -> None:
    for pattern, values in _SCRIPT_LINES if in_script else _TOTALS:
        if match := re.match(pattern, line, re.IGNORECASE | re.ASCII):
            section.lines.add(pattern)
            for (metric, label, factor), text in zip(values, match.groups(), strict=True):
                value = float(text) * factor  # pgbench prints nan where nothing was counted
                if math.isinf(value) and "inf" not in text.lower():
                    raise parse_error
                if value == value and section.values.setdefault((metric, label), value) != value:
                    raise parse_error  # it is there with another value already
            return
    if line.startswith(_BEGINNINGS):
        raise parse_error


def _statement(line: str, columns: int, number: int) -> StatementLine | None:
    match = re.match(r"^\s+(\d+\.\d+)\s+" + r"(\d{1,18})\s+" * (columns - 1) + r"(\S.*)$", line, re.ASCII)
    if match is None:
        return None
    latency, *counts, text = match.groups()
    failures, retries = [*(int(count) for count in counts), None, None][:2]
    return StatementLine(number, text, round(float(latency) * _MS, 3), failures, retries)
