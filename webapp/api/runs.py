"""Endpoints of runs."""

from __future__ import annotations

from collections.abc import Callable, Collection
from datetime import datetime
from typing import Any

from django.core.exceptions import PermissionDenied
from django.db import transaction
from django.db.models import QuerySet
from django.utils import timezone
from django_filters import rest_framework as filters
from drf_spectacular.utils import extend_schema
from rest_framework import exceptions, serializers
from rest_framework.request import Request
from rest_framework.response import Response

from results import models, runs, stored_plans
from results.domain.errors import StateError
from results.domain.plan import Plan
from results.models.audit import Scope
from results.plan_code import refused_code
from results.queries.runs.loss import RunLoss, run_losses
from results.queries.runs.runs import Chosen, RunDetail, RunRow, list_runs, run_outline, run_row, with_cells
from results.queries.shared.run_filter import RunSearch, matching_runs
from results.removal import Deleted, archive_runs, delete_runs, restore_runs
from results.standing import read_standing, set_private, set_standing, set_tags
from webapp import run_search
from webapp.access import (
    actor,
    authors_of,
    is_admin,
    lacking,
    may,
    person,
    require_deletion,
    require_own,
    require_plan,
    require_standing,
)
from webapp.api.common import RUN_SEARCH, Endpoint, Links, fields_of, pages_by
from webapp.api.plans import PlanFieldsSerializer, plan_from, stored_plan
from webapp.api.schema import refuses
from webapp.api.values import ValueSerializer
from webapp.problems import missing_is_404
from workers.registry import kinds
from workers.tasks import retry_after_discovery, wake_dispatcher

MOST_CELLS = 1_000  # trials of a run that is sent with its whole matrix, some 800 kB


class RunSerializer(ValueSerializer):
    """A run.

    - `state`: scheduled, running, finished, failed (every trial has ended, and none is done) or cancelled
    - `headline`: the metric that is shown first
    - `trials_to_make`: waiting trials (of a cancelled run: cancelled ones) that a worker has still to make
    """

    value = RunRow
    links = Links(self=("api:run", "id"), medians=("api:run-medians", "id"), page=("runs:detail", "id"))


class RunDetailSerializer(ValueSerializer):
    """A run with its matrix: a row a configuration, a cell a trial, values in the unit of `metric`.

    - `whole`: whether every trial has a cell. Of a run of more than 1,000 trials only those have one that run now; the
      others are at /api/v1/trials/?run=N, page by page
    - `latest_block`: the last one of which a trial has begun
    - `left_s`: estimated seconds to the end
    - `raw_files_removed`: when and by whom raw files were removed and the numbers kept, of how many attempts
    """

    value = RunDetail
    leave_out = ("mark",)
    run = RunSerializer(read_only=True)


class RunFieldsSerializer(PlanFieldsSerializer):
    """A plan to run: either `plan` (the id of a stored one), or `toml`, or the keys of the TOML as JSON."""

    plan = serializers.IntegerField(required=False, help_text="The id of a stored plan; then no key of a plan.")
    hash = serializers.CharField(required=False, help_text="Of the stored plan as you know it; 409 for another.")
    start_at = serializers.DateTimeField(required=False, help_text="Not before this time.")
    private = serializers.BooleanField(required=False, help_text="Seen by its author and by administrators only.")


class BlocksSerializer(serializers.Serializer[Any]):
    blocks = serializers.IntegerField(
        min_value=1, max_value=runs.MOST_BLOCKS, help_text="More replicates of every configuration."
    )


class RunChangeSerializer(serializers.Serializer[Any]):
    standing = serializers.CharField(required=False, help_text="exploratory, kept or excluded.")
    tags = serializers.ListField(
        required=False, child=serializers.CharField(), help_text="All its tags: short lower-case words."
    )
    archived = serializers.BooleanField(required=False, help_text="Off the lists and out of the views, or on them.")
    private = serializers.BooleanField(
        required=False, help_text="Seen by its author and by administrators only, or by all."
    )


class LossSerializer(ValueSerializer):
    """What is lost when a run is deleted, and what rests on it.

    - `citations`: with a number of it; while there are any, it cannot be deleted
    - `keeps_on_lists`, `keeps_it`: why it cannot be archived, or deleted; "" where it can
    """

    value = RunLoss
    leave_out = ("ids",)
    keeps_on_lists = serializers.CharField(read_only=True)
    keeps_it = serializers.CharField(read_only=True)


