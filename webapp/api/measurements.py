"""Endpoint of measurements: single values of single trials."""

from __future__ import annotations

from typing import Any

from django.db.models import Exists, OuterRef, QuerySet
from django_filters import rest_framework as filters
from drf_spectacular.utils import extend_schema
from rest_framework.request import Request
from rest_framework.response import Response

from results import models
from results.queries.runs.trials import Measured, list_measurements
from webapp.api.common import Endpoint, Links, pages_by
from webapp.api.values import ValueSerializer


class MeasuredSerializer(ValueSerializer):
    """One value of a metric in a trial, in `unit`.

    - `node`: role of the node, or empty
    - `label`: which of several values (script, phase, table), or empty
    """

    value = Measured
    links = Links(
        trial=("api:trial", "trial_id"), bundle=("api:bundle", "trial_id"), page=("trials:detail", "trial_id")
    )


class MeasurementFilter(filters.FilterSet):
    run = filters.NumberFilter("run_id", label="Id of a run.")
    trial = filters.NumberFilter("attempt__trial_id", label="Id of a trial.")
    metric = filters.CharFilter("metric_id", label="Name of a metric.")
    node = filters.CharFilter(label="Role: client, primary, …")

    def filter_queryset(self, queryset: QuerySet[Any]) -> QuerySet[Any]:
        """Keep the values of attempts that count.

        EXISTS, since the planner expects one row of a join with the trials by attempt and by its trial, and makes all
        of it before the page. The run is named in the subquery as well: else all values up to the run's are read.
        """
        measurements = super().filter_queryset(queryset)
        counted_trials = models.Trial.objects.filter(attempt=OuterRef("attempt"))
        run_id = self.form.cleaned_data["run"]
        if run_id is not None:
            counted_trials = counted_trials.filter(run_id=run_id)
        return measurements.filter(Exists(counted_trials))


class Measurements(Endpoint):
    """Values of the attempts that count; those of failed attempts are at their trials."""

    queryset = models.Measurement.objects.all()
    serializer_class = MeasuredSerializer
    pagination_class = pages_by("id", 200)
    filter_backends = (filters.DjangoFilterBackend,)
    filterset_class = MeasurementFilter

    @extend_schema(summary="Values of trials")
    def list(self, request: Request) -> Response:
        return self.page_of(lambda ids: list_measurements(ids=ids, limit=len(ids)))
