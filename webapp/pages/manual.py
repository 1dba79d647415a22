"""The chapters of docs/ that a user reads, inside Teiten, so that pages can link to what their words mean."""

from __future__ import annotations

from functools import cache
from pathlib import Path

from django.conf import settings
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import render
from django.urls import reverse
from django.views.decorators.http import require_safe

from results.domain.messages import ORIGINAL
from results.domain.messages import gettext_lazy as _
from webapp.language import active_language
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
    "performance",
    "scale",
    "operations",
    "reliability",
    "security",
    "api",
    "api-changes",
    "adding-a-kind",
)


@require_safe
def index(request: HttpRequest) -> HttpResponse:
    return render(request, "manual/list.html", {"chapters": [_chapter(slug) for slug in CHAPTERS]})


@require_safe
def page(request: HttpRequest, slug: str) -> HttpResponse:
    if slug not in CHAPTERS:
        raise Http404(_("There is no chapter {slug!r}.", slug=slug))
    chapters = [(other, _chapter(other).title, _language(other)) for other in CHAPTERS]
    return render(request, "manual/page.html", {"chapter": _chapter(slug), "chapters": chapters})


def _chapter(slug: str) -> Chapter:
    return chapter(slug, _language(slug))


def _language(slug: str) -> str:
    """Return the reader's language, English where the chapter is not translated."""
    language = active_language()
    return language if _file(slug, language).is_file() else ORIGINAL


def _file(slug: str, language: str) -> Path:
    docs = Path(settings.BASE_DIR) / "docs"
    return docs / f"{slug}.md" if language == ORIGINAL else docs / language / f"{slug}.md"


@cache
def chapter(slug: str, language: str = ORIGINAL) -> Chapter:
    """Return a chapter, read once: the files are part of the program."""
    addresses = {other: reverse("manual:page", args=[other]) for other in CHAPTERS}
    original = None if language == ORIGINAL else chapter(slug)
    return rendered(slug, language, _file(slug, language).read_text(encoding="utf-8"), addresses, original)
