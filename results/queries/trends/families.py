"""Configuration families: which there are, and which of them a selection follows. Pure but for `families`."""

from __future__ import annotations

import json
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import lru_cache
from typing import ClassVar, NamedTuple

from results import models, sql
from results.domain.errors import TeitenError
from results.domain.messages import gettext_lazy as _
from results.domain.nearest import suggestion
from results.queries.shared.configurations import as_texts
from results.queries.shared.facets import Filters, facets, passing, varying
from results.queries.shared.ordering import DEFAULT, sorted_levels
from results.queries.shared.run_filter import NO_FILTER, RunFilter
from results.queries.shared.selection import JOINT, dimensions
from results.queries.shared.words import name_of

DATE, VERSION, COMMIT = "date", "version", "commit"
INSTALLATION = "installation"
TEITEN, THIS = "teiten", "this"  # which Teiten measured it, and that level of it
AXES = (DATE, VERSION, COMMIT)
MOST_LINES = 12
MOST_RUNS = 400  # of a line, which are as many points as changes of level are sought in
_DIFFERENT_WITHIN = ("run", "version", "major")  # what configurations of a family differ in
MOST_CONFIGURATIONS = 1_000  # of the newest runs, of which families are known
_FIRST_SERIES = (INSTALLATION, "access_method", "topology")
_MOST_NAMES = 20


@dataclass(frozen=True)
class TrendSelection:
    """What to follow: all runs of a plan, or all of a workload.

    filters: dimension → values let through. Whatever else varies is held at one value: its most measured one.
    x: date, version or commit; '' for date.
    series: dimensions with commas between them, a line for each of their levels; None for the default choice, '' for
        one line.
    metric, node, label: '' for the first.
    runs: of which runs besides, by agent, tag and date.
    before: only runs with a smaller number than this one; None for the newest."""

    plan: str = ""
    workload: str = ""
    filters: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    x: str = ""
    series: str | None = None
    metric: str = ""
    node: str = ""
    label: str = ""
    runs: RunFilter = NO_FILTER
    before: int | None = None


@dataclass(frozen=True)
class FollowedRuns:
    """The kept runs of a plan or workload that a filter lets through.

    ids: the newest, or those before one, the newest first, at most MOST_RUNS + 1.
    kept: how many there are in all.
    exploratory: how many more there would be, were all kept that are exploratory."""

    ids: tuple[int, ...]
    kept: int
    exploratory: int


@dataclass(frozen=True)
class Family:
    """Configurations, of any number of runs, that are equal in everything but the server's version.

    key: hash of what is equal, and which Teiten measured it, with a space between.
    texts: dimension → level.
    configurations: their ids in the runs that were asked for.
    done: number of trials that count.
    newest_run: the newest run with such a trial.
    factors: dimensions that a plan of theirs varied."""

    key: str
    texts: Mapping[str, str]
    configurations: tuple[int, ...]
    done: int
    newest_run: int | None
    factors: tuple[str, ...] = ()

    def level(self, name: str) -> str:
        return self.texts.get(name, DEFAULT)


@dataclass(frozen=True)
class FamilyFacet:
    """A dimension that families differ in, and what of it is shown.

    values: as of a Facet, for all other choices.
    chosen: the levels that are shown; none for all of them.
    several: whether more than one level can be chosen.
    factor: of one of the runs."""

    name: str
    values: tuple[tuple[str, int], ...]
    chosen: tuple[str, ...]
    several: bool
    factor: bool
    varies: ClassVar[bool] = True


@dataclass(frozen=True)
class Choice:
    """The families that a selection follows."""

    selection: TrendSelection  # complete
    held: Mapping[str, str]  # dimension → the one value that it is held at by default
    lines: Mapping[str, tuple[str, ...]]  # name → keys of its families
    newest_run: int | None
    facets: tuple[FamilyFacet, ...]
    first_series: str  # what the series are by default
    left_out: int  # lines beyond the most that are drawn
    installations: Mapping[str, str] = field(
        default_factory=dict
    )  # by keys of families, where a line goes on with another


def families(runs: Sequence[int], most: int | None = None) -> list[Family]:
    """Return what was measured in these runs. One query.

    runs: the newest first.
    most: only in the newest of them, with about so many configurations together; None for all."""
    parameters = {"runs": sql.array(runs), "most": most}
    rows = sql.tuples(_StoredFamily, sql.load(__file__, "trends_families"), parameters)
    return [
        Family(row.key, row.texts(), tuple(row.configurations), row.done, row.newest_run, tuple(row.factors))
        for row in rows
        if row.done
    ]


