"""What `sysbench … run` prints about a database test, 1.0 → trials. Pure."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from results.domain.errors import ImportedFileError
from results.domain.imports.values import Format, ImportedTrial, Scalar, TextFile
from results.domain.measurement.metrics import Better, Metric
from results.domain.measurement.parsed_trial import Measurement, Part
from results.domain.measurement.series import Series
from results.domain.messages import gettext_lazy as _
from workers.imports.shared import KNOWN, MS, cut, several_runs

_NUMBER = r"([0-9]+(?:\.[0-9]+)?)"
QUERIES = Metric("sysbench.qps", "1/s", Better.HIGHER, _("Queries per second"), _("From sysbench: all statements."))
ERRORS = Metric(
    "sysbench.ignored_errors",
    "1",
    Better.LOWER,
    _("Ignored errors"),
    _("From sysbench: transactions that were rolled back and begun anew, as for a deadlock or a duplicate key."),
)
RECONNECTS = Metric("sysbench.reconnects", "1", Better.LOWER, _("Reconnects"), _("From sysbench."))
_HELP = _("From sysbench's histogram, whose steps are about 1 % apart.")
_LINES = (
    (rf"^    transactions: +{_NUMBER} +\(", KNOWN["transactions"], 1.0),
    (rf"^    transactions: .*\({_NUMBER} per sec\.\)", KNOWN["tps"], 1.0),
    (rf"^    queries: .*\({_NUMBER} per sec\.\)", QUERIES, 1.0),
    (rf"^    ignored errors: +{_NUMBER} ", ERRORS, 1.0),
    (rf"^    reconnects: +{_NUMBER} ", RECONNECTS, 1.0),
    (rf"^         avg: +{_NUMBER}$", KNOWN["latency.mean"], MS),
    (rf"^         max: +{_NUMBER}$", KNOWN["latency.max"], MS),
)
_INTERVAL = re.compile(
    rf"^\[ {_NUMBER}s \] thds: [0-9]+ tps: {_NUMBER} qps: {_NUMBER} .* err/s: {_NUMBER} ", re.MULTILINE
)
_PERCENTILE = re.compile(rf"^ +([0-9]+)(?:st|nd|rd|th) percentile: +{_NUMBER}$", re.MULTILINE)
_REQUIRED = ("transactions", "tps", "latency.mean", "latency.max")


def recognises(text: str) -> bool:
    return re.search(r"^sysbench [0-9]+\.[0-9]+", text, re.MULTILINE) is not None


def read(files: Sequence[TextFile]) -> list[ImportedTrial]:
    """Return a trial of each file. Raises ImportedFileError."""
    return [_trial(file) for file in files]


def _trial(file: TextFile) -> ImportedTrial:
    failure = re.search(r"^(?:FATAL|ALERT): .+$", file.text, re.MULTILINE)
    if failure or "General statistics:" not in file.text:
        raise cut(file.name, failure[0] if failure else "")
    if "SQL statistics:" not in file.text:
        raise ImportedFileError(
            _("This is a test of sysbench without a database."),
            where=file.name,
            why=_("It has no SQL statistics."),
            todo=_("Import a database test, as oltp_read_write."),
        )
    _require_one_run(file)
    measured = _with_exact_mean(_report(file), file.text) + _percentiles(file.text)
    part = Part(
        measurements=tuple(Measurement(metric.name, value) for metric, value in measured),
        metrics=tuple(metric for metric, _value in measured),
        series=tuple(_series(file.text)),
    )
    return ImportedTrial(file.name, (file.name,), _facts(file.text), part, workload="sysbench")


def _require_one_run(file: TextFile) -> None:
    """Raise ImportedFileError for several reports; those of --report-checkpoints count anew each."""
    for line in ("Number of threads:", "SQL statistics:", "General statistics:"):
        if (times := len(re.findall(f"^{line}", file.text, re.MULTILINE))) > 1:
            raise several_runs(file.name, _("{line!r} is there {times} times.", line=line, times=times))


def _report(file: TextFile) -> list[tuple[Metric, float]]:
    found = [(metric, factor, re.search(line, file.text, re.MULTILINE)) for line, metric, factor in _LINES]
    measured = [(metric, float(match[1]) * factor) for metric, factor, match in found if match]
    names = {metric.name for metric, _value in measured}
    if missing := [name for name in _REQUIRED if name not in names]:
        raise cut(file.name, _("There is no {metrics}.", metrics=", ".join(missing)))
    return measured


def _with_exact_mean(measured: list[tuple[Metric, float]], text: str) -> list[tuple[Metric, float]]:
    """The mean is printed in hundredths of a millisecond; the sum over the number of events tells more digits."""
    total = re.search(rf"^         sum: +{_NUMBER}$", text, re.MULTILINE)
    events = re.search(r"total number of events: +([0-9]+)$", text, re.MULTILINE)
    if not total or not events or not int(events[1]):
        return measured
    mean = float(total[1]) * MS / int(events[1])
    return [(metric, mean if metric.name == "latency.mean" else value) for metric, value in measured]


def _percentiles(text: str) -> list[tuple[Metric, float]]:
    found = _PERCENTILE.findall(text)
    return [(_percentile(percent), float(value) * MS) for percent, value in found]


def _percentile(percent: int | str) -> Metric:
    return Metric(
        f"sysbench.latency.p{percent}",
        "us",
        Better.LOWER,
        _("p{percent} latency (sysbench)", percent=percent),
        _HELP,
        0.05,
    )


def _series(text: str) -> Iterator[Series]:
    """Of `--report-interval`: each value is of the interval that ends there."""
    rows = [tuple(map(float, row)) for row in _INTERVAL.findall(text)]
    if not rows:
        return
    times = tuple(row[0] for row in rows)
    for index, name, unit in ((1, "tps", "tps"), (2, "sysbench.qps", "1/s"), (3, "sysbench.errors", "1/s")):
        values = tuple(row[index] for row in rows)
        yield Series(name, "client", unit, times[0], 0.0, values, times_s=times)


def _facts(text: str) -> dict[str, Scalar]:
    facts: dict[str, Scalar] = {}
    if threads := re.search(r"^Number of threads: ([0-9]+)$", text, re.MULTILINE):
        facts["clients"] = int(threads[1])
    if version := re.search(r"^sysbench ([0-9][0-9.]*)", text, re.MULTILINE):
        facts["client_version"] = f"sysbench {version[1]}"
    return facts


FORMAT = Format(
    name="sysbench",
    title="sysbench",
    files=_("What sysbench … run printed about a database test; with --report-interval its rates over time as well."),
    headline="tps",
    metrics=(QUERIES, ERRORS, RECONNECTS, *(_percentile(percent) for percent in range(1, 101))),
    recognises=recognises,
    read=read,
)
