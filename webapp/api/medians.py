"""Endpoint of a run's medians, with all that a table in print needs beside them."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, fields
from operator import attrgetter
from typing import Any

import orjson
from django.http import HttpResponseBase
from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import OpenApiParameter, extend_schema
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response

from results import models
from results.domain.statistics.verdict import Verdict
from results.queries.changes.verdicts import Judged, Measured, verdicts
from results.queries.comparison.compare import Comparison
from results.queries.environment.facts import Facts, TrialFacts, facts_of
from results.queries.runs.runs import MedianRow, run_medians, run_row
from results.queries.shared.facets import metrics_of
from results.queries.shared.selection import LABEL, NODE, Selection, unknown_choice
from webapp import urlstate
from webapp.api.common import ORDERING, address, chosen_fields, require_one_of
from webapp.api.facts import shown_facts
from webapp.api.filters import FILTERS, Filters, configurations_passing, filters_of, of_measurements
from webapp.api.median_pages import MedianPage, MedianPages, page_of
from webapp.api.tables import Column, Kind, Tabular, stream, streamed, table_responses
from webapp.api.values import FiniteFloatField, NumbersField, ValueSerializer
from webapp.problems import missing_is_404

_ORDERINGS = ("configuration", "name", "metric", "node", "label", "median", "minimum", "maximum", "n")
_OF_RUN = ("source", "program", "standing")
_OF_VERDICT = ("kind", "ratio", "low", "high", "p", "adjusted", "margin", "pairs", "rule")


@dataclass(frozen=True)
class PaperRow(MedianRow):
    """A median with what is judged of it.

    - `configuration`: index in the run; `levels`: of each factor
    - `values`: of each replicate, the n-th of the n-th of `trial_ids`; both in `facts`
    - `verdict`: against the configuration `base` (an index), where there is a baseline: `ratio` of geometric means, its
      95 % interval from `low` to `high`, `p` and the `adjusted` p, and the smallest relative change worth a verdict
      (`margin`); null for the base itself, and where nothing is judged
    """

    base: int | None
    verdict: Verdict | None


class MedianVerdictSerializer(ValueSerializer):
    """What is known of two configurations."""

    value = Verdict
    leave_out = tuple({field.name for field in fields(Verdict)} - set(_OF_VERDICT))


class MedianSerializer(ValueSerializer):
    value = PaperRow
    values = NumbersField(child=FiniteFloatField(), read_only=True)
    trial_ids = NumbersField(child=serializers.IntegerField(), read_only=True)
    levels = serializers.DictField(child=serializers.CharField(), read_only=True)
    verdict = MedianVerdictSerializer(read_only=True, allow_null=True)


MedianSerializer.__doc__ = PaperRow.__doc__


def _text(name: str, description: str, **options: Any) -> OpenApiParameter:
    return OpenApiParameter(name, OpenApiTypes.STR, description=description, **options)


class Medians(Tabular):
    """Every metric of every configuration, at each node and label."""

    queryset = models.Run.objects.all()
    serializer_class = MedianSerializer
    pagination_class = MedianPages

    @extend_schema(
        summary="The medians of a run",
        operation_id="runs_medians",
        parameters=[
            _text("metric", "Only these; all without it.", many=True),
            _text("baseline", "What verdicts refer to, as in a comparison: 'postgresql-16.14', 'heap'."),
            _text("series", "The dimension that the baseline is a level of; without it the comparison's own."),
            FILTERS,
            _text(
                ORDERING, "Fields by which rows are sorted, with commas between them; '-' before one: greatest first."
            ),
        ],
        responses=table_responses(MedianSerializer),
    )
    def list(self, request: Request, pk: int) -> HttpResponseBase:
        with missing_is_404():
            run_row(pk)
        metrics = request.query_params.getlist("metric")
        comparison, judged = _judged(request, pk, metrics)
        if streamed(request):
            rows, indexes = _every(request, pk, metrics)
            return _stream(request, pk, [_paper_row(row, judged, indexes) for row in rows])
        page, indexes = self._page(request, pk, metrics, whole=bool(judged))
        answer = self.respond_all([_paper_row(row, judged, indexes) for row in page.rows])
        answer.data["next"] = page.next
        answer.data["facts"] = shown_facts(request, {trial for row in page.rows for trial in row.trial_ids})
        return _with_comparison(request, answer, comparison)

    def _page(
        self, request: Request, pk: int, metrics: Sequence[str], *, whole: bool
    ) -> tuple[MedianPage, Mapping[int, int]]:
        """Return a page, and configuration's id → index.

        whole: of all configurations, and not of the page's."""
        pages = MedianPages()
        size, after = pages.get_page_size(request), pages.after(request)
        if whole or request.query_params.get(ORDERING) or filters_of(request):
            rows, indexes = _every(request, pk, metrics)
            if after is not None:
                begin = next((place for place, row in enumerate(rows) if row.key == after), None)
                if begin is None:
                    raise pages.no_cursor()
                rows = rows[begin + 1 :]
            return page_of(request, rows, size), indexes
        rows = run_medians(pk, metrics, after=after, limit=size + 1)
        if after is None:
            _require_metrics(pk, set(metrics) - {row.metric for row in rows})
        return page_of(request, rows, size), {}


