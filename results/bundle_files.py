"""Where the archives of attempts lie, below the bundle folder and nowhere else, whether there is room for more, and who
may remove them when."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from django.conf import settings
from django.db import connection
from django.db.models import Max

from results import models
from results.domain.errors import IngestError, StateError
from results.domain.messages import gettext_lazy as _
from results.domain.units import format_quantity

LEAST_FREE_BYTES = 1024**3  # with less no trial starts: the room is for those that run
_LOCK = "hashtext('raw files')"


def free_bytes() -> int | None:
    """Return how much Teiten can still write in the bundle folder, or where it is to be made; None where its file
    system does not say. Raises OSError."""
    existing = Path(settings.TEITEN_BUNDLE_DIR)
    while not existing.exists():
        existing = existing.parent
    usage = shutil.disk_usage(existing)
    return usage.free if usage.total else None


def why_no_room() -> str:
    """Return why no trial can start, in words that follow "the bundle folder"; '' where one can."""
    try:
        free = free_bytes()
    except OSError as error:
        return _("cannot be asked how much is free: {error}", error=str(error.strerror))
    if free is None or free >= LEAST_FREE_BYTES:
        return ""
    left, least = format_quantity(free, "B"), format_quantity(LEAST_FREE_BYTES, "B")
    return _("has {left} free, less than the {least} kept for the trials that run", left=left, least=least)


def remove_bundle(stored: str) -> str:
    """Remove an attempt's archive, inside `removing_bundles`; return '', or why it is still there."""
    try:
        path = bundle_path(stored)
        path.unlink(missing_ok=True)
    except IngestError as error:
        return str(error)
    except OSError as error:
        return f"{path}: {error.strerror}"
    return ""


@contextmanager
def keeping_bundles() -> Iterator[None]:
    """Nobody removes a bundle that the warehouse names while the block lasts; removals that have begun are waited for.

    Locks of the session, since files are removed after their rows are gone for sure.
    """
    _ask(f"pg_advisory_lock({_LOCK})")
    try:
        yield
    finally:
        _ask(f"pg_advisory_unlock({_LOCK})")


@contextmanager
def removing_bundles() -> Iterator[None]:
    """Bundles are removed inside the block, and their rows changed. Raises StateError while they are kept."""
    if not _ask(f"pg_try_advisory_lock_shared({_LOCK})"):
        raise StateError(
            _("A backup is being taken: raw files stay until it is done."),
            where="raw files",
            why=_("It holds rows that name them."),
            todo=_("Try again when it has ended."),
        )
    try:
        yield
    finally:
        _ask(f"pg_advisory_unlock_shared({_LOCK})")


def named_bundles() -> Iterator[tuple[str, str]]:
    """Yield path and checksum of each bundle that the warehouse names, in the order of their paths. Trials of one
    imported table share one."""
    named = models.Attempt._base_manager.exclude(bundle="").values("bundle").order_by("bundle")
    for row in named.annotate(sha256=Max("bundle_sha256")).iterator(chunk_size=2000):
        yield row["bundle"], row["sha256"]


def _ask(function: str) -> bool:
    with connection.cursor() as cursor:
        cursor.execute(f"SELECT {function}")
        return bool(cursor.fetchone()[0])


def bundle_path(stored: str) -> Path:
    """Return the path of an attempt's archive, whether it is there or not.

    Raises IngestError where it leads out of the bundle folder, also by a symbolic link: whoever can write the warehouse
    is not to read or remove other files of this machine.

    stored: `Attempt.bundle`
    """
    root = Path(settings.TEITEN_BUNDLE_DIR).resolve()
    try:
        path = (root / stored).resolve() if "\0" not in stored else root
    except (OSError, RuntimeError) as error:  # to Python 3.12 a RuntimeError of links that lead in a circle
        raise IngestError(
            _("The path of this bundle leads nowhere."),
            where=stored[:200],
            why=str(error),
            todo=_("Put the file there instead of a link."),
        ) from error
    if path == root or not path.is_relative_to(root):
        raise IngestError(
            _("The path of this bundle leads out of the bundle folder."),
            where=stored[:200],
            why=_("Teiten stores paths below TEITEN_BUNDLE_DIR only."),
            todo=_("Correct the attempt's row in the warehouse, or put the file there instead of a link."),
        )
    return path
