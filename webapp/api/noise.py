"""Endpoint of noise: how much metrics spread where nothing differs, as measured in A/A runs."""

from __future__ import annotations

from django_filters import rest_framework as filters
from drf_spectacular.utils import extend_schema
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response

from results import models
from results.queries.agents.noise import NoiseRow, list_noise
from webapp.api.common import Endpoint, Links, pages_by
from webapp.api.values import ValueSerializer


class NoiseSerializer(ValueSerializer):
    """The spread of one metric between two configurations that are the same.

    - `spread`: standard deviation of single values, as a share of them (0.02 = 2 %)
    - `replicates`: pairs of values that it was computed from
    - `detectable`: the smallest difference, as a share, that five replicates show in four of five cases
    - `trial_ids`: the trials that it was computed from
    """

    value = NoiseRow
    detectable = serializers.FloatField(read_only=True, allow_null=True)
    links = Links(run=("api:run", "run_id"), page=("runs:detail", "run_id"))


class NoiseFilter(filters.FilterSet):
    run = filters.NumberFilter("run_id", label="Id of a run.")
    workload = filters.CharFilter("run__workload", label="Name of a workload.")
    metric = filters.CharFilter("metric_id", label="Name of a metric.")


class Noise(Endpoint):
    queryset = models.Noise.objects.all()
    serializer_class = NoiseSerializer
    pagination_class = pages_by("-id", 200)
    filter_backends = (filters.DjangoFilterBackend,)
    filterset_class = NoiseFilter

    @extend_schema(summary="How much metrics spread where nothing differs", operation_id="noise_list")
    def list(self, request: Request) -> Response:
        return self.page_of(list_noise)
