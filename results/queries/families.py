"""Configuration families: which there are, and which of them a selection follows. Pure but for `families`."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace

from results import models, sql
from results.errors import TeitenError
from results.queries.ordering import DEFAULT, sorted_levels
from results.queries.selection import JOINT, dimensions

DATE, VERSION, COMMIT = "date", "version", "commit"
INSTALLATION = "installation"
AXES = (DATE, VERSION, COMMIT)
MOST_LINES = 12
_FIRST_SERIES = (INSTALLATION, "access_method", "topology")
_MOST_NAMES = 20


@dataclass(frozen=True)
class TrendSelection:
    """What to follow: all runs of a plan, or all of a workload. x: date, version or commit; '' for date.
    series: dimensions with commas between them, a line for each of their levels; None for the default choice, '' for
    one line. filters: dimension → values let through. Whatever else varies is held at one value: its most measured
    one. metric, node, label: '' for the first."""

    plan: str = ""
    workload: str = ""
    filters: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    x: str = ""
    series: str | None = None
    metric: str = ""
    node: str = ""
    label: str = ""


@dataclass(frozen=True)
class Family:
    """Configurations, of any number of runs, that are equal in everything but the server's version. trials: done."""

    dimensions: Mapping[str, str]
    configurations: tuple[int, ...]
    trials: int
    newest_run: int | None
    factors: tuple[str | None, ...] = ()

    def level(self, name: str) -> str:
        return self.dimensions.get(name, DEFAULT)

    def fits(self, filters: Mapping[str, Sequence[str]]) -> bool:
        return all(self.level(name) in values for name, values in filters.items())


@dataclass(frozen=True)
class FamilyFacet:
    """A dimension that families differ in. values: (text, done trials of families that fit all other choices), in
    reading order. chosen: those shown. several: more than one can be chosen."""

    name: str
    values: tuple[tuple[str, int], ...]
    chosen: tuple[str, ...]
    several: bool


@dataclass(frozen=True)
class Choice:
    """selection: complete. held: dimension → the one value that it is held at by default. lines: name → its families'
    configurations. left_out: lines beyond the most that are drawn. installations: configuration → its installation,
    where a line goes on from one to the next."""

    selection: TrendSelection
    held: Mapping[str, str]
    lines: Mapping[str, tuple[int, ...]]
    newest_run: int | None
    facets: tuple[FamilyFacet, ...]
    first_series: str
    left_out: int
    installations: Mapping[int, str] = field(default_factory=dict)


def families(plan: str = "", workload: str = "", runs: Sequence[int] | None = None) -> list[Family]:
    """Of all runs of a plan, of a workload, or of those named. One query. Raises TeitenError for a plan that there is
    not, and for a workload that never ran."""
    parameters = {"plan": plan, "workload": workload, "runs": None if runs is None else list(runs)}
    found = sql.rows(Family, sql.load(__file__, "trends_families"), parameters)
    if not found:
        _require("plan", plan, models.Plan.objects.order_by("name").values_list("name", flat=True))
        ran = models.Run.objects.order_by("workload").values_list("workload", flat=True)
        _require("workload", workload, ran.distinct())
    return [family for family in found if family.trials]


