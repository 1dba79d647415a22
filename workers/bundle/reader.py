"""Read a bundle into a ParsedTrial, with the parsers of the kinds that ran. Pure but for reading the files."""

from __future__ import annotations

import hashlib
import tarfile
from collections.abc import Mapping
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from results.domain.errors import DeadlineError, IngestError, ParseError, TrialError
from results.domain.failure_cause import WORKLOAD_FAILED
from results.domain.kinds.specs import CollectorSpec, Parse, Reading, WorkloadSpec
from results.domain.matrix import TrialSpec
from results.domain.measurement.metrics import Metric
from results.domain.measurement.parsed_trial import Gap, ParsedTrial, Part
from workers import registry
from workers.bundle import derive
from workers.bundle.manifest import FILE, Manifest
from workers.bundle.server_messages import with_server_message

MAXIMUM_BYTES = 4 * 1024**3


def open_files(path: Path) -> dict[str, bytes]:
    """Return every file of a bundle, archive or directory, by its path in the bundle. Raises IngestError."""
    if path.is_dir():
        return {p.relative_to(path).as_posix(): p.read_bytes() for p in sorted(path.rglob("*")) if p.is_file()}
    try:
        with tarfile.open(path, "r:gz") as archive:
            members = [member for member in archive.getmembers() if member.isfile()]
            if sum(member.size for member in members) > MAXIMUM_BYTES:
                raise IngestError("The bundle is larger than 4 GB unpacked.", where=str(path))
            return {m.name: stream.read() for m in members if (stream := archive.extractfile(m)) is not None}
    except (OSError, tarfile.TarError, EOFError) as error:
        raise IngestError("The bundle cannot be read.", where=str(path), why=str(error)) from error


def read(path: Path) -> ParsedTrial:
    """Read and parse the bundle at this path. Raises IngestError or ParseError where it is not a whole bundle.

    A raw file that cannot be parsed is a gap; where the workload or a required collector wrote it, the attempt failed.
    """
    return parse(*load(path))


def load(path: Path) -> tuple[Manifest, dict[str, bytes]]:
    """Return the manifest and every file of the bundle at this path. Raises IngestError or ParseError where it is not a
    whole bundle."""
    files = open_files(path)
    if FILE not in files:
        raise IngestError(
            "There is no manifest in the bundle.", where=str(path), todo=f"Choose a bundle that holds {FILE}."
        )
    manifest = Manifest.from_json(files[FILE].decode())
    _check_sums(manifest, files, path)
    return manifest, files


def parse(manifest: Manifest, files: Mapping[str, bytes]) -> ParsedTrial:
    """Return the trial that the manifest and the raw files describe. Pure."""
    spec = TrialSpec.from_json(manifest.spec)
    parts: list[Part] = []
    gaps: list[Gap] = list(manifest.gaps)
    error = dict(manifest.error) if manifest.error else None
    if manifest.window is not None:
        reading = _reading(manifest, spec, files, "workload/", "client")
        part, parse_error = _parse(registry.workload_parser(spec.workload), reading)
        parts.append(part)
        error = _add_failure(error, part) if error else parse_error or _failure(part)
        for name, node in manifest.collectors:
            reading = _reading(manifest, spec, files, f"collectors/{name}/{node}/", node)
            part, parse_error = _parse(registry.collector_parser(name), reading)
            parts.append(part)
            if parse_error is not None:
                gaps.append(Gap(name, node, f"{parse_error['where']}: {parse_error['what']}"))
    whole = derive.add(derive.merge(parts), manifest, spec)
    gaps += whole.gaps
    error = error or _missing_collector(spec, gaps)
    if error:
        error = with_server_message(error, whole.events, files, manifest.started_s)
    return ParsedTrial(
        trial_key=manifest.trial_key,
        attempt=manifest.attempt,
        started_at=_datetime(manifest.started_s),
        measured_from=_datetime(manifest.window[0]) if manifest.window else None,
        measured_to=_datetime(manifest.window[1]) if manifest.window else None,
        succeeded=error is None,
        error=error,
        phases=manifest.phases,
        commands=manifest.commands,
        checks=manifest.checks,
        files=manifest.files,
        metrics=_metrics_of(spec, whole),
        measurements=whole.measurements,
        series=whole.series,
        latencies=whole.latencies,
        events=tuple(sorted(whole.events, key=lambda event: event.at_s)),
        layers=(*manifest.layers, *whole.layers),
        gaps=tuple(gaps),
        documents=whole.documents,
        notes=manifest.notes,
    )


