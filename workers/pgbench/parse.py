"""Parse the files of one run of pgbench into measurements and series. Pure."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import replace

from results.domain.errors import ParseError
from results.domain.exit_status import ending
from results.domain.kinds.specs import Reading
from results.domain.measurement.parsed_trial import Measurement, Part
from results.domain.messages import gettext_lazy as _

from .background_report import background_part
from .progress import first_error, never_connected, progress_series, read_progress, was_aborted
from .report import Report, Section, read_report, require_whole
from .several import LOADS, several_part

_LONGEST_LABEL = 120


def run_part(reading: Reading, scripts: Sequence[str], *, connect: bool = False) -> Part:
    """Parse stdout, stderr, exit (and timed_out, where the deadline ended it). Raises ParseError for damaged files.

    A run that pgbench or the server broke off keeps its measurements and has a `failure`. Work beside the load
    (`parameters.BACKGROUND`) adds its events and gaps, and its failure where the run has none. Files of several loads
    are parsed by `several.several_part`.

    scripts: labels of the scripts in pgbench's numbering, used where there are several
    connect: whether each transaction opened a connection of its own (-C)
    """
    part = (
        several_part(reading, lambda one: _load_part(one, scripts, connect=connect))
        if LOADS in reading.files
        else _load_part(reading, scripts, connect=connect)
    )
    background = background_part(reading)
    return replace(
        part, events=background.events, gaps=(*part.gaps, *background.gaps), failure=part.failure or background.failure
    )


def _load_part(reading: Reading, scripts: Sequence[str], *, connect: bool) -> Part:
    text = reading.files.get("stdout", "")
    report = read_report(text)
    stderr = reading.files.get("stderr", "")
    failure = _failure(report, stderr, reading)
    if not failure:
        require_whole(report, text, len(scripts))
    return Part(
        measurements=tuple(_measurements(report, scripts, connect)),
        series=progress_series(read_progress(stderr), reading.node),
        failure=failure,
    )


def _failure(report: Report, stderr: str, reading: Reading) -> str:
    message = first_error(stderr)
    if reading.files.get("timed_out", "").strip():
        return _followed_by(_("pgbench was still running at its deadline and was ended."), message)
    status = _exit_status(reading)
    if status != 0:
        return _("pgbench {ended}: {message}", ended=ending(status), message=message or _("it gave no reason"))
    if never_connected(stderr):
        return _("Not all clients ran: {message}", message=message)
    if was_aborted(stderr):
        return _("Clients gave up before the end: {message}", message=message)
    if report.total.values.get(("transactions", "")) == 0:
        return _followed_by(_("No transaction was finished."), message)
    return ""


def _followed_by(sentence: str, message: str) -> str:
    return _("{sentence} {message}", sentence=sentence, message=message) if message else sentence


def _exit_status(reading: Reading) -> int:
    text = reading.files.get("exit", "").strip()
    if not re.fullmatch(r"-?\d{1,9}", text, re.ASCII):
        raise ParseError(_("not an exit status"), file="exit", line=1, text=text)
    return int(text)


def _measurements(report: Report, scripts: Sequence[str], connect: bool) -> Iterator[Measurement]:
    total = dict(report.total.values)
    _complete_tps(total, connect)
    yield from _section_measurements(total, "")
    if not report.scripts:
        yield from _statements(report.total, 0)
    for index, section in enumerate(report.scripts):
        name = scripts[index] if index < len(scripts) else f"script {index}"
        yield from _section_measurements(section.values, name)
        yield from _statements(section, index)


def _section_measurements(values: dict[tuple[str, str], float], script: str) -> Iterator[Measurement]:
    for (metric, label), value in values.items():
        if value or not label:  # kinds of failures are measurements only where there were any
            yield Measurement(metric, value, label=f"{script} {label}".strip())


def _complete_tps(values: dict[tuple[str, str], float], reconnecting: bool) -> None:
    """Make `tps` and `tps.including` mean the same in every version (docs/method.md, 'Throughput of pgbench')."""
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
        if line.latency_us is not None:
            yield Measurement("statement.latency", line.latency_us, label=label)
        if line.failures is not None:
            yield Measurement("statement.failed", line.failures, label=label)
        if line.retries is not None:
            yield Measurement("statement.retries", line.retries, label=label)
