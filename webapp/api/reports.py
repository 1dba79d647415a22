"""Endpoints of published reports."""

from __future__ import annotations

import json
from typing import Any, TypedDict

from django.db.models import QuerySet
from drf_spectacular.utils import extend_schema
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response

from results import models
from webapp.api.common import Endpoint, Links, address, pages_by
from webapp.exports.forms import BIBLIOGRAPHIES
from webapp.language import PARAMETER
from webapp.problems import missing_is_404
from webapp.reports.exports import FORMS
from webapp.reports.publishing import names

_HEAVY = ("content", "contents", "facts", "source", "sources")


class Translation(TypedDict):
    """An edition in one more language."""

    text: str
    parts: list[dict[str, Any]]
    files: dict[str, str]


class EditionSerializer(serializers.ModelSerializer[models.Edition]):
    """An edition of a report.

    - `language`: that it was begun in, and that `title` is of
    - `titles`: in its other languages, by language
    - `sha256`: over its text, numbers and figures
    - `rule`: version of the rule of verdicts
    - `citations`: its comparisons, as `/api/v1/citations/` has them
    - `withdrawal`: why it was withdrawn; empty where it was not
    """

    report = serializers.IntegerField(source="report_id", read_only=True)
    authors = serializers.SerializerMethodField()
    titles = serializers.DictField(child=serializers.CharField(), read_only=True)
    sha256 = serializers.CharField(source="hash", read_only=True)
    trials = serializers.SerializerMethodField()
    citations = serializers.ListField(child=serializers.CharField(), read_only=True)
    links = Links(self=("api:report", "report_id", "number"), page=("reports:edition", "report_id", "number"))

    class Meta:
        model = models.Edition
        fields: tuple[str, ...] = (
            "report",
            "number",
            "title",
            "authors",
            "language",
            "titles",
            "published_at",
            "sha256",
            "rule",
            "trials",
            "citations",
            "withdrawn_at",
            "withdrawal",
            "links",
        )

    def get_authors(self, edition: models.Edition) -> list[str]:
        return names(edition.authors)

    def get_trials(self, edition: models.Edition) -> int:
        return len(edition.attempts)


class EditionDetailSerializer(EditionSerializer):
    """An edition with its content. Of one that was withdrawn `text`, `parts`, `provenance`, `files` and `translations`
    are null.

    - `text`: Markdown with blocks, as it was written
    - `parts`: what it shows: `prose` (Markdown), `table` or `figure` each, in this order; figures without their drawing
    - `provenance`: as in `provenance.json`
    - `files`: form → address
    - `translations`: other language → `text`, `parts` and `files` in it
    """

    text = serializers.SerializerMethodField()
    parts = serializers.SerializerMethodField()
    provenance = serializers.SerializerMethodField()
    files = serializers.SerializerMethodField()
    translations = serializers.SerializerMethodField()

    class Meta(EditionSerializer.Meta):
        fields = (*EditionSerializer.Meta.fields, "text", "parts", "provenance", "files", "translations")

    def get_text(self, edition: models.Edition) -> str | None:
        return None if edition.withdrawn_at else edition.source

    def get_parts(self, edition: models.Edition) -> list[dict[str, Any]] | None:
        return None if edition.withdrawn_at else _parts(edition.content)

    def get_provenance(self, edition: models.Edition) -> dict[str, Any] | None:
        return None if edition.withdrawn_at else edition.facts

    def get_files(self, edition: models.Edition) -> dict[str, str] | None:
        return None if edition.withdrawn_at else self._files(edition, edition.language)

    def get_translations(self, edition: models.Edition) -> dict[str, Translation] | None:
        if edition.withdrawn_at:
            return None
        return {
            language: {
                "text": edition.sources[language],
                "parts": _parts(edition.contents[language]),
                "files": self._files(edition, language),
            }
            for language in edition.languages[1:]
        }

    def _files(self, edition: models.Edition, language: str) -> dict[str, str]:
        request = self.context.get("request")
        where = edition.report_id, edition.number
        chosen = f"?{PARAMETER}={language}" if edition.titles else ""
        forms = (*FORMS, *BIBLIOGRAPHIES)
        return {form: address(request, "reports:export", *where, form) + chosen for form in forms}


def _parts(content: str) -> list[dict[str, Any]]:
    return [_without_drawing(part) for part in json.loads(content)]


def _without_drawing(part: dict[str, Any]) -> dict[str, Any]:
    if "figure" not in part:
        return part
    figure = part["figure"]
    return {"figure": {name: value for name, value in figure.items() if name != "svg"}}


class Reports(Endpoint):
    queryset = models.Edition.objects.all()
    serializer_class = EditionSerializer
    pagination_class = pages_by("-published_at", 100)

    def get_queryset(self) -> QuerySet[Any]:
        return models.Edition.objects.defer(*_HEAVY)

    @extend_schema(summary="Every edition of every published report, the newest first")
    def list(self, request: Request) -> Response:
        return self.page_of_models()


class Report(Endpoint):
    queryset = models.Edition.objects.all()
    serializer_class = EditionDetailSerializer

    @extend_schema(summary="An edition of a report with its content", operation_id="reports_retrieve")
    def retrieve(self, request: Request, report: int, number: int) -> Response:
        with missing_is_404():
            edition = models.Edition.objects.get(report_id=report, number=number)
        return self.respond(edition)
