"""Take the bundle of a trial that was measured where this Teiten cannot reach: the same checks as any, or nothing."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from django.contrib.auth.models import User
from django.utils import timezone

from results import models, uploads
from results.bundle_files import place_bundle, transaction_with_bundles
from results.domain.errors import ArchiveError, BodyError, IngestError
from results.domain.matrix import TrialSpec
from results.domain.measurement.parsed_trial import ParsedTrial
from results.domain.messages import gettext_lazy as _
from results.uploads import Uploaded
from workers import dispatch
from workers.bundle import reader
from workers.bundle.manifest import FILE
from workers.bundle.writer import checksum
from workers.importing import MOST_UPLOADED_BUNDLE_BYTES, staging
from workers.research_archive import require_no_bomb

MOST_BYTES = 256 * 1024**2  # of an uploaded bundle as it is sent
_OF_AGENTS = frozenset({"unreachable", "agent", "fingerprint"})  # of an error: what agents here are judged by


def receive_bundle(
    trial_id: int, chunks: Iterable[bytes], *, user: User | None, actor: str, key: str = ""
) -> tuple[int, bool]:
    """Store a bundle that arrives piece by piece as the next attempt at a trial; return the trial's id, and whether
    something was stored: the same bundle once more is not.

    Raises Trial.DoesNotExist, BodyError, IngestError for what is no bundle of this trial, StateError for a trial that
    does not wait and for a key of another upload. Then nothing of it stays.
    """
    trial = models.Trial.objects.select_related("configuration").get(pk=trial_id)
    with staging() as folder:
        path = folder / "bundle.tar.gz"
        _write(path, chunks)
        file = Uploaded(checksum(path), path.stat().st_size, user, actor, key)
        if uploads.earlier(file, trial_id):
            return trial_id, True
        if uploads.is_stored(trial_id, file.sha256):
            return trial_id, False
        parsed, ended_at = _parsed(path, trial)
        stored = _store(path, trial_id, parsed, ended_at, file)
    return trial_id, stored or uploads.earlier(file, trial_id) is not None


def _write(path: Path, chunks: Iterable[bytes]) -> None:
    size = 0
    with path.open("wb") as target:
        for chunk in chunks:
            size += len(chunk)
            if size > MOST_BYTES:
                raise too_large(size)
            target.write(chunk)


def too_large(size_bytes: int) -> BodyError:
    return BodyError(
        _("The bundle has {size:,} bytes or more.", size=size_bytes),
        where="Content-Length",
        why=_("At most {most:,} are taken.", most=MOST_BYTES),
        todo=_("Export the whole run where it was measured, and read it with manage.py import_run."),
    )


def _parsed(path: Path, trial: models.Trial) -> tuple[ParsedTrial, datetime]:
    """Read a bundle, and when its attempt ended. Raises IngestError where it cannot be read or is of another
    configuration."""
    try:
        require_no_bomb(path, "bundle", MOST_UPLOADED_BUNDLE_BYTES)
    except ArchiveError as error:
        raise IngestError(error.what, where="bundle", why=error.why, todo=error.todo) from error
    manifest, files = reader.load(path, MOST_UPLOADED_BUNDLE_BYTES)
    spec = trial.configuration.spec
    if reader.spec_of(manifest).without_secrets() != TrialSpec.from_json(spec).without_secrets():
        raise IngestError(
            _("The bundle is of another configuration than trial {trial}.", trial=trial.pk),
            where=f"{FILE}: spec",
            todo=_("Upload it to the trial whose order was measured."),
        )
    return reader.parse(replace(manifest, spec=spec), files), datetime.fromtimestamp(manifest.ended_s, UTC)


def _store(path: Path, trial_id: int, parsed: ParsedTrial, ended_at: datetime, file: Uploaded) -> bool:
    """Return whether it was stored: an equal upload may have come first."""
    with transaction_with_bundles() as placed:
        attempt = uploads.store_bundle(trial_id, parsed, file)
        if attempt is None:
            return False
        dispatch.finish(attempt.pk, _failure(parsed.error), timezone.now())
        models.Attempt.objects.filter(pk=attempt.pk).update(ended_at=ended_at)
        if place_bundle(path, attempt.bundle, file.sha256):
            placed.append(attempt.bundle)
    return True


def _failure(error: Mapping[str, Any] | None) -> dict[str, Any] | None:
    """Return the error of an uploaded attempt as a plain failure: what it says of agents is of machines elsewhere, and
    whether it is tried again is for those who measure it."""
    if error is None:
        return None
    return {name: value for name, value in error.items() if name not in _OF_AGENTS} | {"retryable": False}
