"""Export a run as a research object: one zip archive from which another Teiten has the same numbers.

Zip, since its directory at the end names every file and size before anything is read, and every system opens it. The
bundles, compressed already, are stored as they are. The same run gives the same bytes.
"""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Generator, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any
from zipfile import ZipFile, ZipInfo

from django.conf import settings
from django.db.models import Prefetch

from results import VERSION, models
from results.bundle_storage import storage
from results.domain.errors import ArchiveError, StateError
from results.domain.messages import SEMICOLON, linked, pgettext_lazy
from results.domain.messages import gettext_lazy as _
from results.domain.pieces import Pieces
from results.domain.research_object import limits
from results.domain.research_object.crate import CRATE, CrateFile, crate
from results.domain.research_object.facts import (
    FACTS,
    AttemptFacts,
    ConfigurationFacts,
    Facts,
    Origin,
    TrialFacts,
    bundle_name,
)
from results.domain.states import ENDED_RUNS, AttemptState, TrialState
from results.ingest import numbers_hash
from results.ranges import require_attached
from results.runs import require_measured

PLAN, LAYERS, CHECKSUMS = "plan.toml", "layers.json", "sha256sums.txt"
_CHUNK = 1024 * 1024
_LARGE = 2 * 1024**3  # bytes from which zip writes sizes of 64 bits
_LARGE_COLUMNS = ("phases", "commands", "checks", "files", "events", "gaps", "notes")
_TITLES = {PLAN: "The plan as it was run", LAYERS: "The environment", FACTS: "Trials and attempts, for the import"}
_TEXTS = (FACTS, PLAN, LAYERS, CRATE, CHECKSUMS)
_KINDS = {PLAN: "application/toml", LAYERS: "application/json", FACTS: "application/json"}


@dataclass(frozen=True)
class Export:
    """An archive to be written.

    name: of the file
    chunks: its bytes, made as they are taken; raises ArchiveError for a bundle that is not as it was ingested, and for
        a text that is longer than an import reads
    """

    name: str
    chunks: Generator[bytes]


def export(run_id: int) -> Export:
    """Return the archive of a run. Raises Run.DoesNotExist, StateError for a run that has not ended or whose series are
    detached and for published figures, ArchiveError where raw files are missing, or are more than an import reads."""
    run = models.Run.objects.get(pk=run_id)
    require_measured(run)
    if run.state not in ENDED_RUNS:
        what = _(
            "Run {run} is {state}: it is exported when it has ended.",
            run=run.pk,
            state=pgettext_lazy("state", run.state),
        )
        raise StateError(what, todo=_("Wait for it, or cancel what is left of it."))
    if run.making:
        raise StateError(_("Trials of run {run} are still being made.", run=run.pk), todo=_("Try again in a minute."))
    require_attached([run.pk])
    attempts = models.Attempt.objects.defer(*_LARGE_COLUMNS)
    trials = list(run.trials.prefetch_related("configuration", Prefetch("attempts", attempts)))
    _require_bundles(trials)
    bundles = [attempt.bundle_bytes or 0 for trial in trials for attempt in trial.attempts.all() if attempt.bundle]
    limits.require_exportable(len(bundles) + len(_TEXTS), sum(bundles))
    return Export(file_name(run), _chunks(run, trials))


def file_name(run: models.Run) -> str:
    """Return the name of a run's archive: 'run-12-nightly-2026-01-31.zip'."""
    plan = re.sub(r"[^A-Za-z0-9]+", "-", run.name).strip("-")[:60] or "plan"
    return f"run-{run.pk}-{plan}-{_ended(run):%Y-%m-%d}.zip"


def _ended(run: models.Run) -> datetime:
    return (run.ended_at or run.created_at).astimezone(UTC)


def _require_bundles(trials: Sequence[models.Trial]) -> None:
    """Raise where an attempt has not ended, or its archive is not there in full."""
    missing: list[str] = []
    sizes = storage().sizes(attempt.bundle for trial in trials for attempt in trial.attempts.all() if attempt.bundle)
    for trial in trials:
        for attempt in trial.attempts.all():
            if attempt.bundle_removed_at:
                raise _removed(attempt)
            if attempt.state == AttemptState.RUNNING:
                what = _(
                    "Attempt {attempt} of trial {trial} is still being stopped.", attempt=attempt.number, trial=trial.pk
                )
                raise StateError(what, todo=_("Try again in a minute."))
            if not _is_there(attempt, sizes):
                bundle = attempt.bundle or _("no bundle")
                what = _("trial {trial}, attempt {attempt}", trial=trial.pk, attempt=attempt.number)
                missing.append(_("{attempt}: {bundle}", attempt=what, bundle=bundle))
    if missing:
        raise ArchiveError(
            _("Raw files of {count} attempts are missing; without them no number can be proven.", count=len(missing)),
            where=storage().shown(),
            why=linked(SEMICOLON, missing[:5]),
            todo=_("Restore them from a backup, or set TEITEN_BUNDLE_DIR."),
        )


def _removed(attempt: models.Attempt) -> ArchiveError:
    return ArchiveError(
        _(
            "Raw files of this run were removed on {date} by {user}.",
            date=f"{attempt.bundle_removed_at:%Y-%m-%d}",
            user=attempt.bundle_removed_by,
        ),
        where=_("trial {trial}, attempt {attempt}", trial=attempt.trial_id, attempt=attempt.number),
        why=_("Without them no number can be proven where it is imported."),
        todo=_("Export it from a Teiten that is restored from a backup of before."),
    )


