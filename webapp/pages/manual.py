"""The chapters of docs/ that a user reads, inside Teiten, so that pages can link to what their words mean."""

from __future__ import annotations

from functools import cache
from pathlib import Path

from django.conf import settings
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import render
from django.urls import reverse
from django.views.decorators.http import require_safe

from webapp.markdown import Chapter, rendered

CHAPTERS = (
    "words",
    "method",
    "environment",
    "explorer",
    "trends",
    "workloads",
    "topologies",
    "host-factors",
    "publishing",
    "published",
    "importing",
    "measured",
    "operations",
    "reliability",
    "security",
    "api",
    "api-changes",
    "adding-a-kind",
)


@require_safe
def index(request: HttpRequest) -> HttpResponse:
    return render(request, "manual/list.html", {"chapters": [chapter(slug) for slug in CHAPTERS]})


@require_safe
def page(request: HttpRequest, slug: str) -> HttpResponse:
    if slug not in CHAPTERS:
        raise Http404(f"There is no chapter {slug!r}.")
    chapters = [(other, chapter(other).title) for other in CHAPTERS]
    return render(request, "manual/page.html", {"chapter": chapter(slug), "chapters": chapters})


@cache
def chapter(slug: str) -> Chapter:
    """Return a chapter, read once: the files are part of the program."""
    text = (Path(settings.BASE_DIR) / "docs" / f"{slug}.md").read_text(encoding="utf-8")
    return rendered(slug, text, {other: reverse("manual:page", args=[other]) for other in CHAPTERS})
