"""Endpoint of why two cells of a comparison differ, with the query parameters of the page."""

from __future__ import annotations

from itertools import count
from typing import Any
from urllib.parse import urlencode

from django.http import HttpResponseBase
from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import OpenApiParameter, extend_schema, extend_schema_field
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response

from results import models
from results.domain.errors import TeitenError
from results.domain.statistics.metric_changes import MetricChange
from results.domain.statistics.verdict import Verdict
from results.queries.comparison.cells import Key, Point
from results.queries.comparison.freshness import Freshness, freshness
from results.queries.comparison.trust import trust_in
from results.queries.shared.metrics import MetricRow
from results.queries.shared.selection import Selection
from results.queries.why.why import Attempt, PlanOf, PlanPair, Side, Why, why
from webapp import urlstate
from webapp.api.common import Endpoint, address
from webapp.api.comparison import QUESTION, TrustFactSerializer
from webapp.api.values import FiniteFloatField, ValueSerializer, serializer_of
from webapp.compare.state import shortest
from webapp.computed import compared
from webapp.conditional import conditional_response
from webapp.problems import missing_is_404
from webapp.why.state import PLACE, base_of, chosen_point, requested_cell


class WhySideSerializer(ValueSerializer):
    """One of the two cells, named by its `panel`, `x` and `series`.

    - `value`: its statistic
    - `trials`: its trials; their links lead to series, histograms, plans and raw files
    - `published`: whether these are figures of a report, without raw files
    """

    value = Point
    leave_out = ("values", "base", "verdict", "outliers", "configurations", "ratio", "minimum", "maximum")
    n = serializers.IntegerField(read_only=True)
    published = serializers.SerializerMethodField()
    trials = serializers.SerializerMethodField()

    def get_published(self, point: Point) -> bool:
        return self._side(point).published

    def get_trials(self, point: Point) -> list[dict[str, Any]]:
        values = [replicate.value for replicate in point.values]
        attempts = self._side(point).attempts
        return [self._trial(attempt, value) for attempt, value in zip(attempts, values, strict=True)]

    def _side(self, point: Point) -> Side:
        sides: dict[Key, Side] = self.context["sides"]
        return sides[point.key]

    def _trial(self, attempt: Attempt, value: float) -> dict[str, Any]:
        return {
            "id": attempt.trial_id,
            "attempt": attempt.number,
            "run": attempt.run_id,
            "block": attempt.block,
            "configuration": attempt.configuration_id,
            "value": value,
            "link": address(self.context["request"], "api:trial", attempt.trial_id),
        }


class MovementSerializer(ValueSerializer):
    """One quantity in both cells, every replicate's value in `unit`.

    - `state`: moved, small (moved, by less than its margin), same, open (neither can be said), none (0 in every trial
      of both) or withheld (not comparable)
    - `same_fact_as`: the metric from which it follows, so that it is no finding of its own: throughput and mean latency
      of clients in a closed loop
    - `formula`: how it is computed from metrics, where it is not measured itself
    - `said`: its name in the page's sentence
    """

    value = MetricChange
    state = serializers.CharField(read_only=True)
    ratio = FiniteFloatField(read_only=True, allow_null=True)
    base_median = FiniteFloatField(read_only=True)
    other_median = FiniteFloatField(read_only=True)


class PlanOfSerializer(ValueSerializer):
    """A query's execution plan.

    - `trial`: id of the trial that it was recorded in
    """

    value = PlanOf
    leave_out = ("attempt",)
    trial = serializers.IntegerField(source="attempt.trial_id", read_only=True)


class PairSerializer(serializers.Serializer[Any]):
    """Nodes of two execution plans that do the same.

    - `left`, `right`: index in the plan's `lines`; null where the plan has no such node
    - `differs`: what differs between them, of node, conditions, workers, rows, time and blocks
    """

    left = serializers.IntegerField(read_only=True, allow_null=True)
    right = serializers.IntegerField(read_only=True, allow_null=True)
    differs = serializers.ListField(child=serializers.CharField(), read_only=True)


class PlanPairSerializer(ValueSerializer):
    """The execution plans of one query in the first trial of each cell."""

    value = PlanPair
    base = PlanOfSerializer(read_only=True)
    other = PlanOfSerializer(read_only=True)
    pairs = serializers.SerializerMethodField()

    @extend_schema_field(PairSerializer(many=True))
    def get_pairs(self, pair: PlanPair) -> list[dict[str, Any]]:
        """Return the pairs of nodes: every line of either plan is in one of them, in the plan's order."""
        left_index, right_index, pairs = count(), count(), []
        for nodes in pair.pairs:
            left = next(left_index) if nodes.left else None
            right = next(right_index) if nodes.right else None
            pairs.append({"left": left, "right": right, "differs": sorted(nodes.differs)})
        return pairs