def _every(request: Request, pk: int, metrics: Sequence[str]) -> tuple[list[MedianRow], Mapping[int, int]]:
    """Return the medians that are asked for, in their order, and configuration's id → index of all of the run."""
    every = run_medians(pk, metrics)
    _require_metrics(pk, set(metrics) - {row.metric for row in every})
    indexes = {row.configuration_id: row.configuration for row in every}
    return _ordered(request, _filtered(request, pk, every)), indexes


def _judged(request: Request, pk: int, metrics: Collection[str]) -> tuple[Comparison | None, Mapping[Measured, Judged]]:
    """Return what is judged, where a baseline or a series is asked for."""
    baseline, series = (request.query_params.get(name, "") for name in ("baseline", "series"))
    if not (baseline or series):
        return None, {}
    return verdicts(Selection(runs=(pk,), series=series or None, baseline=baseline), metrics)


def _require_metrics(pk: int, without_values: Collection[str]) -> None:
    """Raise TeitenError for a metric that the run does not have; one that has no trial yet may get any."""
    known = [metric.name for metric in metrics_of([pk])] if without_values else []
    for name in sorted(set(without_values) - set(known) if known else ()):
        raise unknown_choice("metric", "metric", name, known)


def _with_comparison(request: Request, answer: Response, comparison: Comparison | None) -> Response:
    """Add which comparison the verdicts are of."""
    if comparison is not None:
        chosen = comparison.selection
        answer.data["comparison"] = {
            "rule": comparison.rule,
            "series": chosen.series,
            "baseline": chosen.baseline,
            "family": comparison.family,
            "page": f"{address(request, 'comparison')}?{urlstate.write(chosen)}",
        }
    return answer


def _filtered(request: Request, pk: int, rows: Sequence[MedianRow]) -> list[MedianRow]:
    filters: Filters = filters_of(request)
    own = of_measurements(filters, lambda: {NODE: {row.node for row in rows}, LABEL: {row.label for row in rows}})
    through = configurations_passing([pk], filters)
    return [
        row
        for row in rows
        if (through is None or row.configuration_id in through)
        and row.node in own.get(NODE, [row.node])
        and row.label in own.get(LABEL, [row.label])
    ]


def _ordered(request: Request, rows: list[MedianRow]) -> list[MedianRow]:
    """Return them as `ordering` says: by the last name first, since sorting keeps the order of equals."""
    names = [name for name in request.query_params.get(ORDERING, "").split(",") if name]
    for asked in reversed(names):
        name = asked.removeprefix("-")
        require_one_of(ORDERING, "ordering", name, _ORDERINGS)
        rows = sorted(rows, key=attrgetter(name), reverse=asked.startswith("-"))
    return rows


def _paper_row(row: MedianRow, judged: Mapping[Measured, Judged], index_of: Mapping[int, int]) -> PaperRow:
    one = judged.get((row.configuration_id, row.metric, row.node, row.label))
    return PaperRow(**vars(row), base=index_of.get(one.base_id) if one else None, verdict=one.verdict if one else None)


