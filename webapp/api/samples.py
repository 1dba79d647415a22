"""Endpoints of what a trial holds besides single values: time series, exact latency histograms, documents."""

from __future__ import annotations

from dataclasses import dataclass

from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import OpenApiParameter, extend_schema
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response

from results import models
from results.domain.measurement.parsed_trial import Latencies
from results.domain.measurement.series import Series
from results.queries.runs.documents import DocumentRow, documents_of
from results.queries.runs.trials import histograms_of, series_of, shown_attempt
from results.ranges import require_attached
from webapp.api.common import Endpoint, SinglePage, attempt_number
from webapp.api.trials import ATTEMPT
from webapp.api.values import FiniteFloatField, ValueSerializer
from webapp.problems import missing_is_404


class SeriesSerializer(ValueSerializer):
    """A quantity over the trial's time, in `unit`.

    - `values`: a gap is null
    - `start_s`, `step_s`, `times_s`: value i was taken at start_s + i × step_s, or at times_s[i] where step_s is 0,
      in seconds since the start of the measured window
    """

    value = Series
    values = serializers.ListField(child=FiniteFloatField(allow_null=True), read_only=True)


@dataclass(frozen=True)
class LatencyCounts:
    """Counts of latencies, exact and as a heat map over time.

    - `latencies_us`, `counts`: how often each latency, in whole µs, occurred
    - `heat_seconds`, `heat_buckets`, `heat_counts`: the cells of the heat map; bucket b holds 2^(b/4) to 2^((b+1)/4) µs
    """

    node: str
    label: str
    unit: str
    total: int
    latencies_us: tuple[int, ...]
    counts: tuple[int, ...]
    heat_seconds: tuple[int, ...]
    heat_buckets: tuple[int, ...]
    heat_counts: tuple[int, ...]


class HistogramSerializer(ValueSerializer):
    """The latencies of all transactions of one script on one client."""

    value = LatencyCounts


class TrialSeries(Endpoint):
    queryset = models.Trial.objects.all()
    serializer_class = SeriesSerializer
    pagination_class = SinglePage

    @extend_schema(
        summary="The series of a trial",
        operation_id="trials_series",
        parameters=[
            ATTEMPT,
            OpenApiParameter("name", OpenApiTypes.STR, many=True, description="Only these; all without it."),
        ],
    )
    def list(self, request: Request, pk: int) -> Response:
        with missing_is_404():
            attempt = shown_attempt(pk, attempt_number(request))
        series = series_of(attempt.run_id, attempt.id, request.query_params.getlist("name"))
        if not series:
            require_attached([attempt.run_id])
        return self.respond_all(series)


class TrialHistograms(Endpoint):
    queryset = models.Trial.objects.all()
    serializer_class = HistogramSerializer
    pagination_class = SinglePage

    @extend_schema(summary="The latency histograms of a trial", operation_id="trials_histograms", parameters=[ATTEMPT])
    def list(self, request: Request, pk: int) -> Response:
        with missing_is_404():
            attempt = shown_attempt(pk, attempt_number(request))
        histograms = histograms_of(attempt.run_id, attempt.id)
        if not histograms:
            require_attached([attempt.run_id])
        return self.respond_all(list(map(_counts, histograms)))


class DocumentSerializer(ValueSerializer):
    """A structured result that is no number.

    - `kind`: `plan` (EXPLAIN of a query), `capability`, `stacks`, …
    """

    value = DocumentRow


class TrialDocuments(Endpoint):
    queryset = models.Trial.objects.all()
    serializer_class = DocumentSerializer
    pagination_class = SinglePage

    @extend_schema(
        summary="The documents of a trial",
        operation_id="trials_documents",
        parameters=[ATTEMPT, OpenApiParameter("kind", OpenApiTypes.STR, description="Only these; all without it.")],
    )
    def list(self, request: Request, pk: int) -> Response:
        with missing_is_404():
            attempt = shown_attempt(pk, attempt_number(request))
        return self.respond_all(documents_of(attempt.id, request.query_params.get("kind", "")))


def _counts(latencies: Latencies) -> LatencyCounts:
    histogram, heat = latencies.histogram, latencies.heat
    return LatencyCounts(
        node=latencies.node,
        label=latencies.label,
        unit="us",
        total=histogram.total,
        latencies_us=histogram.latencies_us,
        counts=histogram.counts,
        heat_seconds=heat.seconds,
        heat_buckets=heat.buckets,
        heat_counts=heat.counts,
    )