class WhySerializer(ValueSerializer):
    """What two cells of a comparison differ in.

    - `metric`, `ratio`, `verdict`: those of the comparison, of `other` to `base`
    - `movements`: costs of a piece of work, latencies and waits
    - `rest`: every metric; each has the verdict that a comparison of it gives for these cells
    - `trust`: what the verdict rests on, see the comparison
    - `settings`: by node, the settings that differ between the first trials of both; null for the default
    """

    value = Why
    leave_out = ("base", "other", "families", "metric")
    base = WhySideSerializer(source="base.point", read_only=True)
    other = WhySideSerializer(source="other.point", read_only=True)
    metric = serializers.SerializerMethodField()
    ratio = FiniteFloatField(source="other.point.ratio", read_only=True, allow_null=True)
    verdict = serializer_of(Verdict)(source="other.point.verdict", read_only=True, allow_null=True)
    movements = MovementSerializer(many=True, read_only=True)
    rest = MovementSerializer(many=True, read_only=True)
    trust = serializers.SerializerMethodField()
    settings = serializers.SerializerMethodField()
    plans = PlanPairSerializer(many=True, read_only=True)
    links = serializers.SerializerMethodField()

    @extend_schema_field(serializer_of(MetricRow))
    def get_metric(self, _: Why) -> dict[str, Any]:
        return dict(serializer_of(MetricRow)(self.context["comparison"].metric).data)

    @extend_schema_field(TrustFactSerializer(many=True))
    def get_trust(self, result: Why) -> list[dict[str, Any]]:
        facts = trust_in(self.context["comparison"], (result.base.point, result.other.point)).facts
        return list(TrustFactSerializer(facts, many=True).data)

    @extend_schema_field({"type": "object", "additionalProperties": {"type": "object"}})
    def get_settings(self, result: Why) -> dict[str, dict[str, dict[str, Any]]]:
        settings = {}
        for node, differences in result.settings:
            settings[node] = {setting.key: {"base": setting.left, "other": setting.right} for setting in differences}
        return settings

    def get_links(self, result: Why) -> dict[str, str]:
        comparison, request, other = self.context["comparison"], self.context["request"], result.other.point
        query = urlstate.write(shortest(comparison.selection, comparison))
        levels = zip(PLACE, (other.x, other.series, other.panel), strict=True)
        cell = urlencode({name: level for name, level in levels if level})
        diff = f"left=trial:{result.base.trials[0]}&right=trial:{result.other.trials[0]}"
        return {
            "self": f"{address(request, 'api:why')}?{query}&{cell}",
            "page": f"{address(request, 'why')}?{query}&{cell}",
            "comparison": f"{address(request, 'api:comparison')}?{query}",
            "diff": f"{address(request, 'api:diff')}?{diff}",
        }


class Whys(Endpoint):
    queryset = models.Run.objects.all()
    serializer_class = WhySerializer

    @extend_schema(
        summary="Why two cells of a comparison differ",
        operation_id="why",
        parameters=[
            *QUESTION,
            OpenApiParameter("at", OpenApiTypes.STR, description="x of the cell; without it the first that fits."),
            OpenApiParameter("of", OpenApiTypes.STR, description="Its series."),
            OpenApiParameter("in", OpenApiTypes.STR, description="Its panel."),
        ],
    )
    def retrieve(self, request: Request) -> HttpResponseBase:
        """Return a cell and its baseline, both with everything that their trials measured."""
        selection = urlstate.read(request.META.get("QUERY_STRING", ""), PLACE)
        known = freshness(selection.runs)
        return conditional_response(request, known.state, lambda: self._why(request, selection, known))

    def _why(self, request: Request, selection: Selection, known: Freshness) -> Response:
        with missing_is_404():
            comparison = compared(selection, known)
            point = chosen_point(comparison, requested_cell(request.query_params))
        base = base_of(comparison, point) if point else None
        if point is None or base is None:
            raise TeitenError(
                "There is no cell with another one to be held against.",
                where="baseline",
                todo=f"baseline: {', '.join(comparison.series) or 'a run with values of the metric'}.",
            )
        result = why(comparison, base, point, known)
        context = {
            **self.get_serializer_context(),
            "comparison": comparison,
            "sides": {side.point.key: side for side in (result.base, result.other)},
        }
        return Response(WhySerializer(result, context=context).data)
