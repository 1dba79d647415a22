"""Endpoint of differences: the environments of two trials, runs or agents, key by key, as on the page."""

from __future__ import annotations

from typing import Any

from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import OpenApiParameter, extend_schema
from rest_framework import exceptions, serializers
from rest_framework.request import Request
from rest_framework.response import Response

from results import models
from results.domain.environment.difference import EnvironmentDifference, KeyJudgement
from results.domain.environment.rules import Cause
from results.queries.environment.differences import Compared, Subject, differences
from results.queries.environment.environments import SeriesEnvironment
from webapp.api.common import Endpoint, address
from webapp.api.schema import refuses
from webapp.api.values import ValueSerializer
from webapp.problems import missing_is_404

_PAGES = {"trial": ("api:trial", "trials:detail"), "run": ("api:run", "runs:detail")}


class KeyJudgementSerializer(ValueSerializer):
    """One key of the environments.

    - `left`, `right`: its values; several where a side's trials differ among themselves, null where it is missing
    - `cause`: confounder (withholds verdicts), noted, unrecorded, alike (varies on both sides), intended, default (of
      the build), equivalent (the same value), harmless, same
    - `warn`: whether a reader must see it
    """

    value = KeyJudgement


class SubjectSerializer(ValueSerializer):
    """One side of the difference.

    - `trials`: how many trials it rests on
    - `published`: whose figures these are, where they were not measured here; nothing is then recorded of the
      environment
    """

    value = Subject
    links = serializers.SerializerMethodField()

    def get_links(self, subject: Subject) -> dict[str, str]:
        api, page = _PAGES.get(subject.kind, ("api:agent", "agents:detail"))
        key = subject.name if subject.kind == "agent" else subject.id
        request = self.context["request"]
        return {"self": address(request, api, key), "page": address(request, page, key)}


class DifferencesSerializer(ValueSerializer):
    """The differences between two environments.

    - `same`: how many keys are equal
    - `planned`: dimensions in which the plans differ; what follows from them is intended
    """

    value = Compared
    leave_out = ("difference",)
    left = SubjectSerializer(read_only=True)
    right = SubjectSerializer(read_only=True)
    comparable = serializers.BooleanField(source="difference.comparable", read_only=True)
    same = serializers.IntegerField(source="difference.same", read_only=True)
    recorded = serializers.ListField(child=serializers.BooleanField(), source="difference.recorded", read_only=True)
    keys = serializers.SerializerMethodField()
    links = serializers.SerializerMethodField()

    def get_keys(self, result: Compared) -> list[dict[str, Any]]:
        return _judgements(result.difference, self.context.get("everything", False))

    def get_links(self, result: Compared) -> dict[str, str]:
        query = f"left={result.left.reference}&right={result.right.reference}"
        return _diff_links(self.context["request"], "self", query)


class SeriesEnvironmentSerializer(ValueSerializer):
    """What else differs between the environments of a series and of its base.

    - `told`: the differences that a reader must know
    - `keys`: number of differing keys by cause
    - `same`: number of equal keys
    - `comparable`: how many of the `cells` have a verdict; in the others it is withheld
    """

    value = SeriesEnvironment
    leave_out = ("difference", "left_trial", "right_trial")
    same = serializers.IntegerField(source="difference.same", read_only=True)
    recorded = serializers.ListField(child=serializers.BooleanField(), source="difference.recorded", read_only=True)
    told = serializers.SerializerMethodField()
    keys = serializers.DictField(source="counts", child=serializers.IntegerField(), read_only=True)
    links = serializers.SerializerMethodField()

    def get_told(self, environment: SeriesEnvironment) -> list[dict[str, Any]]:
        return [vars(difference) for difference in environment.notable]

    def get_links(self, environment: SeriesEnvironment) -> dict[str, str]:
        query = f"left=trial:{environment.left_trial}&right=trial:{environment.right_trial}"
        return _diff_links(self.context["request"], "diff", query)


def _diff_links(request: Request, api_name: str, query: str) -> dict[str, str]:
    """Return the addresses of a difference in the API, under this name, and of its page."""
    return {api_name: f"{address(request, 'api:diff')}?{query}", "page": f"{address(request, 'diff')}?{query}"}


def _judgements(difference: EnvironmentDifference, everything: bool) -> list[dict[str, Any]]:
    judgements = [j for j in difference.judgements if everything or j.cause is not Cause.SAME]
    return [dict(row) for row in KeyJudgementSerializer(judgements, many=True).data]


def _side(name: str) -> OpenApiParameter:
    text = "A trial ('trial:12'), a run ('run:3') or an agent ('agent:db1')."
    return OpenApiParameter(name, OpenApiTypes.STR, description=text, required=True)


class Differences(Endpoint):
    queryset = models.Trial.objects.all()
    serializer_class = DifferencesSerializer

    @refuses(404)
    @extend_schema(
        summary="What two trials, runs or agents ran in, key by key",
        operation_id="diff",
        parameters=[
            _side("left"),
            _side("right"),
            OpenApiParameter("show", OpenApiTypes.STR, description="'all': equal keys as well."),
        ],
    )
    def retrieve(self, request: Request) -> Response:
        sides: dict[str, Any] = {name: request.query_params.get(name, "") for name in ("left", "right")}
        if missing := {name: ["Name a trial, a run or an agent."] for name, text in sides.items() if not text}:
            raise exceptions.ValidationError(missing)
        with missing_is_404():
            result = differences(**sides)
        context = {**self.get_serializer_context(), "everything": request.query_params.get("show") == "all"}
        return Response(DifferencesSerializer(result, context=context).data)