def _reading(manifest: Manifest, spec: TrialSpec, files: Mapping[str, bytes], folder: str, node: str) -> Reading:
    offsets = {item.role: item.clock_offset_s for item in manifest.nodes}
    return Reading(
        node=node,
        files={
            name.removeprefix(folder): data.decode("utf-8", "replace")
            for name, data in files.items()
            if name.startswith(folder)
        },
        parameters=spec.parameters,
        window=manifest.window or (0.0, 0.0),
        clock_offset_s=offsets.get(node, 0.0),
        notes=manifest.notes,
    )


def _parse(parser: Parse, reading: Reading) -> tuple[Part, dict[str, Any] | None]:
    try:
        return parser(reading), None
    except ParseError as error:
        return Part(), error.as_dict()


def _failure(part: Part) -> dict[str, Any] | None:
    if not part.failure:
        return None
    return TrialError(WORKLOAD_FAILED, where="measure", why=part.failure, todo="See its output below.").as_dict()


def _add_failure(error: dict[str, Any], part: Part) -> dict[str, Any]:
    """Return the error of a phase that passed its deadline, with the failure that the workload's output reports."""
    if error.get("kind") != DeadlineError.kind or not part.failure:
        return error
    return error | {"why": " ".join(filter(None, (part.failure, error["why"])))}


def _metrics_of(spec: TrialSpec, whole: Part) -> tuple[Metric, ...]:
    """Return the metrics of the measurements, by the specs of the kinds that ran.

    Raises IngestError for a metric that no spec declares, and for one declared by a spec and by the output.
    """
    known = _metrics_of_kinds(spec)
    declared_by_output = {metric.name: metric for metric in whole.metrics}
    if duplicates := sorted(declared_by_output.keys() & known.keys()):
        what = f"The output declares {', '.join(duplicates)}, which a spec declares already."
        raise IngestError(what, where="bundle", todo="Rename the metric in the output or in the spec.")
    known |= declared_by_output
    used = sorted({measurement.metric for measurement in whole.measurements})
    if unknown := [name for name in used if name not in known]:
        what = f"No spec declares {', '.join(unknown)}."
        raise IngestError(what, where="bundle", todo="Declare it in the kind's spec.")
    return tuple(known[name] for name in used)


def _metrics_of_kinds(spec: TrialSpec) -> dict[str, Metric]:
    """Return the metrics that the kinds of a trial declare, and those that are derived from all of them."""
    kinds = registry.kinds()
    specs: list[WorkloadSpec | CollectorSpec] = [kinds.workloads[spec.workload]]
    specs += [kinds.collectors[name] for name in spec.collectors]
    known: dict[str, Metric] = {}
    for declaring in specs:
        known |= {metric.name: metric for metric in declaring.metrics}
    return known | {metric.name: metric for metric in derive.METRICS}


def _missing_collector(spec: TrialSpec, gaps: list[Gap]) -> dict[str, Any] | None:
    """Return the error for a gap in a collector that the plan requires, None where there is none."""
    missing = next((gap for gap in gaps if gap.source in spec.required_collectors), None)
    if missing is None:
        return None
    what = f"The plan requires the collector {missing.source}, which could not gather everything on {missing.node}."
    return TrialError(
        what, where="collect", why=missing.reason, todo="Mend the cause, or do not require the collector."
    ).as_dict()


def _check_sums(manifest: Manifest, files: Mapping[str, bytes], path: Path) -> None:
    for file in manifest.files:
        if file.path not in files or hashlib.sha256(files[file.path]).hexdigest() != file.sha256:
            raise IngestError(
                f"{file.path} is missing or not as it was written.",
                where=str(path),
                todo="Restore the archive.",
            )


def _datetime(seconds: float) -> datetime:
    return datetime.fromtimestamp(seconds, UTC)