class DeletedSerializer(ValueSerializer):
    """What was deleted.

    - `left`: archives of raw files that could not be removed, with the reason
    """

    value = Deleted
    runs = LossSerializer(many=True, read_only=True)


class RetriedSerializer(serializers.Serializer[Any]):
    run = RunSerializer(read_only=True)
    retried = serializers.IntegerField(read_only=True, help_text="How many trials were queued once more.")


class OfPlan(filters.FilterSet):
    plan_id = filters.NumberFilter("plan_id", label="Only runs of the plan with this id.")


class Runs(Endpoint):
    queryset = models.Run.objects.all()
    serializer_class = RunSerializer
    pagination_class = pages_by("-id", 50, "created_at", "name")
    filter_backends = (filters.DjangoFilterBackend,)
    filterset_class = OfPlan

    def get_queryset(self) -> QuerySet[models.Run]:
        queryset = super().get_queryset()
        search = run_search.read(self.request.query_params) if self.action == "list" else RunSearch()
        if search:
            return queryset.filter(pk__in=matching_runs(search))
        return queryset.filter(archived=False) if self.action == "list" else queryset

    @extend_schema(summary="All runs, newest first", parameters=RUN_SEARCH)
    def list(self, request: Request) -> Response:
        return self.page_of(lambda ids: list_runs(ids=ids, limit=len(ids)))

    @extend_schema(summary="One run with its matrix", responses=RunDetailSerializer)
    def retrieve(self, request: Request, pk: int) -> Response:
        with missing_is_404():
            outline = run_outline(run_row(pk), timezone.now())
        detail = with_cells(outline, None if outline.run.trials_total <= MOST_CELLS else Chosen())
        return Response(RunDetailSerializer(detail, context=self.get_serializer_context()).data)

    @refuses(404, 422)
    @extend_schema(summary="Start a run", request=RunFieldsSerializer, responses={201: RunSerializer})
    def create(self, request: Request) -> Response:
        fields = fields_of(request)
        start_at, private = _start_at(fields.pop("start_at", None)), _private(fields.pop("private", False))
        seen = fields.pop("hash", None) if "plan" in fields else None
        stored = stored_plan(_plan_id(fields)) if "plan" in fields else None
        plan = stored_plans.load_plan(stored, kinds()) if stored else plan_from(fields)
        _require_seen(request, stored, plan, seen)
        if stored is None:
            require_standing(request, plan)
        run = retry_after_discovery(
            lambda: runs.create_run(
                plan,
                kinds(),
                actor=actor(request),
                stored=stored,
                user=person(request),
                start_at=start_at,
                as_admin=is_admin(request),
                private=private,
            )
        )
        wake_dispatcher()
        return self.respond(run_row(run.pk), 201)

    @refuses(409)
    @extend_schema(summary="Delete a run for good", responses={200: DeletedSerializer})
    def destroy(self, request: Request, pk: int) -> Response:
        with missing_is_404():
            require_deletion(request, [one.created_by_id for one in run_losses([pk])])
            deleted = delete_runs([pk], actor(request))
        return Response(DeletedSerializer(deleted, context=self.get_serializer_context()).data)

    @extend_schema(summary="What is lost when a run is deleted", responses=LossSerializer)
    def loss(self, request: Request, pk: int) -> Response:
        with missing_is_404():
            (loss,) = run_losses([pk])
        return Response(LossSerializer(loss, context=self.get_serializer_context()).data)

    @refuses(409)
    @extend_schema(summary="Set what a run counts for, its tags, and who sees it", request=RunChangeSerializer)
    def partial_update(self, request: Request, pk: int) -> Response:
        body = RunChangeSerializer(data=fields_of(request))
        body.is_valid(raise_exception=True)
        self._require_change(request, pk, body.validated_data)
        with missing_is_404(), transaction.atomic():
            if "standing" in body.validated_data:
                set_standing([pk], read_standing(body.validated_data["standing"]), actor(request))
            if "tags" in body.validated_data:
                set_tags(pk, body.validated_data["tags"], actor(request))
            if "archived" in body.validated_data:
                change = archive_runs if body.validated_data["archived"] else restore_runs
                change([pk], actor(request))
            if "private" in body.validated_data:
                set_private([pk], body.validated_data["private"], actor(request))
            return self.respond(run_row(pk))

    def _require_change(self, request: Request, pk: int, fields: Collection[str]) -> None:
        """Refuse to change what the visitor may not. Raises PermissionDenied."""
        if "standing" in fields and not may(request, Scope.PUBLISH):
            raise PermissionDenied(lacking(Scope.PUBLISH))
        authors = authors_of([pk])
        require_own(request, authors, Scope.PUBLISH, "A run is tagged, archived and put back")
        if "private" in fields:
            require_own(request, authors, Scope.ADMIN, "A run is made private or public")

    @refuses(409)
    @extend_schema(summary="Cancel what waits and what runs", request=None)
    def cancel(self, request: Request, pk: int) -> Response:
        with missing_is_404():
            runs.cancel_run(pk, actor(request))
        return self._wake_dispatcher(pk)

    @refuses(409)
    @extend_schema(summary="Queue the failed trials once more", request=None, responses=RetriedSerializer)
    def retry_failed(self, request: Request, pk: int) -> Response:
        return self._retry(request, pk, lambda: runs.retry_failed(pk, actor(request)))

    @refuses(409)
    @extend_schema(summary="Queue the cancelled trials once more", request=None, responses=RetriedSerializer)
    def retry_cancelled(self, request: Request, pk: int) -> Response:
        return self._retry(request, pk, lambda: runs.retry_cancelled(pk, actor(request)))

    def _retry(self, request: Request, pk: int, retry: Callable[[], int]) -> Response:
        with missing_is_404():
            require_plan(request, runs.plan_of_run(pk, kinds()), kinds())
        count = retry()
        wake_dispatcher()
        data = {"run": run_row(pk), "retried": count}
        return Response(RetriedSerializer(data, context=self.get_serializer_context()).data)

    @refuses(409, 422)
    @extend_schema(summary="The same plan again", request=None, responses={201: RunSerializer})
    def repeat(self, request: Request, pk: int) -> Response:
        with missing_is_404():
            run = retry_after_discovery(
                lambda: runs.repeat_run(
                    pk, kinds(), user=person(request), actor=actor(request), as_admin=is_admin(request)
                )
            )
        wake_dispatcher()
        return self.respond(run_row(run.pk), 201)

    @refuses(409, 422)
    @extend_schema(summary="More replicates of every configuration", request=BlocksSerializer)
    def blocks(self, request: Request, pk: int) -> Response:
        body = BlocksSerializer(data=fields_of(request))
        body.is_valid(raise_exception=True)
        with missing_is_404():
            require_plan(request, runs.plan_of_run(pk, kinds()), kinds())
            runs.add_blocks(pk, body.validated_data["blocks"], actor(request))
        return self._wake_dispatcher(pk)

    def _wake_dispatcher(self, pk: int) -> Response:
        wake_dispatcher()
        return self.respond(run_row(pk))


