"""Operations on reports: save a draft, publish an edition, withdraw one."""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

from django.contrib.auth.models import User
from django.db import transaction
from django.utils import timezone

from results import models
from results.domain.errors import StateError, TeitenError
from results.domain.messages import LANGUAGES, pgettext_lazy
from results.domain.messages import gettext_lazy as _
from results.models.reports import InLanguages
from results.runs import audit, refuse_private

_CONTROL = re.compile(r"[\x00-\x08\x0b\x0c\x0e-\x1f\x7f\ud800-\udfff]")
MOST_LETTERS = 200_000  # of a text


@dataclass(frozen=True)
class Text(InLanguages):
    """What an author writes, in one language or in several.

    authors: a name a line.
    titles, sources: in its other languages, by language."""

    title: str
    authors: str
    language: str
    source: str
    titles: Mapping[str, str] = field(default_factory=dict)
    sources: Mapping[str, str] = field(default_factory=dict)


def text_of(stored: models.Draft | models.Edition) -> Text:
    """Return what an author wrote, from what is stored."""
    return Text(stored.title, stored.authors, stored.language, stored.source, stored.titles, stored.sources)


@dataclass(frozen=True)
class Published:
    """What an edition consists of besides its text.

    parts: JSON, as text.
    translated: the parts in its other languages, by language.
    facts: its provenance.
    attempts: whose numbers it has.
    citations: hashes."""

    parts: str
    facts: Mapping[str, Any]
    attempts: Sequence[int]
    citations: Sequence[str]
    rule: int
    translated: Mapping[str, str] = field(default_factory=dict)


@transaction.atomic
def create(text: Text, *, user: User | None, actor: str) -> models.Report:
    """Store a report with its first draft. Raises TeitenError."""
    report = models.Report.objects.create(created_by=user)
    save(report.pk, text, 0, user=user, actor=actor)
    report.refresh_from_db()
    return report


@transaction.atomic
def save(report_id: int, text: Text, version: int, *, user: User | None, actor: str) -> models.Draft:
    """Store a new draft, or return the newest where nothing changed. Raises TeitenError for an invalid text,
    StateError where somebody saved another draft meanwhile, and DoesNotExist.

    version: of the draft that was changed; 0 for the first"""
    _require_valid(text)
    report = models.Report.objects.select_for_update().get(pk=report_id)
    if report.version != version:
        other = report.drafts.get(version=report.version)
        raise StateError(
            _("Somebody saved version {version} meanwhile.", version=report.version),
            where="source",
            why=_(
                "{user} saved it, and you began with version {version}.",
                user=str(other.saved_by) if other.saved_by else _("A deleted account"),
                version=version,
            ),
            todo=_(
                "Nothing is lost: copy what you wrote, open version {version}, and put it in there.",
                version=report.version,
            ),
        )
    newest = report.drafts.filter(version=version).first()
    if newest and text_of(newest) == text:
        return newest
    draft = models.Draft.objects.create(report=report, version=version + 1, saved_by=user, **vars(text))
    models.Report.objects.filter(pk=report_id).update(version=draft.version)
    audit(actor, "save report", f"report {report_id}", version=draft.version)
    return draft


def _require_valid(text: Text) -> None:
    for language in text.languages:
        if language not in LANGUAGES:
            raise TeitenError(
                _("There is no language {name!r}.", name=language),
                where="language",
                todo=_("Choose en or ja."),
            )
    if text.language in text.titles:
        raise TeitenError(
            _("It has a text in {language} already.", language=LANGUAGES[text.language]),
            where="language",
            todo=_("Leave the language, or remove that text first."),
        )
    _require_text(text.authors, "authors")
    for language in text.languages:
        _require_title(text.title_in(language))
        _require_source(text.source_in(language))


def _require_title(title: str) -> None:
    if not title.strip():
        raise TeitenError(_("A report needs a title."), where="title", todo=_("Write what was measured."))
    if len(title) > 200:
        raise TeitenError(_("The title is longer than 200 letters."), where="title", todo=_("Shorten it."))
    _require_text(title, "title")


def _require_source(source: str) -> None:
    if len(source) > MOST_LETTERS:
        raise TeitenError(
            _("The text has {count:,} letters.", count=len(source)),
            where="source",
            todo=_("{most:,} are possible.", most=MOST_LETTERS),
        )
    _require_text(source, "source")


