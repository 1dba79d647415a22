"""The two reports that a demo begins with, in the language that is active: one over its own run, one over published
figures."""

from __future__ import annotations

import re
from pathlib import Path

from django.contrib.auth.models import User
from django.utils import timezone
from django.utils.translation import get_language, gettext

from results import models, reports
from results.domain.messages import LANGUAGES, ORIGINAL, localized
from results.domain.messages import gettext_lazy as _
from results.reports import Text
from webapp.reports import findings, templates
from webapp.reports.blocks import Shelf
from webapp.reports.publishing import publish

OF_PUBLISHED = _("Fixed points of 2012 and 2019: figures that others published")
_RUN = re.compile(r"\{\{([\w.-]+)\}\}")


def over_published(site: str, *, user: User, actor: str) -> models.Edition:
    """Publish the report over published figures, or return the edition that there is. Raises TeitenError."""
    language = _language()
    text = (Path(__file__).parent / f"published.{language}.md").read_text(encoding="utf-8")
    slugs = set(_RUN.findall(text))
    runs = models.Run.objects.filter(publication__slug__in=slugs).values_list("publication__slug", "pk")
    run_of = {slug: str(pk) for slug, pk in runs}
    source = _RUN.sub(lambda found: run_of[found[1]], text)
    return _published(Text(localized(OF_PUBLISHED), "Teiten", language, source), site, user=user, actor=actor)


def over_run(run: models.Run, site: str, comparison_page: str, *, user: User, actor: str) -> models.Edition:
    """Publish a report over one run, with all that can be generated, or return the edition that there is. Raises
    TeitenError."""
    summary = findings.propose(f"run={run.pk}", comparison_page)
    source = templates.begin("observation", [run.pk], summary)
    title = gettext("{name}, run {run}").format(name=run.name, run=run.pk)
    text = Text(title, user.get_username(), _language(), source)
    return _published(text, site, user=user, actor=actor)


def _language() -> str:
    """Return the active language, where reports are written in it."""
    language = get_language() or ""
    return language if language in LANGUAGES else ORIGINAL


def _published(text: Text, site: str, *, user: User, actor: str) -> models.Edition:
    there = models.Edition.objects.filter(title=text.title, published_by=user).first()
    if there:
        return there
    report = reports.create(text, user=user, actor=actor)
    return publish(report.drafts.get(version=1), Shelf(site, timezone.now()), user=user, actor=actor)
