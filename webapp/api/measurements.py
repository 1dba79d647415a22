"""Endpoint of measurements: single values of single trials."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from itertools import islice
from typing import Any

from django.db import connection, transaction
from django.db.models import Case, Exists, OuterRef, Q, QuerySet, TextField, Value, When
from django.db.models.fields.json import KeyTextTransform
from django.db.models.functions import Cast, Coalesce
from django.http import HttpResponseBase
from django_filters import rest_framework as filters
from drf_spectacular.utils import extend_schema
from rest_framework.request import Request

from results import models
from results.queries.runs.trials import Measured, list_measurements
from results.queries.shared.facets import metrics_of
from results.queries.shared.metrics import metric_names
from results.queries.shared.selection import LABEL, NODE
from webapp.api.common import Links, chosen_fields, pages_by, require_one_of
from webapp.api.facts import shown_facts, with_facts
from webapp.api.filters import FILTERS, Filters, configurations_passing, filters_of, of_measurements, require_run
from webapp.api.streams import PATIENCE_S
from webapp.api.tables import Batch, Column, Kind, Tabular, stream, streamed, table_responses
from webapp.api.values import ValueSerializer

BATCH = 2000  # rows of a stream that are in memory at a time
_CONFIGURATION = "attempt__trial__configuration"
EXPRESSIONS: dict[str, Any] = {
    "id": "id",
    "run_id": "run_id",
    "trial_id": "attempt__trial_id",
    "attempt_id": "attempt_id",
    "configuration": f"{_CONFIGURATION}__index",
    "levels": Cast(f"{_CONFIGURATION}__levels", TextField()),
    "block": "attempt__trial__block",
    "version": KeyTextTransform("version", f"{_CONFIGURATION}__dimensions"),
    "metric": "metric_id",
    "unit": "metric__unit",
    "better": "metric__better",
    "node": "node",
    "label": "label",
    "value": "value",
    "measured_from": "attempt__measured_from",
    "environment": "attempt__environment",
    "plan_hash": "run__plan_hash",
    "bundle_sha256": "attempt__bundle_sha256",
    "source": Case(
        When(run__publication=None, run__imported=None, then=Value("measured")),
        When(run__publication=None, then=Value("another-teiten")),
        When(run__publication__program="", then=Value("published")),
        default=Value("imported"),
        output_field=TextField(),
    ),
    "program": Coalesce("run__publication__program", Value(""), output_field=TextField()),
    "standing": "run__standing",
}
_WHOLE = ("id", "run_id", "trial_id", "attempt_id", "configuration", "block")
_KINDS = dict.fromkeys(_WHOLE, Kind.WHOLE) | {"levels": Kind.JSON, "value": Kind.NUMBER, "measured_from": Kind.TIME}
COLUMNS = tuple(Column(name, _KINDS.get(name, Kind.TEXT)) for name in EXPRESSIONS)


class MeasuredSerializer(ValueSerializer):
    """One value of a metric in a trial, in `unit`.

    - `node`: role of the node, or empty
    - `label`: which of several values (script, phase, table), or empty
    """

    value = Measured
    links = Links(
        trial=("api:trial", "trial_id"), bundle=("api:bundle", "trial_id"), page=("trials:detail", "trial_id")
    )


class Numbers(filters.BaseInFilter, filters.NumberFilter):
    """Ids with commas between them."""


class Names(filters.BaseInFilter, filters.CharFilter):
    """Names with commas between them."""


class MeasurementFilter(filters.FilterSet):
    run = Numbers("run_id", label="Id of a run, or several with commas.")
    trial = filters.NumberFilter("attempt__trial_id", label="Id of a trial.")
    metric = Names("metric_id", label="Name of a metric, or several with commas.")
    node = filters.CharFilter(label="Role: client, primary, …")

    def filter_queryset(self, queryset: QuerySet[Any]) -> QuerySet[Any]:
        """Keep the values of attempts that count.

        EXISTS, since the planner expects one row of a join with the trials by attempt and by its trial, and makes all
        of it before the page. The run is named in the subquery as well: else all values up to the run's are read.
        """
        measurements = super().filter_queryset(queryset)
        _require_metrics(self.form.cleaned_data["metric"] or ())
        counted_trials = models.Trial.objects.filter(attempt=OuterRef("attempt"))
        runs = self.form.cleaned_data["run"] or []
        if runs:
            counted_trials = counted_trials.filter(run_id__in=runs)
        chosen = filters_of(self.request)
        configurations = configurations_passing([int(run) for run in runs], chosen)
        if configurations is not None:
            counted_trials = counted_trials.filter(configuration_id__in=configurations)
        return measurements.filter(Exists(counted_trials), _own(chosen, [int(run) for run in runs]))


def _require_metrics(names: Collection[str]) -> None:
    """Raise TeitenError for a metric that was never measured."""
    known = metric_names() if names else []
    for name in names:
        require_one_of("metric", "metric", name, known)


def _own(chosen: Filters, runs: Sequence[int]) -> Q:
    """Return the condition of filters by the measurement's own node and label, of the runs. Raises TeitenError."""

    def known() -> dict[str, set[str]]:
        require_run(chosen, runs)
        metrics = metrics_of(runs)
        return {
            NODE: {node for metric in metrics for node in metric.nodes},
            LABEL: {label for metric in metrics for label in metric.labels},
        }

    return Q(**{f"{name}__in": list(texts) for name, texts in of_measurements(chosen, known).items()})


class Measurements(Tabular):
    """Values of the attempts that count; those of failed attempts are at their trials. With another `format` than JSON,
    all of them as a stream of rows."""

    queryset = models.Measurement.objects.all()
    serializer_class = MeasuredSerializer
    pagination_class = with_facts(pages_by("id", 200, "value"))
    filter_backends = (filters.DjangoFilterBackend,)
    filterset_class = MeasurementFilter

    @extend_schema(summary="Values of trials", parameters=[FILTERS], responses=table_responses(MeasuredSerializer))
    def list(self, request: Request) -> HttpResponseBase:
        if streamed(request):
            names = chosen_fields(request, list(EXPRESSIONS))
            columns = [column for name in names for column in COLUMNS if column.name == name]
            return stream(request, "measurements", columns, self._batches(names))
        rows = self.ordered(lambda ids: list_measurements(ids=ids, limit=len(ids)))
        answer = self.get_paginated_response(self.shown(rows))
        answer.data["facts"] = shown_facts(request, (row.trial_id for row in rows))
        return answer

    def _batches(self, names: Sequence[str]) -> Iterator[Batch]:
        """Give the rows that the address asks for, by a cursor of the warehouse's: in one transaction, so that all are
        of one moment."""
        rows = self.filter_queryset(models.Measurement.objects.all())
        ordering = self.pagination_class().get_ordering(self.request, rows, self)
        values = rows.order_by(*ordering).values_list(*(EXPRESSIONS[name] for name in names))
        with transaction.atomic(), connection.cursor() as cursor:
            cursor.execute("SET LOCAL idle_in_transaction_session_timeout = %s", [f"{PATIENCE_S}s"])
            read = values.iterator(chunk_size=BATCH)
            while batch := list(islice(read, BATCH)):
                yield batch
