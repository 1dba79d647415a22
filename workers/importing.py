"""Import a run that another Teiten exported: all of it, with the numbers that it had there, or nothing."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from django.conf import settings
from django.contrib.auth.models import User
from django.db import DataError, IntegrityError

from results import importing, models, uploads
from results.bundle_files import transaction_with_bundles
from results.bundle_storage import UNFINISHED, storage
from results.domain.errors import ArchiveError, StateError
from results.domain.measurement.parsed_trial import ParsedTrial
from results.domain.messages import gettext_lazy as _
from results.domain.research_object import limits
from results.domain.research_object.facts import FACTS
from results.importing import Archive, ImportedAttempt
from results.uploads import Uploaded
from workers import registry
from workers.bundle import reader
from workers.bundle.manifest import Manifest
from workers.bundle.writer import checksum
from workers.research_archive import RunArchive, opened

MOST_UPLOADED_BUNDLE_BYTES = 512 * 1024**2  # unpacked, in the memory of a web process


def import_upload(chunks: Iterable[bytes], name: str, *, user: User | None, actor: str, key: str = "") -> models.Run:
    """Import a run whose archive arrives piece by piece. Raises as `import_run`, ArchiveError for a bundle that is
    larger unpacked than a web process should hold, and StateError for a key of another upload.

    key: the request's Idempotency-Key; the same archive sent again with it is not imported again
    """
    with staging() as folder:
        path = folder / "archive.zip"
        size = 0
        with path.open("wb") as upload:
            for chunk in chunks:
                size += len(chunk)
                limits.require_size(size)
                upload.write(chunk)
        return _import(path, name, folder, Uploaded("", size, user, actor, key), MOST_UPLOADED_BUNDLE_BYTES)


def import_run(path: Path, *, user: User | None, actor: str) -> models.Run:
    """Import a run from its archive; return it.

    Raises ArchiveError for a file that is no whole archive or gives other numbers here, StateError for a run that is
    here already, PlanError for kinds that this Teiten does not have. Then nothing of it stays.
    """
    with staging() as folder:
        return _import(path, path.name, folder, Uploaded("", path.stat().st_size, user, actor))


@contextmanager
def staging() -> Iterator[Path]:
    """A folder for what is not imported yet; `manage.py requeue` removes what a killed process left of one.

    Raises ArchiveError where a file cannot be read or written meanwhile.
    """
    root = Path(settings.TEITEN_BUNDLE_DIR) / UNFINISHED
    try:
        root.mkdir(parents=True, exist_ok=True)
        with TemporaryDirectory(prefix="import-", dir=root) as folder:
            yield Path(folder)
    except OSError as error:
        raise ArchiveError(
            _("The archive could not be read, or its files not stored."),
            where=str(error.filename or "archive"),
            why=str(error),
            todo=_(
                "Send the whole file; where {folder} is full or closed to this account, make room or open it.",
                folder=str(root),
            ),
        ) from error


def _import(path: Path, name: str, folder: Path, file: Uploaded, most_bytes: int = reader.MAXIMUM_BYTES) -> models.Run:
    """most_bytes: that a bundle may have unpacked."""
    file = replace(file, sha256=checksum(path))
    if before := uploads.earlier(file):
        return before.run
    try:
        return _import_new(path, name, folder, file, most_bytes)
    except StateError:
        if before := uploads.earlier(file):  # an equal upload came first
            return before.run
        raise


def _import_new(path: Path, name: str, folder: Path, file: Uploaded, most_bytes: int) -> models.Run:
    with opened(path) as source:
        archive = Archive(name, file.sha256, file.size_bytes, source.facts, source.toml)
        importing.require_new(archive)
        _copy_bundles(source, folder, most_bytes)
    try:
        return _store(archive, folder, file, most_bytes)
    except (DataError, IntegrityError) as error:
        raise ArchiveError(
            _("The warehouse cannot hold what the archive says."),
            where=FACTS,
            why=str(error).strip(),
            todo=_("Export the run again; this file was changed, or written by something else."),
        ) from error


def _copy_bundles(source: RunArchive, folder: Path, most_bytes: int) -> None:
    for _trial, attempt in source.facts.attempts:
        if attempt.bundle:
            source.copy_bundle(attempt, _staged(folder, attempt.bundle), most_bytes)


def _staged(folder: Path, bundle: str) -> Path:
    return folder / Path(bundle).name


def _store(archive: Archive, folder: Path, file: Uploaded, most_bytes: int) -> models.Run:
    with transaction_with_bundles() as placed:
        run, attempts = importing.create(archive, registry.kinds(), user=file.user, actor=file.actor)
        for attempt in attempts:
            _store_attempt(archive, attempt, folder, most_bytes)
        importing.close(run.pk, attempts)
        uploads.note(file, run.pk)
        _place(attempts, folder, placed)
    return models.Run.objects.get(pk=run.pk)


def _store_attempt(archive: Archive, attempt: ImportedAttempt, folder: Path, most_bytes: int) -> None:
    facts = attempt.facts
    if facts.numbers:
        spec = archive.facts.configurations[attempt.trial.configuration].spec
        bundle = reader.load(_staged(folder, facts.bundle), most_bytes)
        importing.store(attempt, _parsed(bundle, facts.bundle, spec))
    elif facts.bundle:
        importing.file_unread(attempt)


def _parsed(bundle: tuple[Manifest, Mapping[str, bytes]], name: str, spec: Mapping[str, Any]) -> ParsedTrial:
    """Parse a bundle with the parsers of its kinds. Raises ArchiveError where it is of another configuration, and
    IngestError for one that cannot be stored."""
    manifest, files = bundle
    of_bundle, of_run = importing.spec_of(manifest.spec, name), importing.spec_of(spec, FACTS)
    if of_bundle.without_secrets() != of_run.without_secrets():
        raise ArchiveError(
            _("This bundle is of another configuration."), where=name, why=_("{file} says otherwise.", file=FACTS)
        )
    return reader.parse(replace(manifest, spec=spec), files)


def _place(attempts: Sequence[ImportedAttempt], folder: Path, placed: list[str]) -> None:
    """Move the bundles to where they belong, and note each in `placed`. Raises ArchiveError where a file is there."""
    for attempt in attempts:
        if not attempt.facts.bundle:
            continue
        if storage().exists(attempt.path):
            todo = _("Remove it if no warehouse needs it, and import the run again.")
            where = storage().shown(attempt.path)
            raise ArchiveError(_("There is a file in the place of a bundle."), where=where, todo=todo)
        storage().place(_staged(folder, attempt.facts.bundle), attempt.path)
        placed.append(attempt.path)
