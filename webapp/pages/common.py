"""What the pages share."""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from typing import Any

from django.contrib.auth.models import User
from django.core.exceptions import ObjectDoesNotExist
from django.http import Http404, HttpRequest, HttpResponse, HttpResponseBase
from django.urls import reverse

from results.queries import NotFound

View = Callable[..., HttpResponseBase]


def missing_is_404(view: View) -> View:
    """What a query or a verb does not find is a page that does not exist."""

    @wraps(view)
    def checked(request: HttpRequest, *args: Any, **kwargs: Any) -> HttpResponseBase:
        try:
            return view(request, *args, **kwargs)
        except (ObjectDoesNotExist, NotFound) as error:
            raise Http404(str(error)) from error

    return checked


def visitor(request: HttpRequest) -> User | None:
    """Who is signed in."""
    return request.user if isinstance(request.user, User) else None


def trial_url(trial_id: int) -> str:
    return reverse("trials:detail", args=[trial_id])


def toml_file(text: str, name: str) -> HttpResponse:
    """A plan to download, with a file name made of the plan's."""
    stem = "".join(c if c.isascii() and c.isalnum() else "-" for c in name).strip("-") or "plan"
    disposition = f'attachment; filename="{stem[:60]}.toml"'
    return HttpResponse(
        text, content_type="application/toml; charset=utf-8", headers={"Content-Disposition": disposition}
    )
