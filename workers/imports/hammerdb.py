"""A HammerDB job of TPROC-C as JSON → trials: the report of `jobs summaryjson` (6.0), or what `jobs ID result` and
`jobs ID timing` print (4.6 and later), in one file. Pure."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from results.domain.errors import ImportedFileError
from results.domain.imports.values import Format, ImportedTrial, Scalar, TextFile
from results.domain.measurement.metrics import Better, Metric
from results.domain.measurement.parsed_trial import Measurement, Part
from results.domain.messages import gettext_lazy as _
from workers.imports.shared import MS, cut, number, read_json, several_runs
from workers.workloads.tpcc.spec import SPEC as TPCC

_SCHEMA = "hammerdb-job-report"
_NOPM = next(metric for metric in TPCC.metrics if metric.name == "nopm")
_TPM = Metric(
    "hammerdb.tpm",
    "1/min",
    Better.HIGHER,
    _("Transactions per minute (HammerDB)"),
    _("From HammerDB: commits and rollbacks that the server counts in all its databases."),
)
_HELP = _("From HammerDB's time profile, over all virtual users. Label: the procedure.")
_CALLS = Metric("hammerdb.calls", "1", Better.NEITHER, _("Calls of a procedure"), _HELP, label_noun=_("procedure"))
_LATENCIES = {
    f"{key}_ms": Metric(
        f"hammerdb.latency.{name}",
        "us",
        Better.LOWER,
        label,
        _HELP,
        effect,
        label_noun=_("procedure"),
    )
    for key, name, label, effect in (
        ("avg", "mean", _("Mean latency (HammerDB)"), 0.02),
        ("min", "min", _("Smallest latency (HammerDB)"), 0.1),
        ("p25", "p25", _("p25 latency (HammerDB)"), 0.02),
        ("p50", "p50", _("p50 latency (HammerDB)"), 0.02),
        ("p75", "p75", _("p75 latency (HammerDB)"), 0.02),
        ("p95", "p95", _("p95 latency (HammerDB)"), 0.05),
        ("p99", "p99", _("p99 latency (HammerDB)"), 0.05),
        ("max", "max", _("Largest latency (HammerDB)"), 0.25),
    )
}
_RESULT = re.compile(r"TEST RESULT : System achieved ([0-9]+) NOPM from ([0-9]+) (\S.*) TPM")
_FAILED = re.compile(r"^(?:.*FINISHED FAILED|Error in Virtual User.*)$", re.MULTILINE)
_USERS = re.compile(r"([0-9]{1,9}) Active Virtual Users configured")


@dataclass
class _Job:
    """What a file says of one job.

    results: how often the file says what came out.
    procedures: name → its times."""

    facts: dict[str, Scalar] = field(default_factory=dict)
    results: int = 0
    nopm: float = 0.0
    tpm: float = 0.0
    procedures: dict[str, Mapping[str, Any]] = field(default_factory=dict)


def recognises(text: str) -> bool:
    return text.lstrip().startswith(("{", "[")) and (_SCHEMA in text or _RESULT.search(text) is not None)


def read(files: Sequence[TextFile]) -> list[ImportedTrial]:
    """Return a trial of each file. Raises ImportedFileError."""
    return [_trial(file) for file in files]


def _trial(file: TextFile) -> ImportedTrial:
    job = _Job()
    for value in read_json(file):
        _read_value(file.name, value, job)
    if job.results > 1:
        raise several_runs(file.name, _("It has {count} results.", count=job.results))
    if not job.nopm:
        raise cut(file.name, _("The job has no result of TPROC-C, or one of 0 NOPM."))
    measured = [(_NOPM, "", job.nopm), (_TPM, "", job.tpm), *_times(file.name, job)]
    part = Part(
        tuple(Measurement(metric.name, value, label=label) for metric, label, value in measured),
        metrics=tuple({metric.name: metric for metric, _label, _value in measured}.values()),
    )
    return ImportedTrial(file.name, (file.name,), job.facts, part, workload="TPROC-C")


def _read_value(file: str, value: Any, job: _Job) -> None:
    if isinstance(value, list):
        _read_result(file, [str(one) for one in value], job)
    elif isinstance(value, dict) and str(value.get("schema", "")).startswith(_SCHEMA):
        _read_report(file, value, job)
    elif isinstance(value, dict):
        _add_procedures(file, {name: times for name, times in value.items() if isinstance(times, dict)}, job)


def _read_report(file: str, report: Mapping[str, Any], job: _Job) -> None:
    about, config, result = (_object(file, report, key) for key in ("job", "benchmark_config", "result"))
    if about.get("benchmark") not in ("TPROC-C", None):
        raise ImportedFileError(
            _("The job ran {benchmark}.", benchmark=str(about["benchmark"])),
            where=file,
            todo=_("Only jobs of TPROC-C can be imported; others as CSV."),
        )
    job.nopm, job.tpm = number(file, result, "nopm"), number(file, result, "tpm")
    job.results += 1
    job.facts |= _facts(file, about, config)
    rows = _object(file, report, "response_times").get("rows") or []
    if not isinstance(rows, list):
        raise ImportedFileError(_("{key!r} is no list.", key="rows"), where=file, todo=_("Import the file unchanged."))
    _add_procedures(file, {str(row.get("name")): row for row in rows if isinstance(row, dict)}, job)


def _facts(file: str, about: Mapping[str, Any], config: Mapping[str, Any]) -> dict[str, Scalar]:
    facts: dict[str, Scalar] = {}
    for key, name in (("virtual_users", "clients"), ("warehouses", "scale")):
        if key in config:
            facts[name] = int(number(file, config, key))
    if "duration_minutes" in config:
        facts["duration_s"] = int(60 * number(file, config, "duration_minutes"))
    if release := about.get("release"):
        facts["version"] = str(release)
    if database := about.get("database"):
        facts["dbms"] = str(database).lower()
    if version := about.get("hdb_version"):
        facts["client_version"] = f"HammerDB {version}"
    return facts


def _add_procedures(file: str, procedures: Mapping[str, Mapping[str, Any]], job: _Job) -> None:
    if twice := sorted(job.procedures.keys() & procedures):
        raise several_runs(file, _("It has the times of {procedure} twice.", procedure=twice[0]))
    job.procedures |= procedures


def _object(file: str, values: Mapping[str, Any], key: str) -> Mapping[str, Any]:
    value = values.get(key, {})
    if not isinstance(value, dict):
        raise ImportedFileError(_("{key!r} is no object.", key=key), where=file, todo=_("Import the file unchanged."))
    return value


def _read_result(file: str, lines: Sequence[str], job: _Job) -> None:
    """Of the lines that the virtual users printed."""
    text = "\n".join(lines)
    if failed := _FAILED.search(text):
        raise cut(file, failed[0])
    for match in _RESULT.finditer(text):
        job.results += 1
        job.nopm, job.tpm = float(match[1]), float(match[2])
        job.facts["dbms"] = match[3].lower()
    if users := _USERS.search(text):
        job.facts["clients"] = int(users[1])


def _times(file: str, job: _Job) -> Iterator[tuple[Metric, str, float]]:
    for name, times in sorted(job.procedures.items()):
        if "calls" in times:
            yield _CALLS, name, number(file, times, "calls")
        for key, metric in _LATENCIES.items():
            if key in times:
                yield metric, name, number(file, times, key) * MS


FORMAT = Format(
    name="hammerdb",
    title="HammerDB",
    files=_(
        "A job of TPROC-C as JSON: jobs summaryjson, or what jobs ID result and jobs ID timing printed, in one file."
    ),
    headline="nopm",
    metrics=(_TPM, _CALLS, *_LATENCIES.values()),
    recognises=recognises,
    read=read,
)