def _require_seen(request: Request, stored: models.Plan | None, plan: Plan, seen: object) -> None:
    """Refuse a stored plan that is not the one whose hash is sent. An administrator has to send that of a plan with
    code, which others may have changed. Raises StateError, ValidationError."""
    if stored is None:
        return
    if seen is None and is_admin(request) and refused_code(plan, kinds()):
        text = "The plan brings code that others may not run: send its `hash`, which says that you have seen it."
        raise exceptions.ValidationError({"hash": text})
    if seen is not None and seen != stored.hash:
        what = f"The plan {stored.name!r} is not the one with this hash."
        raise StateError(what, where="hash", todo="Look at it again, then start it.")


def _start_at(value: Any) -> datetime | None:
    if value is None:
        return None
    try:
        return serializers.DateTimeField().run_validation(value)
    except exceptions.ValidationError as error:
        raise exceptions.ValidationError({"start_at": error.detail}) from error


def _private(value: Any) -> bool:
    if not isinstance(value, bool):
        raise exceptions.ValidationError({"private": "This is neither true nor false."})
    return value


def _plan_id(fields: dict[str, Any]) -> int:
    if set(fields) != {"plan"} or isinstance(fields["plan"], bool) or not isinstance(fields["plan"], int):
        raise exceptions.ValidationError({"plan": "Send the id of a stored plan, and no key of a plan beside it."})
    return int(fields["plan"])
