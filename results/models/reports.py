"""Reports: their drafts, and the editions that were published."""

from __future__ import annotations

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


class Draft(models.Model):
    """One version of a report's text, as somebody saved it. No draft ever changes.

    authors: a name a line
    language: of its text, as HTML names it
    source: Markdown with blocks (`webapp.reports.blocks`)
    """

    report = models.ForeignKey(Report, on_delete=models.CASCADE, related_name="drafts")
    version = models.PositiveIntegerField()
    title = models.CharField(max_length=200)
    authors = models.TextField(blank=True)
    language = models.CharField(max_length=5, default="en")
    source = models.TextField()
    saved_by = models.ForeignKey(settings.AUTH_USER_MODEL, null=True, on_delete=models.SET_NULL, related_name="+")
    saved_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        ordering = ["report", "-version"]
        constraints = [models.UniqueConstraint(fields=["report", "version"], name="one_draft_a_version")]


class Edition(models.Model):
    """A report as it was published. But for its withdrawal it never changes.

    number: from 1; the newest supersedes those before
    hash: SHA-256 of all that was published
    content: its parts as JSON, figures as SVG among them (`webapp.reports.freezing`); text, to keep every letter
    facts: its provenance
    attempts: whose numbers it has
    citations: hashes of the citations that its comparisons are kept as
    withdrawal: why it was withdrawn; '' where it was not
    """

    report = models.ForeignKey(Report, on_delete=models.PROTECT, related_name="editions")
    number = models.PositiveIntegerField()
    hash = models.CharField(max_length=64, unique=True)
    title = models.CharField(max_length=200)
    authors = models.TextField(blank=True)
    language = models.CharField(max_length=5)
    source = models.TextField()
    content = models.TextField()
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
