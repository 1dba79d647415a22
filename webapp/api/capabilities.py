"""Endpoint of capabilities: what table access methods can do, an answer a row."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from django.db.models import BooleanField, QuerySet
from django.db.models.expressions import RawSQL
from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import OpenApiParameter, extend_schema
from rest_framework.request import Request
from rest_framework.response import Response

from results import models, sql
from results.queries.agents.capabilities import (
    CAPABILITY,
    FILTERS,
    CapabilityRow,
    answer_ids,
    answers,
    checked_attempts,
)
from webapp import run_filter
from webapp.api.common import RUN_SEARCH, Endpoint, Links, pages_by
from webapp.api.values import ValueSerializer

_FILTER_HELP = {
    "installation": "Name of an installation.",
    "access_method": "Name of a table access method.",
    "agent": "Name of the agent of the server.",
    "capability": "Name of a capability.",
}
_OF_RUNS = set(run_filter.NAMES) - {run_filter.AGENT}  # an agent is one of the answers' own


class CapabilitySerializer(ValueSerializer):
    """The answer to one check.

    - `outcome`: yes, partly, chose-not-to, fails-differently or cannot; unknown where it could not be tried; no in old
      trials, which did not distinguish these
    - `statement`: the SQL statement that decided
    - `sqlstate`, `message`: the server's error code and message
    - `seconds`: how long the check took
    """

    value = CapabilityRow
    links = Links(
        trial=("api:trial", "trial_id"), bundle=("api:bundle", "trial_id"), page=("trials:detail", "trial_id")
    )


class Capabilities(Endpoint):
    """Answers of the attempts that count; those of failed attempts are at their trials."""

    queryset = models.Document.objects.all()
    serializer_class = CapabilitySerializer
    pagination_class = pages_by("id", 200)
    ids: Sequence[int] = ()

    def get_queryset(self) -> QuerySet[Any]:
        """Return the newest answers: their ids as one array, as there are thousands, which Django would write one by
        one."""
        if not self.ids:
            return super().get_queryset().none()
        among = RawSQL("results_document.id = ANY(%s::bigint[])", [sql.array(self.ids)], output_field=BooleanField())
        return super().get_queryset().filter(among)

    @extend_schema(
        summary="The newest answer to each check, of every installation, access method and agent",
        parameters=[
            OpenApiParameter(name, OpenApiTypes.STR, many=True, description=_FILTER_HELP[name]) for name in FILTERS
        ]
        + [parameter for parameter in RUN_SEARCH if parameter.name in _OF_RUNS],
    )
    def list(self, request: Request) -> Response:
        runs = replace(run_filter.read(request.query_params), agents=())
        chosen = {name: request.query_params.getlist(name) for name in FILTERS}
        attempts = checked_attempts(chosen, runs)
        self.ids = answer_ids(attempts, chosen[CAPABILITY])
        return self.page_of(lambda ids: answers(attempts, ids=ids))
