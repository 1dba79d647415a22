"""What the pages share."""

from __future__ import annotations

from django.http import HttpResponse
from django.urls import reverse


def number(text: str) -> int | None:
    """The digits of an address or a field as a number that PostgreSQL can hold; None for any other text."""
    return int(text) if text.isascii() and text.isdigit() and len(text) < 19 else None


def trial_url(trial_id: int) -> str:
    return reverse("trials:detail", args=[trial_id])


def toml_file(text: str, name: str) -> HttpResponse:
    """A plan to download, with a file name made of the plan's."""
    stem = "".join(c if c.isascii() and c.isalnum() else "-" for c in name).strip("-") or "plan"
    disposition = f'attachment; filename="{stem[:60]}.toml"'
    return HttpResponse(
        text, content_type="application/toml; charset=utf-8", headers={"Content-Disposition": disposition}
    )
