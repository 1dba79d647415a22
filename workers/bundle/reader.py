"""Read a bundle into a ParsedTrial, with the parsers of the kinds that ran. Pure but for reading the files."""

from __future__ import annotations

import hashlib
import logging
import struct
import tarfile
import zlib
from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Self

from results.domain.dataclass_json import ShapeError
from results.domain.errors import DeadlineError, IngestError, ParseError, TeitenError, TrialError, damaged, restored
from results.domain.failure_cause import WORKLOAD_FAILED
from results.domain.json_text import readable
from results.domain.kinds.specs import CollectorSpec, Parse, Reading, WorkloadSpec
from results.domain.matrix import TrialSpec
from results.domain.measurement.metrics import Metric
from results.domain.measurement.parsed_trial import Event, Gap, ParsedTrial, Part, PhaseTiming
from results.domain.measurement.plausible import (
    SLACK_S,
    Source,
    impossible_phase,
    require_attempt,
    require_part,
    require_plausible,
    without_impossible,
)
from results.domain.messages import gettext_lazy as _
from results.domain.units import format_quantity
from workers import registry
from workers.bundle import derive
from workers.bundle.manifest import FILE, Manifest, require_known_error, require_known_notes
from workers.bundle.server_messages import reworded, with_gone_servers, with_server_message

MAXIMUM_BYTES = 4 * 1024**3
MOST_FILES = 100_000
_MANIFEST_BYTES = 64 * 1024**2
_HEADER_BYTES = 16 * 1024  # a name is at most 4096 long
_EXTENDED_HEADERS = (
    tarfile.XHDTYPE,
    tarfile.XGLTYPE,
    tarfile.SOLARIS_XHDTYPE,
    tarfile.GNUTYPE_LONGNAME,
    tarfile.GNUTYPE_LONGLINK,
)
_UNREADABLE = (
    OSError,
    tarfile.TarError,
    EOFError,
    zlib.error,
    struct.error,
    ValueError,
    OverflowError,
    RecursionError,  # tarfile follows one extended header after another
)
_SIDE = ("steady.", "phase.", "overhead.")  # of the trial, not of what it measures
_OF_ITSELF = frozenset(metric.name for metric in derive.METRICS)
log = logging.getLogger(__name__)


class _Member(tarfile.TarInfo):
    """What stands before a file in an archive. Refuses at once what tarfile would hold all of, in lists of numbers:
    where a sparse file has its holes, and long headers."""

    @classmethod
    def frombuf(cls, buf: bytes | bytearray, encoding: str, errors: str) -> Self:
        member = super().frombuf(buf, encoding, errors)
        if member.type == tarfile.GNUTYPE_SPARSE:
            raise _sparse(member.name)
        if member.type in _EXTENDED_HEADERS and member.size > _HEADER_BYTES:
            raise IngestError(_("A file of the bundle has too long a header."), where=readable(member.name)[:200])
        return member

    def _proc_gnusparse_10(self, member: tarfile.TarInfo, *_: object) -> None:
        raise _sparse(member.name)


def open_files(path: Path, most_bytes: int = MAXIMUM_BYTES) -> dict[str, bytes]:
    """Return every file of a bundle, archive or directory, by its path in the bundle. Raises IngestError.

    most_bytes: that an archive may have unpacked
    """
    if path.is_dir():
        return {p.relative_to(path).as_posix(): p.read_bytes() for p in sorted(path.rglob("*")) if p.is_file()}
    try:
        with tarfile.open(path, "r:gz", tarinfo=_Member) as archive:
            return _members(archive, path, most_bytes)
    except _UNREADABLE as error:
        raise IngestError(_("The bundle cannot be read."), where=str(path), why=str(error)) from error


