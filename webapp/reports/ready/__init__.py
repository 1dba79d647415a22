"""The two reports that a demo begins with, in all languages: one over its own run, one over published figures."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path

from django.contrib.auth.models import User
from django.utils import timezone
from django.utils.translation import gettext

from results import models, reports
from results.domain.messages import LANGUAGES, localized
from results.domain.messages import gettext_lazy as _
from results.reports import Text
from webapp.documents.words import in_language
from webapp.language import active_language
from webapp.reports import findings, templates
from webapp.reports.blocks import Shelf
from webapp.reports.publishing import publish

OF_PUBLISHED = _("Fixed points of 2012 and 2019: figures that others published")
_RUN = re.compile(r"\{\{([\w.-]+)\}\}")


def over_published(site: str, *, user: User, actor: str) -> models.Edition:
    """Publish the report over published figures, or return the edition that there is. Raises TeitenError."""
    return _published(_over_published, "Teiten", site, user=user, actor=actor)


def _over_published() -> tuple[str, str]:
    text = (Path(__file__).parent / f"published.{active_language()}.md").read_text(encoding="utf-8")
    slugs = set(_RUN.findall(text))
    runs = models.Run.objects.filter(publication__slug__in=slugs).values_list("publication__slug", "pk")
    run_of = {slug: str(pk) for slug, pk in runs}
    return localized(OF_PUBLISHED), _RUN.sub(lambda found: run_of[found[1]], text)


def over_run(run: models.Run, site: str, comparison_page: str, *, user: User, actor: str) -> models.Edition:
    """Publish a report over one run, with all that can be generated, or return the edition that there is. Raises
    TeitenError."""

    def written() -> tuple[str, str]:
        summary = findings.propose(f"run={run.pk}", comparison_page)
        title = gettext("{name}, run {run}").format(name=run.name, run=run.pk)
        return title, templates.begin("observation", [run.pk], summary)

    return _published(written, user.get_username(), site, user=user, actor=actor)


def _published(
    written: Callable[[], tuple[str, str]], author: str, site: str, *, user: User, actor: str
) -> models.Edition:
    """Publish a report in all languages, that which is active first.

    written: gives title and text in the active language"""
    first = active_language()
    titles, sources = {}, {}
    for language in (first, *(other for other in LANGUAGES if other != first)):
        with in_language(language):
            titles[language], sources[language] = written()
    text = Text(titles.pop(first), author, first, sources.pop(first), titles, sources)
    there = models.Edition.objects.filter(title__in=[text.title, *titles.values()], published_by=user).first()
    if there:
        return there
    report = reports.create(text, user=user, actor=actor)
    return publish(report.drafts.get(version=1), Shelf(site, timezone.now()), user=user, actor=actor)