def _is_there(attempt: models.Attempt, sizes: Mapping[str, int]) -> bool:
    if not attempt.bundle:
        return attempt.ingested_at is None
    return attempt.bundle in sizes and sizes[attempt.bundle] == attempt.bundle_bytes


def _chunks(run: models.Run, trials: Sequence[models.Trial]) -> Generator[bytes]:
    pieces, files = Pieces(), list[CrateFile]()
    at = max(_ended(run), datetime(1980, 1, 1, tzinfo=UTC)).timetuple()[:6]
    with ZipFile(pieces, "w") as archive:
        for trial in trials:
            for attempt in trial.attempts.all():
                if attempt.bundle:
                    entry = ZipInfo(bundle_name(trial.position, attempt.number), at)
                    yield from _copy(archive, pieces, entry, attempt)
                    files.append(_bundle(entry.filename, trial, attempt))
        facts = _facts(run, trials)
        texts = {FACTS: facts.to_json(), PLAN: run.toml, LAYERS: _layers(run)}
        files = [*(_text_file(name, text) for name, text in texts.items()), *files]
        texts[CRATE] = crate(facts, run.name, run.workload, files)
        sums = [*((file.name, file.sha256) for file in files), (CRATE, _text_file(CRATE, texts[CRATE]).sha256)]
        texts[CHECKSUMS] = "".join(f"{sha256}  {name}\n" for name, sha256 in sums)
        for name, text in texts.items():
            limits.require_short(name, text)
            archive.writestr(ZipInfo(name, at), text)
            yield pieces.take()
    yield pieces.take()


def _copy(archive: ZipFile, pieces: Pieces, entry: ZipInfo, attempt: models.Attempt) -> Iterator[bytes]:
    digest = hashlib.sha256()
    large = (attempt.bundle_bytes or 0) > _LARGE
    stored = storage().file(attempt.bundle)
    with stored as path, path.open("rb") as source, archive.open(entry, "w", force_zip64=large) as target:
        while chunk := source.read(_CHUNK):
            digest.update(chunk)
            target.write(chunk)
            yield pieces.take()
    if digest.hexdigest() != attempt.bundle_sha256:
        what = _("The archive of raw files is not the one that was ingested.")
        raise ArchiveError(what, where=storage().shown(attempt.bundle), todo=_("Restore it from a backup."))


def _bundle(name: str, trial: models.Trial, attempt: models.Attempt) -> CrateFile:
    title = f"Raw output of {trial.configuration.name}, replicate {trial.block}, attempt {attempt.number}"
    return CrateFile(name, title, "application/gzip", attempt.bundle_bytes or 0, attempt.bundle_sha256)


def _text_file(name: str, text: str) -> CrateFile:
    data = text.encode()
    kind = _KINDS.get(name, "application/json")
    return CrateFile(name, _TITLES.get(name, name), kind, len(data), hashlib.sha256(data).hexdigest())


def _layers(run: models.Run) -> str:
    """Return the layers of the run's attempts as JSON, each once: for people, since the bundles hold them as well."""
    layers = models.Layer.objects.filter(uses__run=run).distinct().order_by("kind", "hash")
    return (
        json.dumps(list(layers.values("hash", "kind", "content")), indent=1, ensure_ascii=False, sort_keys=True) + "\n"
    )


def _facts(run: models.Run, trials: Sequence[models.Trial]) -> Facts:
    configurations = list(run.configurations.order_by("index"))
    return Facts(
        teiten=VERSION,
        address=settings.TEITEN_ADDRESS,
        run=run.pk,
        blocks=run.blocks,
        looks=tuple(run.looks),
        created_at=run.created_at,
        started_at=run.started_at,
        ended_at=run.ended_at,
        cancelled_at=run.cancelled_at,
        configurations=tuple(ConfigurationFacts(row.name, row.levels, row.spec) for row in configurations),
        trials=tuple(map(_trial_facts, trials)),
        origin=_origin(run),
    )


def _origin(run: models.Run) -> Origin | None:
    source = models.RunImport.objects.filter(run=run).first()
    return Origin(source.teiten, source.address, source.source_run) if source else None


def _trial_facts(trial: models.Trial) -> TrialFacts:
    return TrialFacts(
        configuration=trial.configuration.index,
        block=trial.block,
        position=trial.position,
        bundle_key=trial.bundle_key or f"{trial.run_id}/{trial.pk}",
        state=TrialState(trial.state),
        state_at=trial.state_at,
        attempts_made=trial.attempts_made,
        counted=next((attempt.number for attempt in trial.attempts.all() if attempt.pk == trial.attempt_id), 0),
        attempts=tuple(_attempt_facts(trial, attempt) for attempt in trial.attempts.all()),
    )


def _attempt_facts(trial: models.Trial, attempt: models.Attempt) -> AttemptFacts:
    return AttemptFacts(
        number=attempt.number,
        state=AttemptState(attempt.state),
        started_at=attempt.started_at,
        ended_at=attempt.ended_at,
        error=_error(attempt.error),
        bundle=bundle_name(trial.position, attempt.number) if attempt.bundle else "",
        bundle_sha256=attempt.bundle_sha256,
        bundle_bytes=attempt.bundle_bytes or 0,
        numbers=numbers_hash(attempt.pk) if attempt.ingested_at else "",
    )


def _error(error: dict[str, Any] | None) -> dict[str, str] | None:
    """Return kind and sentence: where and why may name hosts and accounts that no bundle does."""
    return {name: str(error.get(name, "")) for name in ("kind", "what")} if error else None