def _members(archive: tarfile.TarFile, path: Path, most_bytes: int) -> dict[str, bytes]:
    """Read every file while the sizes stay below the limit; links and devices are no files of a bundle."""
    files: dict[str, bytes] = {}
    left = most_bytes
    for count, member in enumerate(archive, 1):
        left -= member.size
        if member.size < 0 or left < 0:
            what = _("The bundle is larger than {size} unpacked.", size=format_quantity(most_bytes, "B"))
            raise IngestError(what, where=str(path))
        if count > MOST_FILES:
            raise IngestError(_("The bundle has more than {most} files.", most=MOST_FILES), where=str(path))
        if member.issparse():
            raise _sparse(member.name)
        if not member.isfile():
            continue
        if member.name in files:
            raise IngestError(
                _("Two files of the bundle have one name."), where=f"{path}: {readable(member.name)[:200]}"
            )
        stream = archive.extractfile(member)
        assert stream is not None
        files[member.name] = stream.read()
    return files


def _sparse(name: str) -> IngestError:
    why = _("It says to be larger than what is there; Teiten writes none.")
    return IngestError(_("A file of the bundle is sparse."), where=readable(name)[:200], why=why)


def read(path: Path) -> ParsedTrial:
    """Read and parse the bundle at this path. Raises IngestError where it is not a whole bundle, or says what cannot
    be.

    A raw file that cannot be parsed is a gap; where the workload or a required collector wrote it, the attempt failed.
    """
    return parse(*load(path))


def load(path: Path, most_bytes: int = MAXIMUM_BYTES) -> tuple[Manifest, dict[str, bytes]]:
    """Return the manifest and every file of the bundle at this path. Raises IngestError where it is not a whole
    bundle.

    most_bytes: that an archive may have unpacked
    """
    files = open_files(path, most_bytes)
    if FILE not in files:
        raise IngestError(
            _("There is no manifest in the bundle."),
            where=str(path),
            todo=_("Choose a bundle that holds {file}.", file=FILE),
        )
    manifest = _manifest(files[FILE])
    _check_sums(manifest, files, path)
    return manifest, files


def _manifest(content: bytes) -> Manifest:
    try:
        if len(content) > _MANIFEST_BYTES:
            raise IngestError(_("The manifest is larger than 64 MB."), where=FILE)
        manifest = Manifest.from_json(content.decode())
        require_known_notes(manifest.notes)
        require_known_error(manifest.error or {})
    except UnicodeDecodeError as error:
        raise IngestError(_("The manifest is no text in UTF-8."), where=FILE, why=str(error)) from error
    except ParseError as error:
        raise IngestError(error.what, where=error.where, why=error.text, todo=_("Restore the archive.")) from error
    return manifest


def parse(manifest: Manifest, files: Mapping[str, bytes]) -> ParsedTrial:
    """Return the trial that the manifest and the raw files describe. Pure. Raises IngestError for a bundle that says
    what cannot be, and for one that a parser breaks on."""
    try:
        require_attempt(manifest.started_s, manifest.ended_s, manifest.window, Source(FILE, {}))
        parsed = _parsed(manifest, spec_of(manifest), files)
        require_plausible(parsed)
    except TeitenError:
        raise
    except Exception as error:
        log.exception("bundle of trial %s, attempt %s", manifest.trial_key, manifest.attempt)
        raise IngestError(
            _("Teiten itself failed on this bundle: {error}.", error=type(error).__name__),
            where=_("trial {trial}, attempt {attempt}", trial=manifest.trial_key, attempt=manifest.attempt),
            why=readable(str(error))[:300],
            todo=_("Nothing of it was stored, and it is kept. Look at the log, and report it with the bundle."),
        ) from error
    return parsed


def spec_of(manifest: Manifest) -> TrialSpec:
    """Return the specification of the trial. Raises IngestError where it is none, or names kinds that are not here."""
    try:
        spec = TrialSpec.checked(manifest.spec)
    except ShapeError as error:
        raise IngestError(
            _("The specification of the trial cannot be read."), where=f"{FILE}: spec.{error.path}", why=error.what
        ) from error
    kinds = registry.kinds()
    named = [("spec.workload", spec.workload, kinds.workloads), ("spec.topology", spec.topology, kinds.topologies)]
    named += [(f"spec.collectors[{n}]", name, kinds.collectors) for n, name in enumerate(spec.collectors)]
    named += [(f"collectors[{n}][0]", name, kinds.collectors) for n, (name, _node) in enumerate(manifest.collectors)]
    for field, name, known in named:
        if name not in known:
            raise IngestError(
                _("This Teiten has no {name!r}.", name=readable(name)[:100]),
                where=f"{FILE}: {field}",
                todo=_("Update Teiten; a kind of your own lies below a folder of TEITEN_KINDS."),
            )
    return spec


