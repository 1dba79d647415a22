"""Endpoint of metrics: what their names mean."""

from __future__ import annotations

from drf_spectacular.utils import extend_schema
from rest_framework.request import Request
from rest_framework.response import Response

from results import models
from results.queries.shared.metrics import MetricRow, list_metrics
from webapp.api.common import Endpoint, SinglePage
from webapp.api.values import serializer_of


class Metrics(Endpoint):
    queryset = models.Metric.objects.all()
    serializer_class = serializer_of(MetricRow)
    pagination_class = SinglePage

    @extend_schema(summary="Every metric that has been measured")
    def list(self, request: Request) -> Response:
        return self.respond_all(list_metrics())