class _StoredFamily(NamedTuple):
    key: str
    levels: str  # JSON, of one of its configurations
    dimensions: str  # likewise
    configurations: list[int]
    done: int
    newest_run: int | None
    factors: list[str]

    def texts(self) -> Mapping[str, str]:
        return _texts(self.levels, self.dimensions, self.key.partition(" ")[2])


@lru_cache(1_000)
def _texts(levels: str, dimensions: str, teiten: str) -> Mapping[str, str]:
    """Return what is equal in all configurations of a family, by one of them. To merge it PostgreSQL would take as long
    as for all else of the query: 10 ms for 300 families."""
    of_levels, of_dimensions = json.loads(levels), json.loads(dimensions)
    installation = of_levels.get(INSTALLATION)
    every = {**of_levels, **of_dimensions, TEITEN: teiten}
    every[INSTALLATION] = of_dimensions.get("major") if installation is None else installation
    return as_texts({name: level for name, level in every.items() if name not in _DIFFERENT_WITHIN})


def known_families(followed: FollowedRuns) -> list[Family]:
    """Return the families that can be chosen from: of the newest of these runs, with MOST_CONFIGURATIONS together. One
    query."""
    return families(followed.ids[:MOST_RUNS], MOST_CONFIGURATIONS)


def followed_runs(selection: TrendSelection) -> FollowedRuns:
    """Return the kept runs of the selection's plan and workload. One query, which counts them one by one where days are
    chosen; up to two more where there are none. Raises TeitenError for a plan that there is not, and for a workload
    that never ran."""
    chosen = selection.runs
    parameters = {
        "plan": selection.plan,
        "workload": selection.workload,
        "agents": list(chosen.agents),
        "tags": list(chosen.tags),
        "since": chosen.since,
        "until": chosen.until,
        "before": selection.before,
        "by_day": bool(chosen.since or chosen.until),
        "most": MOST_RUNS + 1,
    }
    query = sql.load(__file__, "trends_runs")
    for name in ("conditions", "public"):
        query = query.replace(f"{{{name}}}", sql.load(__file__, f"trends_runs_{name}"))
    (followed,) = sql.rows(FollowedRuns, query, parameters)
    if not followed.kept:
        _require("plan", selection.plan, models.Plan.objects.order_by("name").values_list("name", flat=True))
        ran = models.Run.objects.order_by("workload").values_list("workload", flat=True)
        _require("workload", selection.workload, ran.distinct())
    return followed


def choose(selection: TrendSelection, known: Sequence[Family]) -> Choice:
    """Return the families that the selection follows. Over versions and commits they are followed from one installation
    to the next, unless the series are installations. Raises TeitenError for a dimension or axis that there is not."""
    names = varying(known)
    first = _first_series(names, selection.x or DATE)
    chosen = _complete(selection, first, known)
    follows = _follows(chosen)
    apart = _apart(chosen, follows)
    fitting = passing(known, chosen.filters)
    held = _held(fitting, apart, names, {*apart, *follows, *chosen.filters})
    filters = {**chosen.filters, **{name: (level,) for name, level in held.items()}}
    shown = passing(known, filters)
    lines = _lines(shown, apart)
    return Choice(
        selection=chosen,
        held=held,
        lines=dict(list(lines.items())[:MOST_LINES]),
        newest_run=_newest_run(shown),
        facets=_facets(known, filters, {*apart, *follows}),
        first_series=first,
        left_out=max(len(lines) - MOST_LINES, 0),
        installations=_installations(shown) if follows else {},
    )


def _facets(known: Sequence[Family], filters: Filters, several: Collection[str]) -> tuple[FamilyFacet, ...]:
    """several: dimensions of which several levels can be chosen."""
    return tuple(
        FamilyFacet(facet.name, facet.values, tuple(filters.get(facet.name, ())), facet.name in several, facet.factor)
        for facet in facets(known, filters)
        if facet.varies
    )


def _first_series(names: Sequence[str], x: str) -> str:
    possible = [name for name in _FIRST_SERIES if x == DATE or name != INSTALLATION]
    return next((name for name in possible if name in names), "")


def _complete(selection: TrendSelection, first: str, known: Sequence[Family]) -> TrendSelection:
    """Fill in the default axes. Raises TeitenError for an axis or dimension that there is not.

    first: the default series."""
    x = selection.x or DATE
    if x not in AXES:
        raise _unknown("x", "axis", x, AXES)
    chosen = replace(selection, x=x, series=first if selection.series is None else selection.series)
    names = {name for family in known for name in family.texts}
    for where, name in _dimensions(chosen):
        if known and name not in names:
            raise _unknown(where, "dimension", name, sorted(names))
    return chosen