def _parsed(manifest: Manifest, spec: TrialSpec, files: Mapping[str, bytes]) -> ParsedTrial:
    parts: list[Part] = []
    error = dict(manifest.error) if manifest.error else None
    known = _metrics_of_kinds(spec)
    if manifest.window is not None:
        start_s = manifest.window[0]
        reach = (manifest.started_s - start_s - SLACK_S, manifest.ended_s - start_s + SLACK_S)
        reading = _reading(manifest, spec, files, "workload/", "client")
        part, parse_error = _parse(registry.workload_parser(spec.workload), reading)
        parts.append(_possible(part, Source("workload", known, reach)))
        error = _add_failure(error, part) if error else parse_error or _failure(part)
        for name, node in manifest.collectors:
            reading = _reading(manifest, spec, files, f"collectors/{name}/{node}/", node)
            source = Source(f"collectors/{name}/{node}", known, reach)
            parts.append(_collected(name, reading, source, required=name in spec.required_collectors))
    manifest = _with_possible_phases(manifest)
    gaps = list(manifest.gaps)
    whole = without_impossible(derive.add(derive.merge(parts), manifest, spec), Source("derived", known), _OF_ITSELF)
    gaps += whole.gaps
    error = error or _missing_collector(spec, gaps)
    if error:
        error = _with_words_of_servers(error, manifest, whole.events, files)
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
        metrics=_metrics_of(known, whole),
        measurements=whole.measurements,
        series=whole.series,
        latencies=whole.latencies,
        events=tuple(sorted(whole.events, key=lambda event: event.at_s)),
        layers=(*manifest.layers, *whole.layers),
        gaps=tuple(gaps),
        documents=whole.documents,
        notes=manifest.notes,
        named_by_output=frozenset(metric.name for metric in whole.metrics),
    )


def _with_words_of_servers(
    error: dict[str, Any], manifest: Manifest, events: Sequence[Event], files: Mapping[str, bytes]
) -> dict[str, Any]:
    only_crashes = manifest.error is None  # or a command failed, whose output may be less than the server's
    since_s = {node.role: manifest.started_s + node.clock_offset_s for node in manifest.nodes}
    error = with_server_message(error, events, files, since_s, only_crashes=only_crashes)
    return with_gone_servers(error, manifest.notes, {node.role: node.agent for node in manifest.nodes})


def _collected(name: str, reading: Reading, source: Source, *, required: bool) -> Part:
    """Return what a collector gathered on a node. What cannot be of one that the plan does not require is a gap in its
    place; of one that it requires, IngestError is raised."""
    try:
        part, parse_error = _parse(registry.collector_parser(name), reading)
        part = _possible(part, source)
    except IngestError as error:
        if required:
            raise
        return Part(gaps=(_gap_at(name, reading.node, error.where, error.why or error.what),))
    if parse_error is None:
        return part
    made = restored(parse_error)
    return Part(gaps=(_gap_at(name, reading.node, made["where"], made["what"]),))


def _gap_at(source: str, node: str, where: str, why: str) -> Gap:
    reason = _("{where}: {why}", where=where, why=why)
    printable = readable(reason)  # a line of a raw file may be among the words
    return Gap(source, node, reason if reason == printable else printable)


def _possible(part: Part, source: Source) -> Part:
    """Return the part, without side metrics that cannot be. Raises IngestError for anything else that cannot."""
    part = without_impossible(part, source, {name for name in source.metrics if name.startswith(_SIDE)})
    require_part(part, source)
    return part


