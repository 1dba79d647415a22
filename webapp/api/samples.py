"""What a trial holds besides single values: series over its time, exact latency histograms, documents."""

from __future__ import annotations

from dataclasses import dataclass

from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import OpenApiParameter, extend_schema
from rest_framework.request import Request
from rest_framework.response import Response

from results import models
from results.domain.measurement.parsed_trial import Latencies
from results.domain.measurement.series import Series
from results.queries.documents import DocumentRow, documents_of
from results.queries.trials import histograms_of, series_of, shown_attempt
from webapp.api.common import Endpoint, Whole, attempt_number
from webapp.api.trials import ATTEMPT
from webapp.api.values import ValueSerializer
from webapp.problems import missing_is_404


class SeriesSerializer(ValueSerializer):
    """A quantity over the trial's time, in `unit`. Value i is at start_s + i × step_s, or at times_s[i] where step_s
    is 0: seconds since the start of the measured window. A gap is null."""

    value = Series


@dataclass(frozen=True)
class LatencyCounts:
    """latencies_us and counts: how often each whole µs was seen. heat_*: cells (second, quarter-octave bucket,
    count); bucket b holds 2^(b/4) to 2^((b+1)/4) µs."""

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
    """Every transaction's latency of one script on one client."""

    value = LatencyCounts


class TrialSeries(Endpoint):
    queryset = models.Trial.objects.all()
    serializer_class = SeriesSerializer
    pagination_class = Whole

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
        return self.whole(series_of(attempt.id, request.query_params.getlist("name")))


class TrialHistograms(Endpoint):
    queryset = models.Trial.objects.all()
    serializer_class = HistogramSerializer
    pagination_class = Whole

    @extend_schema(summary="The latency histograms of a trial", operation_id="trials_histograms", parameters=[ATTEMPT])
    def list(self, request: Request, pk: int) -> Response:
        with missing_is_404():
            attempt = shown_attempt(pk, attempt_number(request))
        return self.whole([_counts(latencies) for latencies in histograms_of(attempt.id)])


class DocumentSerializer(ValueSerializer):
    """Something structured that is no number. kind: `plan` (EXPLAIN of a query), `capability`, `stacks`, …"""

    value = DocumentRow


class TrialDocuments(Endpoint):
    queryset = models.Trial.objects.all()
    serializer_class = DocumentSerializer
    pagination_class = Whole

    @extend_schema(
        summary="The documents of a trial",
        operation_id="trials_documents",
        parameters=[ATTEMPT, OpenApiParameter("kind", OpenApiTypes.STR, description="Only these; all without it.")],
    )
    def list(self, request: Request, pk: int) -> Response:
        with missing_is_404():
            attempt = shown_attempt(pk, attempt_number(request))
        return self.whole(documents_of(attempt.id, request.query_params.get("kind", "")))


def _counts(latencies: Latencies) -> LatencyCounts:
    histogram, heat = latencies.histogram, latencies.heat
    return LatencyCounts(
        latencies.node,
        latencies.label,
        "us",
        histogram.total,
        histogram.latencies_us,
        histogram.counts,
        heat.seconds,
        heat.buckets,
        heat.counts,
    )
