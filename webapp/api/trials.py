"""Endpoints of trials."""

from __future__ import annotations

from django_filters import rest_framework as filters
from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import OpenApiParameter, extend_schema
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response

from results import models, runs
from results.domain.states import TrialState
from results.queries.runs.trials import TrialDetail, TrialRow, list_trials, trial_detail
from webapp.access import actor, require_plan
from webapp.api.common import Endpoint, Links, attempt_number, pages_by
from webapp.api.schema import refuses
from webapp.api.values import ValueSerializer
from webapp.problems import missing_is_404
from workers.registry import kinds
from workers.tasks import wake_dispatcher

ATTEMPT = OpenApiParameter(
    "attempt", OpenApiTypes.INT, description="Number of an attempt; without it the counted one, else the latest."
)


class TrialSerializer(ValueSerializer):
    """A trial.

    - `state`: waiting, running, done, failed or cancelled
    - `value`: of the run's first `metric`, in `unit`; only where the trial is done
    - `error`: why it failed, in one line
    - `bundle`: whether the raw files of its latest attempt are kept
    """

    value = TrialRow
    leave_out = ("failure",)
    error = serializers.CharField(read_only=True)
    links = Links(
        self=("api:trial", "id"),
        run=("api:run", "run_id"),
        series=("api:series", "id"),
        histograms=("api:histograms", "id"),
        documents=("api:documents", "id"),
        bundle=("api:bundle", "id"),
        page=("trials:detail", "id"),
    )


class TrialDetailSerializer(ValueSerializer):
    """Everything known of a trial.

    - `counted`: whether the attempt shown is the one whose values are in every aggregate
    - `cause`: why that attempt failed, in one line of `error`
    """

    value = TrialDetail
    cause = serializers.CharField(read_only=True)
    links = TrialSerializer().fields["links"]


class TrialFilter(filters.FilterSet):
    run = filters.NumberFilter("run_id", label="Id of a run.")
    configuration = filters.NumberFilter("configuration_id", label="Id of a configuration.")
    block = filters.NumberFilter(label="Number of a block.")
    state = filters.ChoiceFilter(
        choices=[(state.value, state.value) for state in TrialState],
        label="waiting, running, done, failed or cancelled.",
    )


class Trials(Endpoint):
    queryset = models.Trial.objects.all()
    serializer_class = TrialSerializer
    pagination_class = pages_by("-id", 100, "state_at")
    filter_backends = (filters.DjangoFilterBackend,)
    filterset_class = TrialFilter

    @extend_schema(summary="All trials, newest first")
    def list(self, request: Request) -> Response:
        return self.page_of(lambda ids: list_trials(ids=ids, limit=len(ids)))

    @extend_schema(summary="One trial with all it says", parameters=[ATTEMPT], responses=TrialDetailSerializer)
    def retrieve(self, request: Request, pk: int) -> Response:
        with missing_is_404():
            detail = trial_detail(pk, attempt_number(request))
        return Response(TrialDetailSerializer(detail, context=self.get_serializer_context()).data)

    @refuses(409)
    @extend_schema(summary="Cancel a trial", request=None)
    def cancel(self, request: Request, pk: int) -> Response:
        self._require_known(pk)
        runs.cancel_trial(pk, actor(request))
        return self._wake_dispatcher(pk)

    @refuses(409)
    @extend_schema(summary="Queue a failed or cancelled trial once more", request=None)
    def retry(self, request: Request, pk: int) -> Response:
        with missing_is_404():
            run_id = models.Trial.objects.values_list("run_id", flat=True).get(pk=pk)
        require_plan(request, runs.plan_of_run(run_id, kinds()), kinds())
        runs.retry_trial(pk, actor(request))
        return self._wake_dispatcher(pk)

    def _require_known(self, pk: int) -> None:
        with missing_is_404():
            models.Trial.objects.only("pk").get(pk=pk)

    def _wake_dispatcher(self, pk: int) -> Response:
        wake_dispatcher()
        return self.respond(list_trials(ids=[pk])[0])