def _with_possible_phases(manifest: Manifest) -> Manifest:
    """Return the manifest without the phases that cannot be, each with a gap: a clock may have been stepped."""
    gaps: list[Gap] = []
    phases: list[PhaseTiming] = []
    for number, phase in enumerate(manifest.phases):
        if why := impossible_phase(phase, f"{FILE}: phases[{number}]."):
            gaps.append(Gap("phase", "", why))
        else:
            phases.append(phase)
    return replace(manifest, phases=tuple(phases), gaps=(*manifest.gaps, *gaps))


def _reading(manifest: Manifest, spec: TrialSpec, files: Mapping[str, bytes], folder: str, node: str) -> Reading:
    offsets = {item.role: item.clock_offset_s for item in manifest.nodes}
    return Reading(
        node=node,
        files={
            name.removeprefix(folder): data.decode("utf-8", "replace").replace("\0", "\ufffd")
            for name, data in files.items()
            if name.startswith(folder)
        },
        parameters=spec.parameters,
        window=manifest.window or (0.0, 0.0),
        clock_offset_s=offsets.get(node, 0.0),
        notes=manifest.notes,
    )


def _parse(parser: Parse, reading: Reading) -> tuple[Part, dict[str, Any] | None]:
    """Return what a parser read, or the error of files that it cannot read, also where it breaks on them itself."""
    try:
        with damaged(_("Teiten's parser failed on these files"), parser.__module__):
            return parser(reading), None
    except ParseError as error:
        return Part(), error.as_dict()


def _failure(part: Part) -> dict[str, Any] | None:
    if not part.failure:
        return None
    return TrialError(WORKLOAD_FAILED, where="measure", why=part.failure, todo=_("See its output below.")).as_dict()


def _add_failure(error: dict[str, Any], part: Part) -> dict[str, Any]:
    """Return the error of a phase that passed its deadline, with the failure that the workload's output reports."""
    if error.get("kind") != DeadlineError.kind or not part.failure:
        return error
    made = restored(error)
    why = _("{before} {then}", before=part.failure, then=made["why"]) if made["why"] else part.failure
    return reworded(error, why=why, todo=made["todo"])


def _metrics_of(known: Mapping[str, Metric], whole: Part) -> tuple[Metric, ...]:
    """Return the metrics of the measurements.

    Raises IngestError for a metric that no spec declares, and for one declared by a spec and by the output.

    known: by the specs of the kinds that ran
    """
    declared_by_output = {metric.name: metric for metric in whole.metrics}
    if duplicates := sorted(declared_by_output.keys() & known.keys()):
        what = _("The output declares {metrics}, which a spec declares already.", metrics=", ".join(duplicates))
        raise IngestError(what, where="bundle", todo=_("Rename the metric in the output or in the spec."))
    known = {**known, **declared_by_output}
    used = sorted({measurement.metric for measurement in whole.measurements})
    if unknown := [name for name in used if name not in known]:
        what = _("No spec declares {metrics}.", metrics=", ".join(unknown))
        raise IngestError(what, where="bundle", todo=_("Declare it in the kind's spec."))
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
    what = _(
        "The plan requires the collector {collector}, which could not gather everything on {node}.",
        collector=missing.source,
        node=missing.node,
    )
    return TrialError(
        what, where="collect", why=missing.reason, todo=_("Mend the cause, or do not require the collector.")
    ).as_dict()


def _check_sums(manifest: Manifest, files: Mapping[str, bytes], path: Path) -> None:
    if unlisted := sorted(files.keys() - {FILE} - {file.path for file in manifest.files}):
        what = _("There is a file in the bundle that its manifest does not list.")
        raise IngestError(what, where=f"{path}: {readable(unlisted[0])[:200]}", todo=_("Restore the archive."))
    for file in manifest.files:
        if file.path not in files or hashlib.sha256(files[file.path]).hexdigest() != file.sha256:
            raise IngestError(
                _("{file} is missing or not as it was written.", file=file.path),
                where=str(path),
                todo=_("Restore the archive."),
            )


def _datetime(seconds: float) -> datetime:
    return datetime.fromtimestamp(seconds, UTC)
