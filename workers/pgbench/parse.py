"""The files of one run of pgbench → measurements and series. Pure."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

from results.domain.errors import ParseError
from results.domain.kinds.specs import Reading
from results.domain.measurement.parsed_trial import Measurement, Part

from .background_report import background_part
from .progress import complaint, never_connected, progress_series, read_progress, was_aborted
from .report import Report, Section, read_report
from .several import LOADS, several_part

_LONGEST_LABEL = 120


def run_part(reading: Reading, scripts: Sequence[str], *, connect: bool = False) -> Part:
    """stdout, stderr, exit (and timed_out, when the deadline ended the run) → a Part. A run that pgbench
    or the server broke off keeps its numbers and says so in `failure`. Raises ParseError for damaged
    files.

    Work beside the load (`parameters.BACKGROUND`) adds its events and gaps, and its failure where the run has none.

    scripts: labels of the scripts in pgbench's numbering, used where there are several. connect: whether each
    transaction opened a connection of its own (-C).

    Files of several loads are read by `several.several_part`."""
    part = (
        several_part(reading, lambda one: _one_part(one, scripts, connect=connect))
        if LOADS in reading.files
        else _one_part(reading, scripts, connect=connect)
    )
    beside = background_part(reading)
    return replace(part, events=beside.events, gaps=(*part.gaps, *beside.gaps), failure=part.failure or beside.failure)


def _one_part(reading: Reading, scripts: Sequence[str], *, connect: bool) -> Part:
    report = read_report(reading.files.get("stdout", ""))
    stderr = reading.files.get("stderr", "")
    failure = _failure(report, stderr, reading)
    if not failure and ("tps", "") not in report.total.values and ("tps.including", "") not in report.total.values:
        raise ParseError("a finished pgbench run without a line 'tps ='", file="stdout")
    return Part(
        measurements=tuple(_measurements(report, scripts, connect)),
        series=progress_series(read_progress(stderr), reading.node),
        failure=failure,
    )


def _failure(report: Report, stderr: str, reading: Reading) -> str:
    said = complaint(stderr)
    if reading.files.get("timed_out", "").strip():
        return f"pgbench was still running at its deadline and was ended. {said}".strip()
    status = _exit_status(reading)
    if status != 0:
        return f"pgbench ended with exit status {status}: {said or 'it gave no reason'}"
    if never_connected(stderr):
        return f"Not all clients ran: {said}"
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


def _measurements(report: Report, scripts: Sequence[str], connect: bool) -> Iterator[Measurement]:
    total = dict(report.total.values)
    _complete_tps(total, connect)
    yield from _numbers(total, "")
    if not report.scripts:
        yield from _statements(report.total, 0)
    for index, section in enumerate(report.scripts):
        name = scripts[index] if index < len(scripts) else f"script {index}"
        yield from _numbers(section.values, name)
        yield from _statements(section, index)


def _numbers(values: dict[tuple[str, str], float], script: str) -> Iterator[Measurement]:
    for (metric, label), value in values.items():
        if value or not label:  # kinds of failures are told only where there were any
            yield Measurement(metric, value, label=f"{script} {label}".strip())


def _complete_tps(values: dict[tuple[str, str], float], reconnecting: bool) -> None:
    """`tps` and `tps.including` mean the same in every version: see docs/method.md, 'Throughput of pgbench'."""
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
