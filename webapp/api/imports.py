"""Endpoints of results that other programs measured."""

from __future__ import annotations

from typing import Any

from drf_spectacular.utils import extend_schema
from rest_framework import serializers
from rest_framework.parsers import MultiPartParser
from rest_framework.request import Request
from rest_framework.response import Response

from results import models
from results.domain.imports.values import ImportedTrial
from results.foreign_results import ImportedConfiguration, store
from results.queries.runs.imports import ImportedTrialRow, ImportRow, import_of, imported_trials, list_imports
from webapp.access import actor, person
from webapp.api.common import Endpoint, Links, fields_of, pages_by
from webapp.api.schema import refuses
from webapp.api.values import ValueSerializer
from webapp.forms.imports import UPLOAD, ImportForm, import_form, read_uploads
from webapp.problems import missing_is_404

MOST_TRIALS = 1_000  # that an import is sent with, some 500 kB


class ImportSerializer(ValueSerializer):
    """Imported results: which files of which program, by whom, and the run that holds them.

    - `files`: name, sha256 and size_bytes of each
    """

    value = ImportRow
    links = Links(run=("api:run", "run_id"), page=("imports:detail", "slug"), self=("api:import", "slug"))


class ImportedTrialSerializer(ValueSerializer):
    """A trial of an import.

    - `files`: those that it was read of; `/api/v1/trials/ID/files/NAME` has each unchanged
    """

    value = ImportedTrialRow
    links = Links(trial=("api:trial", "id"))


class ImportDetailSerializer(ImportSerializer):
    """An import with its trials.

    - `its_trials`: the first 1,000; all are at `/api/v1/trials/?run=N`
    """

    its_trials = serializers.SerializerMethodField()

    def get_its_trials(self, row: ImportRow) -> list[dict[str, Any]]:
        rows = imported_trials(row.run_id, limit=MOST_TRIALS)
        return list(ImportedTrialSerializer(rows, many=True, context=self.context).data)


class ImportFieldsSerializer(serializers.Serializer[Any]):
    """A form (multipart) with the files. Further fields: `levels.FILE` with `factor=level, factor=level`; of a CSV
    table, for each column, `role.HEADING` (factor, metric, replicate, ignored), `name.HEADING`, `unit.HEADING` and
    `better.HEADING` (higher, lower, neither)."""

    file = serializers.ListField(child=serializers.FileField(), help_text="One or several files, a trial each.")
    program = serializers.CharField(required=False, help_text="Empty to recognise it; `csv` for a table.")
    name = serializers.CharField(required=False)
    workload = serializers.CharField(required=False, help_text="Empty for what the files say.")
    note = serializers.CharField(required=False, help_text="Machine, settings, who measured.")
    measured_on = serializers.DateField(required=False)
    encoding = serializers.CharField(required=False, help_text="Of a CSV table; asked for where several fit.")
    delimiter = serializers.CharField(required=False, help_text="Of a CSV table; `tab` for a tabulator.")
    decimal = serializers.CharField(required=False, help_text="Of a CSV table: `.` or `,`; asked for if in doubt.")


class ImportPreviewSerializer(serializers.Serializer[Any]):
    """What would be stored."""

    program = serializers.CharField(read_only=True)
    name = serializers.CharField(source="draft.name", read_only=True)
    workload = serializers.CharField(source="arranged.workload", read_only=True)
    headline = serializers.CharField(source="arranged.headline", read_only=True)
    configurations = serializers.SerializerMethodField()

    def get_configurations(self, form: ImportForm) -> list[dict[str, Any]]:
        return [_configuration(one) for one in form.arranged.configurations]


def _configuration(one: ImportedConfiguration) -> dict[str, Any]:
    return {"name": one.name, "levels": dict(one.levels), "trials": [_trial(trial) for trial in one.trials]}


def _trial(trial: ImportedTrial) -> dict[str, Any]:
    units = {metric.name: metric.unit for metric in trial.part.metrics}
    values = [
        {"metric": one.metric, "label": one.label, "value": one.value, "unit": units[one.metric]}
        for one in trial.part.measurements
    ]
    return {"source": trial.source, "facts": dict(trial.facts), "values": values}


class Imports(Endpoint):
    queryset = models.Publication.objects.exclude(program="")
    serializer_class = ImportSerializer
    pagination_class = pages_by("-id", 100)
    row_key = "slug"
    parser_classes = (MultiPartParser,)
    upload = UPLOAD

    @extend_schema(summary="Imported results, which other programs measured")
    def list(self, request: Request) -> Response:
        return self.page_of(lambda slugs: list_imports(slugs=slugs))

    @refuses(409, 422)
    @extend_schema(
        summary="Import results",
        request={"multipart/form-data": ImportFieldsSerializer},
        responses={201: ImportSerializer},
    )
    def create(self, request: Request) -> Response:
        run = store(_form(request).draft, user=person(request), actor=actor(request))
        slug = models.Publication.objects.values_list("slug", flat=True).get(runs=run)
        return self.respond(import_of(slug), 201)

    @refuses(409, 422)
    @extend_schema(
        summary="What an import would store",
        request={"multipart/form-data": ImportFieldsSerializer},
        responses=ImportPreviewSerializer,
    )
    def preview(self, request: Request) -> Response:
        return Response(ImportPreviewSerializer(_form(request)).data)


class Import(Endpoint):
    queryset = models.Publication.objects.all()
    serializer_class = ImportDetailSerializer

    @extend_schema(summary="One import with its trials")
    def retrieve(self, request: Request, slug: str) -> Response:
        with missing_is_404():
            return self.respond(import_of(slug))


def _form(request: Request) -> ImportForm:
    files = read_uploads(request.FILES.getlist("file"))
    fields = {name: str(value) for name, value in fields_of(request).items() if name != "file"}
    return import_form(fields, files)