_OWN = (
    Column("configuration", Kind.WHOLE),
    Column("name", Kind.TEXT),
    Column("metric", Kind.TEXT),
    Column("unit", Kind.TEXT),
    Column("node", Kind.TEXT),
    Column("label", Kind.TEXT),
    Column("median", Kind.NUMBER),
    Column("minimum", Kind.NUMBER),
    Column("maximum", Kind.NUMBER),
    Column("n", Kind.WHOLE),
    Column("values", Kind.NUMBERS),
    Column("trial_ids", Kind.IDS),
    Column("base", Kind.WHOLE),
)
_JUDGED = (
    Column("verdict", Kind.TEXT),
    *(Column(name, Kind.NUMBER) for name in ("ratio", "low", "high", "p", "adjusted", "margin")),
    Column("pairs", Kind.WHOLE),
    Column("rule", Kind.WHOLE),
)
_FACTS = (
    Column("version", Kind.TEXT),
    Column("agents", Kind.TEXT),
    Column("measured_from", Kind.TIME),
    Column("environment", Kind.TEXT),
    Column("settings", Kind.JSON),
    Column("plan_hash", Kind.TEXT),
    Column("bundles_sha256", Kind.TEXT),
    Column("source", Kind.TEXT),
    Column("program", Kind.TEXT),
    Column("standing", Kind.TEXT),
)


def _stream(request: Request, pk: int, rows: Sequence[PaperRow]) -> HttpResponseBase:
    """Return each median as a row that can stand alone: with a column a factor, and the facts of its trials."""
    factors = list(dict.fromkeys(name for row in rows for name in row.levels))
    levels = [Column(f"level.{name}", Kind.TEXT) for name in factors]
    every = (*_OWN, *levels, *_JUDGED, *_FACTS)
    facts = facts_of({trial for row in rows for trial in row.trial_ids})
    names = chosen_fields(request, [column.name for column in every])
    columns = [column for name in names for column in every if column.name == name]
    return stream(request, f"medians-of-run-{pk}", columns, iter([_table(rows, names, facts)] if rows else []))


def _table(rows: Sequence[PaperRow], names: Sequence[str], facts: Facts) -> list[tuple[Any, ...]]:
    table = []
    for row in rows:
        values = vars(row) | {f"level.{name}": level for name, level in row.levels.items()}
        values |= dict(_of_verdict(row.verdict)) | _of_trials(row, facts)
        table.append(tuple(values.get(name) for name in names))
    return table


def _of_verdict(verdict: Verdict | None) -> Iterator[tuple[str, Any]]:
    for name in _OF_VERDICT:
        value = getattr(verdict, name) if verdict else None
        yield ("verdict", str(value) if verdict else None) if name == "kind" else (name, value)


def _of_trials(row: MedianRow, facts: Facts) -> dict[str, Any]:
    """Return the facts of a median's trials as text, with a ';' between those that differ."""
    trials = [facts.trials[id_] for id_ in row.trial_ids if id_ in facts.trials]  # but for those deleted meanwhile
    return {
        "version": _joined(trial.version for trial in trials),
        "agents": _agents(trials),
        "measured_from": min((trial.measured_from for trial in trials if trial.measured_from), default=None),
        "environment": _joined(trial.environment for trial in trials),
        "settings": _settings({trial.environment for trial in trials}, facts),
        "plan_hash": _joined(facts.runs[trial.run_id]["plan_hash"] for trial in trials),
        "bundles_sha256": ";".join(trial.bundle_sha256 for trial in trials),
        **_of_runs([facts.runs[trial.run_id] for trial in trials]),
    }


def _agents(trials: Iterable[TrialFacts]) -> str:
    return _joined(sorted({f"{role}={name}" for trial in trials for role, name in trial.agents.items()}))


def _of_runs(runs: Sequence[Mapping[str, Any]]) -> dict[str, str]:
    return {name: _joined(run[name] for run in runs) for name in _OF_RUN}


def _settings(environments: Collection[str], facts: Facts) -> str:
    """Return the primary's settings as JSON, where all trials ran with the same."""
    roles = [facts.environments.get(digest, {}) for digest in environments]
    settings = {orjson.dumps(one.get("primary", {}).get("settings")) for one in roles}
    return settings.pop().decode() if len(settings) == 1 else "null"


def _joined(texts: Iterable[str]) -> str:
    return ";".join(dict.fromkeys(texts))
