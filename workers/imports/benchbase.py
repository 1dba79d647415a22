"""BenchBase's summary.json → trials. Pure."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any

from results.domain.errors import ImportedFileError
from results.domain.imports.values import Format, ImportedTrial, Scalar, TextFile
from results.domain.measurement.metrics import Better, Metric
from results.domain.measurement.parsed_trial import Measurement, Part
from results.domain.messages import gettext_lazy as _
from workers.imports.shared import cut, number, read_json

_GOODPUT = "Goodput (requests/second)"
_MARK = f'"{_GOODPUT}"'
_DISTRIBUTION = "Latency Distribution"
_ENDED = ("EXIT", "DONE", "LATENCY_COMPLETE")
_TOTALS = {
    _GOODPUT: Metric(
        "benchbase.goodput",
        "1/s",
        Better.HIGHER,
        _("Goodput"),
        _("From BenchBase: transactions that succeeded, a second."),
    ),
    "Throughput (requests/second)": Metric(
        "benchbase.throughput",
        "1/s",
        Better.HIGHER,
        _("Throughput (BenchBase)"),
        _("From BenchBase: all transactions, those that were aborted among them, a second."),
    ),
    "Measured Requests": Metric(
        "benchbase.requests", "1", Better.NEITHER, _("Measured requests"), _("From BenchBase.")
    ),
}
_HELP = _("From BenchBase, over all measured requests.")
_LATENCIES = {
    f"{words} Latency (microseconds)": Metric(
        f"benchbase.latency.{name}", "us", Better.LOWER, label, _HELP, minimum_effect
    )
    for words, name, label, minimum_effect in (
        ("Average", "mean", _("Average latency (BenchBase)"), 0.02),
        ("Minimum", "min", _("Minimum latency (BenchBase)"), 0.1),
        ("25th Percentile", "p25", _("25th Percentile latency (BenchBase)"), 0.02),
        ("Median", "p50", _("Median latency (BenchBase)"), 0.02),
        ("75th Percentile", "p75", _("75th Percentile latency (BenchBase)"), 0.02),
        ("90th Percentile", "p90", _("90th Percentile latency (BenchBase)"), 0.05),
        ("95th Percentile", "p95", _("95th Percentile latency (BenchBase)"), 0.05),
        ("99th Percentile", "p99", _("99th Percentile latency (BenchBase)"), 0.05),
        ("Maximum", "max", _("Maximum latency (BenchBase)"), 0.25),
    )
}


def recognises(text: str) -> bool:
    return text.lstrip().startswith("{") and _MARK in text


def read(files: Sequence[TextFile]) -> list[ImportedTrial]:
    """Return a trial of each file. Raises ImportedFileError."""
    return [_trial(file) for file in files]


def _trial(file: TextFile) -> ImportedTrial:
    values = read_json(file)
    if len(values) != 1 or not isinstance(values[0], dict):
        raise ImportedFileError(
            _("The file is no summary of one run."), where=file.name, todo=_("Import each summary.json by itself.")
        )
    summary: dict[str, Any] = values[0]
    _require_success(file.name, summary)
    measured = [
        *_values(file.name, summary, _TOTALS),
        *_values(file.name, _distribution(file.name, summary), _LATENCIES),
    ]
    part = Part(
        tuple(Measurement(metric.name, value) for metric, value in measured),
        metrics=tuple(metric for metric, _value in measured),
    )
    workload = str(summary.get("Benchmark Type") or "benchbase")
    return ImportedTrial(file.name, (file.name,), _facts(summary), part, workload=workload)


def _distribution(file: str, summary: Mapping[str, Any]) -> Mapping[str, Any]:
    distribution = summary.get(_DISTRIBUTION) or {}
    if not isinstance(distribution, dict):
        raise ImportedFileError(
            _("{key!r} is no object.", key=_DISTRIBUTION),
            where=file,
            todo=_("Import the file unchanged."),
        )
    return distribution


def _values(file: str, values: Mapping[str, Any], metrics: Mapping[str, Metric]) -> list[tuple[Metric, float]]:
    return [(metric, number(file, values, key)) for key, metric in metrics.items() if key in values]


def _require_success(file: str, summary: Mapping[str, Any]) -> None:
    state = summary.get("Final State")
    if state is not None and state not in _ENDED:
        raise cut(file, _("Its final state is {state}.", state=repr(state)))
    if number(file, summary, _GOODPUT) <= 0 or summary.get("Measured Requests") == 0:
        raise cut(file, _("No request succeeded."))


def _facts(summary: Mapping[str, Any]) -> dict[str, Scalar]:
    facts: dict[str, Scalar] = {}
    for key, name in (("scalefactor", "scale"), ("terminals", "clients"), ("isolation", "isolation")):
        if (value := summary.get(key)) is not None:
            facts[name] = _whole(str(value))
    version = re.search(
        r"[0-9]+(?:\.[0-9]+)*(?:(?:devel|alpha|beta|rc)[0-9]*)?", str(summary.get("DBMS Version") or "")
    )
    if version:
        facts["version"] = version[0]
    if dbms := summary.get("DBMS Type"):
        facts["dbms"] = str(dbms).lower()
    return facts


def _whole(text: str) -> Scalar:
    """'16' and '16.0' → 16; other text stays."""
    match = re.fullmatch(r"([0-9]{1,15})(?:\.0+)?", text)
    return int(match[1]) if match else text


FORMAT = Format(
    name="benchbase",
    title="BenchBase",
    files=_("The summary.json of each run, from BenchBase's folder results/."),
    headline="benchbase.goodput",
    metrics=(*_TOTALS.values(), *_LATENCIES.values()),
    recognises=recognises,
    read=read,
)
