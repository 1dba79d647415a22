"""What the pages share."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any, Generic, TypeVar
from urllib.parse import urlencode

from django.http import HttpRequest, HttpResponse, QueryDict
from django.urls import reverse

from results.domain.errors import TeitenError
from results.domain.messages import gettext_lazy as _
from results.domain.secrets import masked_toml
from results.queries.shared.ids import NotFound

PAGE = 100  # rows of a list
Row = TypeVar("Row")


@dataclass(frozen=True)
class Page(Generic[Row]):
    """One page of a list.

    following: query string of the next one; '' on the last.
    first: of the first one; None on it."""

    rows: Sequence[Row]
    following: str
    first: str | None


def page_of(
    rows: Sequence[Row],
    size: int,
    begins: Callable[[Row], object],
    field: str = "before",
    *,
    at: object = None,
    chosen: Mapping[str, Any] | None = None,
) -> Page[Row]:
    """Return a page of a list.

    rows: those of the page, and one more where more follow.
    begins: function from the last row of a page to what the field of the next one's address holds.
    at: what this one's holds.
    chosen: what else stands in the address."""
    conditions = chosen or {}
    following = urlencode({**conditions, field: begins(rows[size - 1])}) if len(rows) > size else ""
    return Page(rows[:size], following, urlencode(conditions) if at else None)


def number(text: str) -> int | None:
    """The digits of an address or a field as a number that PostgreSQL can hold; None for any other text."""
    return int(text) if text.isascii() and text.isdigit() and len(text) < 19 else None


def ticked_runs(fields: QueryDict) -> list[int]:
    """Return the runs (ids, each once) that are ticked in a list. Raises TeitenError where none is, NotFound."""
    texts = [text for text in fields.getlist("run") if text]
    if not texts:
        todo = _("Tick the runs in the list, then press the button.")
        raise TeitenError(_("No run is ticked."), where="run", todo=todo)
    ids = [number(text) for text in texts]
    if None in ids:
        raise NotFound(_("There is no run {run}.", run=texts[ids.index(None)]))
    return sorted({run_id for run_id in ids if run_id is not None})


def list_address(query: str) -> str:
    """Return the address of the list of runs that this query string finds."""
    encoded = QueryDict(query).urlencode()
    return reverse("runs:list") + (f"?{encoded}" if encoded else "")


def wants_fragment(request: HttpRequest) -> bool:
    """Return whether htmx asks for the part of a page that it will put in place. For a page of the history that the
    browser has no longer, it asks for all of it."""
    return "HX-Request" in request.headers and "HX-History-Restore-Request" not in request.headers


def moment(text: str, where: str) -> datetime:
    """What a field for a time sends; without a zone it is UTC."""
    try:
        time = datetime.fromisoformat(text)
        return time.replace(tzinfo=UTC) if time.tzinfo is None else time.astimezone(UTC)
    except (ValueError, OverflowError) as error:
        todo = _("As 2026-01-31T02:00, in UTC.")
        raise TeitenError(_("{text!r} is not a time.", text=text), where=where, todo=todo) from error


def toml_file(text: str, name: str) -> HttpResponse:
    """A plan to download, without secrets, with a file name made of the plan's."""
    stem = "".join(c if c.isascii() and c.isalnum() else "-" for c in name).strip("-") or "plan"
    disposition = f'attachment; filename="{stem[:60]}.toml"'
    return HttpResponse(
        masked_toml(text),
        content_type="application/toml; charset=utf-8",
        headers={"Content-Disposition": disposition},
    )