def choose(selection: TrendSelection, known: Sequence[Family]) -> Choice:
    """The families that the selection follows. Over versions and commits they are followed from one installation to
    the next, unless the series are installations. Raises TeitenError for a dimension or axis that there is not."""
    names = {name for family in known for name in family.dimensions}
    varying = [name for name in _ordered(known, names) if len({family.level(name) for family in known}) > 1]
    x = selection.x or DATE
    if x not in AXES:
        raise _unknown("x", "axis", x, AXES)
    first = next((name for name in _FIRST_SERIES if name in varying and (x == DATE or name != INSTALLATION)), "")
    chosen = replace(selection, x=x, series=first if selection.series is None else selection.series)
    series = dimensions(chosen.series or "")
    follows = {INSTALLATION} if x != DATE and INSTALLATION not in series else set()
    for where, name in [*(("series", name) for name in series), *((f"filter.{n}", n) for n in chosen.filters)]:
        if known and name not in names:
            raise _unknown(where, "dimension", name, sorted(names))
    several = [name for name, values in chosen.filters.items() if len(values) > 1]
    told_apart = [*series, *(name for name in several if name not in {*series, *follows})]
    fitting = [family for family in known if family.fits(chosen.filters)]
    free = {*told_apart, *follows, *chosen.filters}
    held = _held(fitting, told_apart, [name for name in varying if name not in free])
    shown = [family for family in fitting if family.fits({name: [value] for name, value in held.items()})]
    lines = _lines(shown, told_apart)
    return Choice(
        selection=chosen,
        held=held,
        lines=dict(list(lines.items())[:MOST_LINES]),
        newest_run=max((family.newest_run or 0 for family in shown), default=0) or None,
        facets=tuple(_facet(name, chosen, held, {*told_apart, *follows}, known) for name in varying),
        first_series=first,
        left_out=max(len(lines) - MOST_LINES, 0),
        installations={one: family.level(INSTALLATION) for family in shown for one in family.configurations}
        if follows
        else {},
    )


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


def _ordered(known: Sequence[Family], names: set[str]) -> list[str]:
    """Factors of the runs first: the other dimensions often follow from them."""
    factors = {name for family in known for text in family.factors for name in (text or "").split("\n")}
    return sorted(names, key=lambda name: (name not in factors, name))


def _held(fitting: Sequence[Family], told_apart: Sequence[str], names: Sequence[str]) -> dict[str, str]:
    held: dict[str, str] = {}
    rest = list(fitting)
    for name in names:
        lines: dict[tuple[str, ...], set[str]] = {}
        for family in rest:
            lines.setdefault(tuple(map(family.level, told_apart)), set()).add(family.level(name))
        if all(len(values) == 1 for values in lines.values()):
            continue
        texts = sorted_levels([family.level(name) for family in rest], name)
        trials = {text: sum(family.trials for family in rest if family.level(name) == text) for text in texts}
        held[name] = max(texts, key=lambda text: trials[text])
        rest = [family for family in rest if family.level(name) == held[name]]
    return held


def _lines(shown: Sequence[Family], told_apart: Sequence[str]) -> dict[str, tuple[int, ...]]:
    lines: dict[tuple[str, ...], tuple[int, ...]] = {}
    for family in shown:
        levels = tuple(map(family.level, told_apart))
        lines[levels] = (*lines.get(levels, ()), *family.configurations)
    for place in reversed(range(len(told_apart))):
        order = sorted_levels([levels[place] for levels in lines], told_apart[place])
        lines = dict(sorted(lines.items(), key=lambda item: order.index(item[0][place])))
    return {JOINT.join(levels): configurations for levels, configurations in lines.items()}


def _facet(
    name: str, chosen: TrendSelection, held: Mapping[str, str], several: Collection[str], known: Sequence[Family]
) -> FamilyFacet:
    others = {other: values for other, values in chosen.filters.items() if other != name}
    others |= {other: (value,) for other, value in held.items() if other != name}
    trials: dict[str, int] = {family.level(name): 0 for family in known}
    for family in known:
        if family.fits(others):
            trials[family.level(name)] += family.trials
    values = tuple((text, trials[text]) for text in sorted_levels(trials, name))
    now = chosen.filters.get(name) or ((held[name],) if name in held else ())
    return FamilyFacet(name, values, tuple(now), name in several)


def _require(kind: str, name: str, known: Iterable[str]) -> None:
    if name and name not in (names := list(known)):
        raise _unknown(kind, kind, name, names[:_MOST_NAMES])


def _unknown(where: str, kind: str, name: str, known: Sequence[str]) -> TeitenError:
    todo = f"There are {', '.join(known)}." if known else "There is none yet."
    return TeitenError(f"There is no {kind} {name!r} here.", where=where, todo=todo)
