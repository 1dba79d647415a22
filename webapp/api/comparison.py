"""The comparison: the same question, in the same words of the URL, as on the page."""

from __future__ import annotations

from dataclasses import fields
from typing import Any

from django.http import HttpResponseBase
from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import OpenApiParameter, extend_schema
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response

from results import models
from results.domain.statistics.trust import Fact
from results.queries.comparison.compare import Comparison, RunWarning, Summary
from results.queries.comparison.dataclass_values import to_json
from results.queries.comparison.freshness import freshness
from results.queries.comparison.trust import trust_in
from results.queries.shared.facets import Facet
from results.queries.shared.selection import Selection
from webapp import urlstate
from webapp.api.columns import chosen_columns, columns, short
from webapp.api.common import Endpoint, OrjsonRenderer, address, require_one_of
from webapp.api.diff import SeriesEnvironmentSerializer
from webapp.api.facts import shown_facts
from webapp.api.values import FiniteFloatField, ValueSerializer
from webapp.compare.state import shortest
from webapp.computed import compared
from webapp.conditional import conditional_response

_APART = ("first", "points")  # fields of a comparison that are not shown, or in another form


class SelectionSerializer(ValueSerializer):
    """What is compared, with the default choices filled in."""

    value = Selection
    filters = serializers.DictField(child=serializers.ListField(child=serializers.CharField()), read_only=True)


class FacetSerializer(ValueSerializer):
    """A dimension of the runs. Of each value the number of trials that have it and pass the filters of all other
    dimensions."""

    value = Facet
    values = serializers.SerializerMethodField()

    def get_values(self, facet: Facet) -> list[dict[str, Any]]:
        return _counts(facet)


class SummarySerializer(ValueSerializer):
    """A series over its cells of a panel: the geometric mean of their ratios, and its 95 % interval."""

    value = Summary

    def to_representation(self, summary: Summary) -> dict[str, Any]:
        return _summary(summary)


class WarnedSerializer(ValueSerializer):
    """A run whose values changed while it was measured: `drift` from its first trial to its last, `order` from the
    first trial of a block to its last.

    - `change`: as a share
    - `p`: two-sided
    """

    value = RunWarning  # whose name in the schema stays


class TrustFactSerializer(ValueSerializer):
    """A fact that the verdicts rest on. It changes none.

    - `name`: as in docs/method.md
    - `value`: in `unit`; null where it is not known
    - `grade`: `fine`, `mind` (this) or `weak`
    - `words`: as the line under the page's headline has it
    """

    value = Fact
    leave_out = ("basis", "trial_id", "run_id")


def _column(child: Any, description: str, **options: Any) -> Any:
    return serializers.ListField(child=child, read_only=options.get("required", True), help_text=description, **options)


def _number(description: str, **options: Any) -> Any:
    return _column(FiniteFloatField(allow_null=True), description, **options)


def _whole(description: str, **options: Any) -> Any:
    return _column(serializers.IntegerField(allow_null=True), description, **options)


