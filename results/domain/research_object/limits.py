"""How large the archive of a run may be: the export keeps to what the import reads. Pure."""

from __future__ import annotations

from results.domain.errors import ArchiveError
from results.domain.messages import gettext_lazy as _
from results.domain.units import format_quantity

MOST_BYTES = 64 * 1024**3  # of an archive, and of its files unpacked
MOST_ENTRIES = 100_000
MOST_TEXT_BYTES = 64 * 1024**2  # of any file that is no bundle
_FEWER = _("Export a run with fewer trials.")


def require_size(size_bytes: int) -> None:
    """Raise ArchiveError for a file that is larger than any archive may be."""
    if size_bytes > MOST_BYTES:
        what = _("The archive has more than {size}.", size=format_quantity(MOST_BYTES, "B"))
        raise ArchiveError(what, where="archive", todo=_FEWER)


def require_exportable(entries: int, size_bytes: int) -> None:
    """Raise ArchiveError for an archive that no Teiten would read.

    entries: how many files it has
    size_bytes: of its bundles
    """
    if entries > MOST_ENTRIES:
        why = _("At most {most} are read where it is imported.", most=MOST_ENTRIES)
        what = _("The archive would have {count} files.", count=entries)
        raise ArchiveError(what, where="archive", why=why, todo=_FEWER)
    require_size(size_bytes)


def require_short(name: str, text: str) -> None:
    """Raise ArchiveError for a text of an archive that no Teiten would read."""
    if len(text) > MOST_TEXT_BYTES or len(text.encode()) > MOST_TEXT_BYTES:
        what = _("{name} would have more than {size}.", name=name, size=format_quantity(MOST_TEXT_BYTES, "B"))
        raise ArchiveError(what, where=name, why=_("No more is read where it is imported."), todo=_FEWER)
