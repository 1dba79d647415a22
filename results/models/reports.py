"""Reports: their drafts, and the editions that were published."""

from __future__ import annotations

from typing import Any

from django.conf import settings
from django.contrib.postgres.fields import ArrayField
from django.db import models


class Report(models.Model):
    """A report that is written.

    version: of its newest draft, from 1
    """

    created_by = models.ForeignKey(settings.AUTH_USER_MODEL, null=True, on_delete=models.SET_NULL, related_name="+")
    created_at = models.DateTimeField(auto_now_add=True)
    version = models.PositiveIntegerField(default=0)

    class Meta:
        ordering = ["-id"]

    def __str__(self) -> str:
        return f"report {self.pk}"


class InLanguages:
    """A text in the language that it was begun in, and perhaps in others."""

    title: Any
    language: Any
    source: Any
    titles: Any
    sources: Any

    @property
    def languages(self) -> list[str]:
        """All its languages, the one that it was begun in first."""
        return [self.language, *sorted(self.titles)]

    def language_for(self, reader: str) -> str:
        """Return the language in which who reads this one gets it."""
        return reader if reader in self.titles else str(self.language)

    def title_in(self, language: str) -> str:
        return str(self.titles.get(language, self.title))

    def source_in(self, language: str) -> str:
        return str(self.sources.get(language, self.source))


class Written(InLanguages, models.Model):
    """What an author wrote.

    authors: a name a line
    language: that it was begun in, as HTML names it
    source: Markdown with blocks (`webapp.reports.blocks`)
    titles: in its other languages, by language
    sources: likewise
    """

    title = models.CharField(max_length=200)
    authors = models.TextField(blank=True)
    language = models.CharField(max_length=5, default="en")
    source = models.TextField()
    titles = models.JSONField(default=dict)
    sources = models.JSONField(default=dict)

    class Meta:
        abstract = True


class Draft(Written):
    """One version of a report's text, as somebody saved it. No draft ever changes."""

    report = models.ForeignKey(Report, on_delete=models.CASCADE, related_name="drafts")
    version = models.PositiveIntegerField()
    saved_by = models.ForeignKey(settings.AUTH_USER_MODEL, null=True, on_delete=models.SET_NULL, related_name="+")
    saved_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        ordering = ["report", "-version"]
        constraints = [models.UniqueConstraint(fields=["report", "version"], name="one_draft_a_version")]


class Edition(Written):
    """A report as it was published. But for its withdrawal it never changes.

    number: from 1; the newest supersedes those before
    hash: SHA-256 of all that was published
    content: its parts as JSON, figures as SVG among them (`webapp.reports.freezing`); text, to keep every letter
    contents: the same in its other languages, by language
    facts: its provenance
    attempts: whose numbers it has
    citations: hashes of the citations that its comparisons are kept as
    withdrawal: why it was withdrawn; '' where it was not
    """

    report = models.ForeignKey(Report, on_delete=models.PROTECT, related_name="editions")
    number = models.PositiveIntegerField()
    hash = models.CharField(max_length=64, unique=True)
    content = models.TextField()
    contents = models.JSONField(default=dict)
    facts = models.JSONField()
    attempts = ArrayField(models.BigIntegerField())
    citations = ArrayField(models.CharField(max_length=64))
    rule = models.PositiveIntegerField()
    published_by = models.ForeignKey(settings.AUTH_USER_MODEL, null=True, on_delete=models.SET_NULL, related_name="+")
    published_at = models.DateTimeField()
    withdrawn_at = models.DateTimeField(null=True)
    withdrawal = models.TextField(blank=True)

    class Meta:
        ordering = ["-published_at", "-id"]
        constraints = [models.UniqueConstraint(fields=["report", "number"], name="one_edition_a_number")]
