"""Why two cells of a comparison differ: the same two, in the same words of the URL, as on the page."""

from __future__ import annotations

from itertools import count
from typing import Any
from urllib.parse import urlencode

from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import OpenApiParameter, extend_schema, extend_schema_field
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response

from results import models
from results.domain.errors import TeitenError
from results.domain.statistics.movement import Movement
from results.domain.statistics.verdict import Verdict
from results.queries.cells import Key, Point
from results.queries.comparison import compare
from results.queries.metrics import MetricRow
from results.queries.why import Attempt, PlanOf, PlanPair, Side, Why, why
from webapp import urlstate
from webapp.api.common import Endpoint, address
from webapp.api.comparison import QUESTION
from webapp.api.values import Gapless, ValueSerializer, serializer_of
from webapp.explorer.state import shortest
from webapp.problems import missing_is_404
from webapp.whystate import PLACE, asked_place, base_of, chosen_point


class WhySideSerializer(ValueSerializer):
    """One of the two cells, named by its `panel`, `x` and `series`. `value`: its statistic. Series, histograms, plans
    and raw files are behind the links of its `trials`. `published`: figures of a report, without files."""

    value = Point
    leave_out = ("values", "base", "verdict", "outliers", "configurations", "ratio", "minimum", "maximum")
    n = serializers.IntegerField(read_only=True)
    published = serializers.SerializerMethodField()
    trials = serializers.SerializerMethodField()

    def get_published(self, point: Point) -> bool:
        return self._side(point).published

    def get_trials(self, point: Point) -> list[dict[str, Any]]:
        values = [replicate.value for replicate in point.values]
        return [self._trial(one, value) for one, value in zip(self._side(point).attempts, values, strict=True)]

    def _side(self, point: Point) -> Side:
        sides: dict[Key, Side] = self.context["sides"]
        return sides[point.key]

    def _trial(self, one: Attempt, value: float) -> dict[str, Any]:
        link = address(self.context["request"], "api:trial", one.trial_id)
        return {
            "id": one.trial_id,
            "attempt": one.number,
            "run": one.run_id,
            "block": one.block,
            "configuration": one.configuration_id,
            "value": value,
            "link": link,
        }


class MovementSerializer(ValueSerializer):
    """One quantity in both cells, every replicate's value in `unit`. `state`: moved, same, open (neither can be said),
    none (0 in every trial of both), withheld (not comparable). `formula`: in words of metrics, where it is not measured
    itself. `said`: its name in the page's sentence."""

    value = Movement
    state = serializers.CharField(read_only=True)
    ratio = Gapless(read_only=True, allow_null=True)
    base_median = Gapless(read_only=True)
    other_median = Gapless(read_only=True)


class PlanOfSerializer(ValueSerializer):
    """A query's plan. `trial`: of which."""

    value = PlanOf
    leave_out = ("attempt",)
    trial = serializers.IntegerField(source="attempt.trial_id", read_only=True)


class PairSerializer(serializers.Serializer[Any]):
    """Nodes that do the same, by their places in both plans' `lines`; null where a plan has no such node. `differs`:
    node, conditions, workers, rows, time, blocks."""

    left = serializers.IntegerField(read_only=True, allow_null=True)
    right = serializers.IntegerField(read_only=True, allow_null=True)
    differs = serializers.ListField(child=serializers.CharField(), read_only=True)


class PlanPairSerializer(ValueSerializer):
    """A query that both have a plan of, of the first trial of each."""

    value = PlanPair
    base = PlanOfSerializer(read_only=True)
    other = PlanOfSerializer(read_only=True)
    pairs = serializers.SerializerMethodField()

    @extend_schema_field(PairSerializer(many=True))
    def get_pairs(self, pair: PlanPair) -> list[dict[str, Any]]:
        """Every line of either plan is in one pair, in the plan's order."""
        left, right = count(), count()
        return [
            {
                "left": next(left) if one.left else None,
                "right": next(right) if one.right else None,
                "differs": sorted(one.differs),
            }
            for one in pair.pairs
        ]


class WhySerializer(ValueSerializer):
    """`metric`, `ratio`, `verdict`: the comparison's own, of `other` to `base`. `movements`: costs of a piece of work,
    latencies, waits, judged together; `rest`: every other number, likewise. `settings`: by node what differs in the
    first trial of either, null where it has its default."""

    value = Why
    leave_out = ("base", "other")
    base = WhySideSerializer(source="base.point", read_only=True)
    other = WhySideSerializer(source="other.point", read_only=True)
    metric = serializers.SerializerMethodField()
    ratio = Gapless(source="other.point.ratio", read_only=True, allow_null=True)
    verdict = serializer_of(Verdict)(source="other.point.verdict", read_only=True, allow_null=True)
    movements = MovementSerializer(many=True, read_only=True)
    rest = MovementSerializer(many=True, read_only=True)
    settings = serializers.SerializerMethodField()
    plans = PlanPairSerializer(many=True, read_only=True)
    links = serializers.SerializerMethodField()

    @extend_schema_field(serializer_of(MetricRow))
    def get_metric(self, _: Why) -> dict[str, Any]:
        return dict(serializer_of(MetricRow)(self.context["comparison"].metric).data)

    @extend_schema_field({"type": "object", "additionalProperties": {"type": "object"}})
    def get_settings(self, found: Why) -> dict[str, dict[str, dict[str, Any]]]:
        return {
            node: {one.key: {"base": one.left, "other": one.right} for one in differing}
            for node, differing in found.settings
        }

    def get_links(self, found: Why) -> dict[str, str]:
        comparison, request, other = self.context["comparison"], self.context["request"], found.other.point
        query = urlstate.write(shortest(comparison.selection, comparison))
        levels = zip(PLACE, (other.x, other.series, other.panel), strict=True)
        place = urlencode({name: text for name, text in levels if text})
        diff = f"left=trial:{found.base.trials[0]}&right=trial:{found.other.trials[0]}"
        return {
            "self": f"{address(request, 'api:why')}?{query}&{place}",
            "page": f"{address(request, 'why')}?{query}&{place}",
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
    def retrieve(self, request: Request) -> Response:
        """The cell that is asked for against its baseline, both with everything that their trials measured."""
        with missing_is_404():
            found = compare(urlstate.read(request.META.get("QUERY_STRING", "")))
            point = chosen_point(found, asked_place(request.query_params))
        base = base_of(found, point) if point else None
        if point is None or base is None:
            raise TeitenError(
                "There is no cell with another one to be held against.",
                where="baseline",
                todo=f"baseline: {', '.join(found.series) or 'a run with values of the metric'}.",
            )
        result = why(found, base, point)
        context = {
            **self.get_serializer_context(),
            "comparison": found,
            "sides": {s.point.key: s for s in (result.base, result.other)},
        }
        return Response(WhySerializer(result, context=context).data)