def _require_text(text: str, where: str) -> None:
    """Raise TeitenError for control characters, which neither XML nor LaTeX can hold."""
    if found := _CONTROL.search(text):
        what = _("There is a control character (U+{code:04X}) in the {field}.", code=ord(found[0]), field=where)
        before = text[max(0, found.start() - 20) : found.start()]
        raise TeitenError(what, where=where, todo=_("Remove it, after {before!r}.", before=before))


@transaction.atomic
def publish(
    draft: models.Draft, published: Published, at: datetime, *, user: User | None, actor: str
) -> models.Edition:
    """Store an edition for good. Raises StateError where the draft is not the newest, where this very text was
    published with the same numbers already, and where a trial was deleted meanwhile."""
    report = models.Report.objects.select_for_update().get(pk=draft.report_id)
    if report.version != draft.version:
        raise StateError(
            _("Somebody saved version {version} meanwhile.", version=report.version),
            todo=_("Look at it, then publish."),
        )
    _require_there(published.attempts)
    text = text_of(draft)
    _require_changed(report, text, published)
    edition = models.Edition.objects.create(
        report=report,
        number=report.editions.count() + 1,
        hash=content_hash(text, published),
        **vars(text),
        content=published.parts,
        contents=published.translated,
        facts=published.facts,
        attempts=list(published.attempts),
        citations=list(published.citations),
        rule=published.rule,
        published_by=user,
        published_at=at,
    )
    audit(actor, "publish report", f"report {report.pk}", edition=edition.number, hash=edition.hash)
    return edition


def _require_changed(report: models.Report, text: Text, published: Published) -> None:
    last = report.editions.order_by("-number").first()
    if last is None or last.withdrawn_at:
        return
    same_numbers = (last.attempts, last.citations) == (list(published.attempts), list(published.citations))
    if text_of(last) == text and same_numbers:
        raise StateError(
            _("This is edition {edition} already, with the same text and the same numbers.", edition=last.number)
        )


def _require_there(attempts: Sequence[int]) -> None:
    """Keep the runs from being deleted until the transaction ends."""
    runs = models.Attempt.objects.filter(pk__in=attempts).values_list("run_id", flat=True).distinct()
    held = models.Run.objects.select_for_update(no_key=True).filter(pk__in=list(runs)).order_by("pk")
    refuse_private(held, pgettext_lazy("of a run that cannot be", "published"))
    if models.Attempt.objects.filter(pk__in=attempts).count() < len(set(attempts)):
        raise StateError(_("A trial of this report was deleted meanwhile."), todo=_("Look at the preview once more."))


def content_hash(text: Text, published: Published) -> str:
    """SHA-256 of `hashed`, hex."""
    return hashlib.sha256(hashed(text, published).encode()).hexdigest()


def hashed(text: Text, published: Published) -> str:
    """Return all that is published as one text: what an author wrote, every part with its numbers and figures, the
    provenance, the citations and the rule. What is there for other languages is left out where there are none."""
    content = {**vars(text), **vars(published), "attempts": list(published.attempts)}
    for name in ("titles", "sources", "translated"):
        if not content[name]:
            del content[name]
    content["citations"] = list(published.citations)
    return json.dumps(content, sort_keys=True, separators=(",", ":"), ensure_ascii=False)


def hashed_of(edition: models.Edition) -> str:
    """Return what the hash of an edition is of, from what is stored."""
    stored = Published(
        edition.content, edition.facts, edition.attempts, edition.citations, edition.rule, edition.contents
    )
    return hashed(text_of(edition), stored)


@transaction.atomic
def withdraw(edition: models.Edition, reason: str, *, actor: str) -> None:
    """Mark an edition as withdrawn, for good; a notice stands in its place. Raises TeitenError without a reason,
    StateError where it is withdrawn already."""
    if not reason.strip():
        raise TeitenError(_("A withdrawal needs a reason."), where="reason", todo=_("Readers of the notice see it."))
    _require_text(reason, "reason")
    changed = models.Edition.objects.filter(pk=edition.pk, withdrawn_at=None).update(
        withdrawn_at=timezone.now(), withdrawal=reason.strip()
    )
    if not changed:
        raise StateError(_("It was withdrawn already."))
    audit(actor, "withdraw report", f"report {edition.report_id}", edition=edition.number, reason=reason.strip())