class PointColumnsSerializer(serializers.Serializer[Any]):
    """The cells, as columns: the n-th entry of each array is of the n-th cell. Derived numbers have 6 digits, measured
    `values` 8; whole numbers, and with `columns=all` every measured value, have all of theirs. The columns from `base`
    on are there where `columns` asks for them."""

    panel = _whole("Place of its panel in `panels`.")
    x = _whole("Place of its x in `xs`.")
    series = _whole("Place of its series in `series`.")
    values = _column(
        serializers.ListField(child=FiniteFloatField()), "What each trial measured, in the unit of `metric`."
    )
    configurations = _column(serializers.ListField(child=serializers.IntegerField()), "Ids of its configurations.")
    replicates = _whole("Place in `replicates`: which trial each of `values` is of.")
    value = _number("The statistic that was chosen, of `values`.")
    ratio = _number("Of `value` to the base's.")
    low = _number("Of the ratio of geometric means, the 95 % interval: from")
    high = _number("to.")
    verdict = _whole("Place of its verdict in `verdicts`.")
    base = _whole("Place of the cell that it is compared with; null where there is none.", required=False)
    verdict_ratio = _number("Ratio of geometric means, whose interval `low` and `high` are.", required=False)
    median = _number("Of `values`.", required=False)
    mean = _number("Of `values`.", required=False)
    minimum = _number("Of `values`.", required=False)
    maximum = _number("Of `values`.", required=False)
    n = _whole("How many `values`.", required=False)
    pairs = _whole("Pairs by block that the verdict rests on; 0 for unpaired.", required=False)
    p = _number("Two-sided.", required=False)
    adjusted = _number("p, adjusted for the number of cells compared (Benjamini-Hochberg).", required=False)
    margin = _number("Smallest relative change worth a verdict.", required=False)
    detectable = _number("The smallest relative difference that so many replicates would show.", required=False)
    across_runs = _column(
        serializers.BooleanField(allow_null=True),
        "The sides were measured in different runs, whose own levels are part of the difference.",
        required=False,
    )
    runs = _whole("So many runs say how far runs lie apart, which is part of the interval; 0 for none.", required=False)
    earlier = _column(
        serializers.BooleanField(allow_null=True),
        "Earlier runs of both configurations say how much single values vary.",
        required=False,
    )
    looks = _whole("How often replicates were added after a look.", required=False)
    level = _number("Adjusted p up to which it is a difference: 0.05, less after looks.", required=False)
    more = _whole("How many more replicates a side would tell in four of five cases.", required=False)
    mixed = _whole("How many different configurations fell into it; 1 where nothing else varies.", required=False)
    compared = _whole("Of how many of these `ratio` and `verdict` speak: those that the base has too.", required=False)
    trials = _column(serializers.ListField(child=serializers.IntegerField()), "Ids of the trials.", required=False)
    attempts = _column(serializers.ListField(child=serializers.IntegerField()), "Their attempts.", required=False)


class AroundSerializer(ValueSerializer):
    """All but the cells, which are many."""

    value = Comparison
    leave_out = _APART
    selection = SelectionSerializer(read_only=True)
    facets = FacetSerializer(many=True, read_only=True)
    summaries = SummarySerializer(many=True, read_only=True)
    outliers = serializers.ListField(child=serializers.IntegerField(), read_only=True)
    environment = SeriesEnvironmentSerializer(many=True, read_only=True)
    warnings = WarnedSerializer(many=True, read_only=True)


class ComparisonSerializer(AroundSerializer):
    """Cells of a statistic and every replicate.

    - `replicates`: patterns, each with [index in the cell's `configurations`, block] for each of its values;
      `links.trial` leads from both to the trial
    - `mixed`: dimensions that vary within a cell
    - `excluded`: trials that are in no cell
    - `unmatched`: cells without a counterpart
    - `left_out`: configurations within cells that `ratio` and `verdict` leave out, as the other side lacks them
    - `environment`: of each series against its base, what else differs
    - `outliers`: trials whose values stand apart; they count like the others
    - `trust`: what the verdicts rest on, of the trials as they are stored today
    """

    trust = TrustFactSerializer(many=True, read_only=True)
    points = PointColumnsSerializer(read_only=True)
    facts = serializers.DictField(required=False, help_text="What the numbers rest on; where it is asked for.")
    replicates = _column(serializers.ListField(child=serializers.ListField(child=serializers.IntegerField())), "")
    verdicts = _column(serializers.CharField(allow_null=True), "What the places in `verdict` stand for.")
    links = serializers.DictField(child=serializers.CharField(), read_only=True)


def _text(name: str, description: str) -> OpenApiParameter:
    return OpenApiParameter(name, OpenApiTypes.STR, description=description)


