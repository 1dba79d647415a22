"""A pgbench run's own files → measurements and series. Pure."""

from __future__ import annotations

from collections.abc import Iterator

from results.errors import ParseError
from results.parsed import Measurement, Part
from results.specs import Reading

from .options import script_names
from .progress import complaint, progress_series, read_progress, was_aborted
from .report import Report, Section, read_report

_LONGEST_LABEL = 120


def parse(reading: Reading) -> Part:
    """stdout, stderr, exit (and timed_out, when the deadline ended the run) → a Part. A run that pgbench
    or the server broke off keeps its numbers and says so in `failure`. Raises ParseError for damaged
    files."""
    report = read_report(reading.files.get("stdout", ""))
    stderr = reading.files.get("stderr", "")
    failure = _failure(report, stderr, reading)
    if not failure and ("tps", "") not in report.total.values and ("tps.including", "") not in report.total.values:
        raise ParseError("a finished pgbench run without a line 'tps ='", file="stdout")
    return Part(
        measurements=tuple(_measurements(report, reading)),
        series=progress_series(read_progress(stderr), "client"),
        failure=failure,
    )


def _failure(report: Report, stderr: str, reading: Reading) -> str:
    said = complaint(stderr)
    if reading.files.get("timed_out", "").strip():
        return f"pgbench was still running at its deadline and was ended. {said}".strip()
    status = _exit_status(reading)
    if status != 0:
        return f"pgbench ended with exit status {status}: {said or 'it gave no reason'}"
    if was_aborted(stderr):
        return f"Clients gave up before the end: {said}"
    if report.total.values.get(("transactions", ""), 0) == 0:
        return f"No transaction was finished. {said}".strip()
    return ""


def _exit_status(reading: Reading) -> int:
    text = reading.files.get("exit", "").strip()
    if not text.lstrip("-").isdigit():
        raise ParseError("not an exit status", file="exit", line=1, text=text)
    return int(text)


def _measurements(report: Report, reading: Reading) -> Iterator[Measurement]:
    total = dict(report.total.values)
    _complete_tps(total, bool(reading.parameters.get("connect")))
    yield from _numbers(total, "")
    names = script_names(str(reading.parameters.get("script", "tpcb-like")))
    if not report.scripts:
        yield from _statements(report.total, 0)
    for index, section in enumerate(report.scripts):
        name = names[index] if index < len(names) else f"script {index}"
        yield from _numbers(section.values, name)
        yield from _statements(section, index)


def _numbers(values: dict[tuple[str, str], float], script: str) -> Iterator[Measurement]:
    for (metric, label), value in values.items():
        if value or not label:  # kinds of failures are told only where there were any
            yield Measurement(metric, value, label=f"{script} {label}".strip())


def _complete_tps(values: dict[tuple[str, str], float], reconnecting: bool) -> None:
    """`tps` and `tps.including` mean the same in every version: see the README, 'tps'."""
    tps, including = values.get(("tps", "")), values.get(("tps.including", ""))
    if including is not None and (tps is None or reconnecting):
        values["tps", ""] = including
    elif tps and including is None and ("connection.time", "") in values:
        seconds = values.get(("transactions", ""), 0.0) / tps
        if seconds > 0:
            connecting_s = values["connection.time", ""] / 1e6
            values["tps.including", ""] = values["transactions", ""] / (seconds + connecting_s)


def _statements(section: Section, script: int) -> Iterator[Measurement]:
    for line in section.statements:
        label = f"{script}/{line.number} {line.text}"
        if len(label) > _LONGEST_LABEL:
            label = label[: _LONGEST_LABEL - 1] + "…"
        yield Measurement("statement.latency", line.latency_us, label=label)
        if line.failures is not None:
            yield Measurement("statement.failed", line.failures, label=label)
        if line.retries is not None:
            yield Measurement("statement.retries", line.retries, label=label)