def _dimensions(chosen: TrendSelection) -> Iterator[tuple[str, str]]:
    """Give each dimension that is named, and where it is."""
    yield from (("series", name) for name in dimensions(chosen.series or ""))
    yield from ((f"filter.{name}", name) for name in chosen.filters)


def _follows(chosen: TrendSelection) -> set[str]:
    """Return the dimensions from one level of which to the next a line goes on."""
    return {INSTALLATION} if chosen.x != DATE and INSTALLATION not in dimensions(chosen.series or "") else set()


def _apart(chosen: TrendSelection, follows: Collection[str]) -> list[str]:
    """Return the dimensions that tell lines apart: the series, and what filters let several values through of."""
    series = dimensions(chosen.series or "")
    several = [name for name, values in chosen.filters.items() if len(values) > 1]
    return [*series, *(name for name in several if name not in {*series, *follows})]


def _installations(shown: Sequence[Family]) -> dict[str, str]:
    """Return key of a family → its installation."""
    return {family.key: family.level(INSTALLATION) for family in shown}


def shortest(selection: TrendSelection, known: Sequence[Family]) -> TrendSelection:
    """The same choice without the filters that hold anyway."""
    for name, values in selection.filters.items():
        others = {other: texts for other, texts in selection.filters.items() if other != name}
        without = replace(selection, filters=others)
        if len(values) == 1 and choose(without, known).held.get(name) == values[0]:
            return shortest(without, known)
    return selection


def released(selection: TrendSelection, known: Sequence[Family], held: Collection[str]) -> TrendSelection:
    """Without the filters of dimensions that a form offered one value of, where several can be chosen now: who asks for
    a line for each level after having held it at one means all of them."""
    free = replace(selection, filters={name: texts for name, texts in selection.filters.items() if name not in held})
    several = {facet.name for facet in choose(free, known).facets if facet.several}
    kept = {name: texts for name, texts in selection.filters.items() if name not in held or name not in several}
    return replace(selection, filters=kept)


def _newest_run(shown: Sequence[Family]) -> int | None:
    return max((family.newest_run for family in shown if family.newest_run), default=None)


def _held(
    fitting: Sequence[Family], apart: Sequence[str], names: Sequence[str], free: Collection[str]
) -> dict[str, str]:
    """Return the value that each of these dimensions is held at, where lines would mix several. Which Teiten measured
    comes first: what is most measured is so here.

    apart: the dimensions that tell lines apart.
    free: those that are not held."""
    held: dict[str, str] = {}
    rest = list(fitting)
    for name in sorted(names, key=lambda name: name != TEITEN):
        if name not in free and _is_mixed(name, rest, apart):
            held[name] = _most_measured(name, rest)
            rest = [family for family in rest if family.level(name) == held[name]]
    return held


def _is_mixed(name: str, families: Sequence[Family], apart: Sequence[str]) -> bool:
    """Return whether a line holds several values of a dimension."""
    lines: dict[tuple[str, ...], set[str]] = {}
    for family in families:
        lines.setdefault(tuple(map(family.level, apart)), set()).add(family.level(name))
    return any(len(values) > 1 for values in lines.values())


def _most_measured(name: str, families: Sequence[Family]) -> str:
    trials: dict[str, int] = {}
    for family in families:
        trials[family.level(name)] = trials.get(family.level(name), 0) + family.done
    if name == TEITEN and THIS in trials:
        return THIS
    return max(sorted_levels(trials, name), key=lambda text: trials[text])


def _lines(shown: Sequence[Family], apart: Sequence[str]) -> dict[str, tuple[str, ...]]:
    """Return name of a line → keys of its families.

    apart: the dimensions that tell lines apart."""
    lines: dict[tuple[str, ...], tuple[str, ...]] = {}
    for family in shown:
        levels = tuple(map(family.level, apart))
        lines[levels] = (*lines.get(levels, ()), family.key)
    orders = [sorted_levels([levels[index] for levels in lines], name) for index, name in enumerate(apart)]
    ordered = sorted(lines, key=lambda levels: [order.index(text) for order, text in zip(orders, levels, strict=True)])
    return {JOINT.join(levels): lines[levels] for levels in ordered}


def _require(kind: str, name: str, known: Iterable[str]) -> None:
    if name and name not in (names := list(known)):
        raise _unknown(kind, kind, name, names[:_MOST_NAMES])


def _unknown(where: str, kind: str, name: str, known: Sequence[str]) -> TeitenError:
    todo = suggestion(name, known) if known else _("There is none yet.")
    what = _("There is no {kind} {name!r} here.", kind=name_of(kind), name=name)
    return TeitenError(what, where=where, todo=todo)