QUESTION = [
    _text("run", "Ids of runs, with commas between them."),
    _text("x", "A dimension, or several with commas; without it the factor with the most numbers."),
    _text("series", "Likewise; 'none' for a single line; without it the installation, where it varies."),
    _text("panel", "Likewise; a figure for each of its values."),
    _text("metric", "Name of a metric, or latency.pNN for any percentile; without it the first of the runs."),
    _text("statistic", "Of each cell: median, mean, min or max; without it the median."),
    _text("node", "Role; without it the metric's first."),
    _text("label", "Which of the metric's values; without it the total."),
    _text("per", "client, core or transaction: by what values are divided."),
    _text("baseline", "What ratios refer to: a series, one of its levels, 'SERIES at X', or '@NAME' of a reference."),
    _text("without", "Values of x that summaries leave out, with commas between them."),
    _text("filter.<dimension>", "Values let through, with commas between them."),
    *(_text(name, "How the page draws it; says nothing here.") for name in urlstate.DRAWN),
]


def shown(request: Request, comparison: Comparison, names: tuple[str, ...], linked: Selection) -> dict[str, Any]:
    """A comparison as the API says it.

    linked: what its own links ask for."""
    query = urlstate.write(linked)
    links = {name: f"{address(request, route)}?{query}" for name, route in _ROUTES.items()}
    for name, form in FILES.items():
        links[name] = f"{address(request, 'api:comparison-file', form)}?{query}"
    trials = address(request, "api:trials")
    links["trial"] = f"{trials}?configuration={{configuration}}&block={{block}}"
    trust = TrustFactSerializer(trust_in(comparison).facts, many=True).data
    return {**around(request, comparison), "trust": trust, **columns(comparison, names), "links": links}


def around(request: Request, comparison: Comparison) -> dict[str, Any]:
    """What AroundSerializer says."""
    environment = SeriesEnvironmentSerializer(comparison.environment, many=True, context={"request": request}).data
    own = {
        "facets": [{**vars(facet), "values": _counts(facet)} for facet in comparison.facets],
        "summaries": [_summary(one) for one in comparison.summaries],
        "environment": environment,
    }
    rest = {field.name: getattr(comparison, field.name) for field in fields(comparison) if field.name not in _APART}
    return {name: own[name] if name in own else to_json(value) for name, value in rest.items()} | {
        "outliers": list(comparison.outliers)
    }


def _summary(summary: Summary) -> dict[str, Any]:
    return {name: short(value) if isinstance(value, float) else to_json(value) for name, value in vars(summary).items()}


def _counts(facet: Facet) -> list[dict[str, Any]]:
    return [{"value": text, "trials": trials} for text, trials in facet.values]


_ROUTES = {"self": "api:comparison", "page": "comparison"}
FILES = {"csv": "csv", "provenance": "provenance.json", "everything": "zip"}


class Comparisons(Endpoint):
    queryset = models.Run.objects.all()
    renderer_classes = [OrjsonRenderer]
    serializer_class = ComparisonSerializer

    @extend_schema(
        summary="One metric over one dimension, a series for each value of another",
        operation_id="comparison",
        parameters=[
            *QUESTION,
            _text("columns", "More columns of `points`, with commas between them, or 'all'."),
            _text("facts", "'yes': what the numbers rest on besides, as at a run's medians."),
        ],
    )
    def retrieve(self, request: Request) -> HttpResponseBase:
        selection = urlstate.read(request.META.get("QUERY_STRING", ""), ("columns", "facts"))
        names, with_facts = chosen_columns(request.query_params.get("columns", "")), _wants_facts(request)
        known = freshness(selection.runs)

        def made() -> Response:
            comparison = compared(selection, known)
            answer = shown(request, comparison, names, shortest(comparison.selection, comparison))
            if with_facts:
                trials = (one.trial_id for point in comparison.points for one in point.values)
                answer["facts"] = shown_facts(request, trials)
            return Response(answer)

        return conditional_response(request, known.state, made)


def _wants_facts(request: Request) -> bool:
    asked = request.query_params.get("facts", "")
    if asked:
        require_one_of("facts", "choice", asked, ["yes"])
    return bool(asked)
