"""A comparison as a document: what its page says, and what a reader needs who has only the file."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from functools import cached_property
from typing import Any

from django.utils.translation import gettext, ngettext

from results.domain.messages import SEMICOLON, localized
from results.domain.messages import gettext_lazy as _
from results.domain.units import format_quantity
from results.queries.comparison.cells import Comparison, Point
from results.queries.comparison.citations import attempts_of
from results.queries.comparison.provenance import provenance_of
from results.queries.comparison.trust import trust_in
from results.queries.environment.environments import TrialEnvironment
from results.queries.shared.ordering import DEFAULT
from webapp import citations
from webapp.charts.comparison import AGAINST, RATIO, SPEEDUP, per_name, stacked_steps
from webapp.compare import words
from webapp.compare.figure_words import drawn_as, how_drawn, left_out_of_figure, statistic_name
from webapp.compare.panels import comparison_panels
from webapp.documents.parts import Document, Part, Plate, Prose, Table, escaped, file_name
from webapp.documents.words import sentences
from webapp.drawing.picture import Picture
from webapp.exports.environment import environment_table, environment_words, environments_of_series, settings_table
from webapp.labels import axis_title
from webapp.language import active_language, in_english, joined
from webapp.links import trial_url
from webapp.templatetags.teiten import ratio
from webapp.urlstate import View

MOST_RUNS_NAMED = 12
_COMPARED = (
    _("ratio"),
    # xgettext:no-python-format
    _("95 % interval"),
    _("verdict"),
)
_FIGURES = {  # by how they are drawn
    "": _("{metric} by {x}"),
    RATIO: _("Ratio to the baseline: {metric} by {x}"),
    SPEEDUP: _("Speed-up: {metric} by {x}"),
    AGAINST: _("{metric} against latency, over {x}"),
}
MOST_CELLS = 500  # of a table in a document


@dataclass(frozen=True)
class Source:
    """Where a comparison is shown.

    address: of its page or citation.
    site: where Teiten answers, without the last '/'.
    shown_at: when."""

    address: str
    site: str
    shown_at: datetime


@dataclass(frozen=True)
class Exported:
    """A comparison with all that its files say of it."""

    comparison: Comparison
    view: View
    source: Source

    @cached_property
    def published(self) -> list[str]:
        """Titles of the published tables that figures are from. One query."""
        return citations.published_in({r.run_id for point in self.comparison.points for r in point.values})

    @cached_property
    def of_series(self) -> dict[str, list[TrialEnvironment]]:
        """What the trials of each series ran in. One query."""
        return environments_of_series(self.comparison)

    @cached_property
    def facts(self) -> dict[str, Any]:
        """The provenance. Three queries."""
        return provenance_of(attempts_of(self.comparison), [self.comparison.rule]) | {
            "title": self.title,
            "address": self.source.address,
            "exported_at": self.source.shown_at.isoformat(),
        }

    @property
    def title(self) -> str:
        return citations.title(self.comparison)

    @property
    def name(self) -> str:
        """As files are called."""
        chosen = self.comparison.selection
        runs = "-".join(map(str, chosen.runs[:MOST_RUNS_NAMED]))
        metric = (self.comparison.metric.name, chosen.node, chosen.label, f"per {chosen.per}" if chosen.per else "")
        view = drawn_as(self.comparison, self.view)
        parts = (*metric, "by", chosen.x, view, "run", runs, *_only(self.comparison))
        return file_name(" ".join(filter(None, ("teiten", *parts))))

    @property
    def origin(self) -> str:
        """Runs, trials, rule, day and address in a line."""
        replicates = [replicate for point in self.comparison.points for replicate in point.values]
        trials = len({replicate.trial_id for replicate in replicates})
        measured_in = sorted({replicate.run_id for replicate in replicates}) or list(self.comparison.selection.runs)
        parts = (
            "Teiten",
            _runs(measured_in),
            ngettext("{n:,} trial", "{n:,} trials", trials).format(n=trials),
            gettext("verdict rule {rule}").format(rule=self.comparison.rule),
            f"{self.source.shown_at:%Y-%m-%d}",
        )
        return joined(parts)


def _runs(runs: Sequence[int]) -> str:
    """'run 4', 'runs 4, 5', 'runs 1, 2 and 7 more'."""
    named, more = joined(map(str, runs[:MOST_RUNS_NAMED])), len(runs) - MOST_RUNS_NAMED
    if more > 0:
        return gettext("runs {runs} and {n} more").format(runs=named, n=more)
    return ngettext("run {runs}", "runs {runs}", len(runs)).format(runs=named)


def document_of(one: Exported) -> Document:
    """Return it as a document in the visitor's language. Two queries, of what its verdicts rest on."""
    language = active_language()
    return Document(one.title, list(_parts(one)), (), one.origin, one.source.address, language, one.facts)


def _parts(one: Exported) -> Iterator[Part]:
    if text := lead(one.comparison):
        yield Prose(text)
    if text := remarks(one):
        yield Prose(text)
    yield from plates(one)
    yield cells_table(one.comparison)
    if rule := words.rule(one.comparison):
        yield Prose(escaped(rule))
    yield from environment_parts(one.of_series)


def remarks(one: Exported) -> str:
    """Return what a reader must know besides, as a Markdown list."""
    comparison = one.comparison
    runs = words.missing(comparison) if comparison.facets else ()
    missing = [gettext("There is no run {run} in the warehouse.").format(run=run) for run in runs]
    every = [*missing, *citations.remarks(comparison, one.published), *left_out_of_figure(comparison)]
    return "\n".join(f"- {escaped(sentence)}" for sentence in every)


def environment_parts(of_series: Mapping[str, Sequence[TrialEnvironment]]) -> Iterator[Part]:
    for table in (environment_table(of_series), settings_table(of_series)):
        if table:
            yield table


def lead(comparison: Comparison) -> str:
    """Return what the page's headline says, as Markdown; '' where cells mix configurations. Two queries."""
    found = () if comparison.mixed else words.lead(comparison)
    if not found:
        return ""
    basis = localized(trust_in(comparison).basis)
    text = []
    for number, one in enumerate(found):
        sentence = (
            gettext("**{claim}** ({basis}): {rest}.") if basis and not number else gettext("**{claim}**: {rest}.")
        )
        text.append(sentence.format(claim=escaped(one.claim), basis=escaped(basis), rest=escaped(one.rest)))
    return sentences([*text, words.direction(comparison.metric.better)])


def plates(one: Exported) -> Iterator[Plate]:
    """Give the figures as on the page."""
    comparison, key = one.comparison, _key(one.comparison)
    link = one.source.site + trial_url(0).replace("0", "{}")
    source = joined((one.origin, one.source.address))
    common: dict[str, Any] = {"source": source, "facts": one.facts, "link": link}
    environment = environment_words(one.of_series)
    if stack := stacked_steps(comparison, one.view):
        order = gettext("Parts in the order in which they ran.")
        caption = sentences((order, _count(comparison.points), environment))
        key_of_steps = [(index, name) for index, name in stack.key]
        title = gettext("{metric}, part by part").format(metric=localized(comparison.metric.label))
        picture = Picture(title, stack.figure, key_of_steps, True, caption, **common)
        yield Plate(file_name(f"{comparison.metric.name} parts"), picture)
    panels = comparison_panels(comparison, one.view)
    for name, panel in zip(comparison.panels, panels, strict=False):  # there may be more than are drawn
        points = [point for point in comparison.points if point.panel == name]
        caption = sentences((*_how_drawn(comparison, one.view), _count(points), environment))
        title = joined(filter(None, (_figure_title(comparison, one.view), panel.title)))
        yield Plate(
            file_name(f"{comparison.metric.name} {panel.title}"),
            Picture(title, panel.figure, key, caption=caption, **common),
        )


def _key(comparison: Comparison) -> list[tuple[int, str]]:
    names = [name or localized(comparison.metric.label) for name in words.names_of(comparison).values()]
    return list(enumerate(names)) if comparison.selection.series else []


def _figure_title(comparison: Comparison, view: View) -> str:
    x = axis_title(comparison.selection.x, comparison.metric)
    return localized(_FIGURES[drawn_as(comparison, view)]).format(metric=measured(comparison), x=x)


def _only(comparison: Comparison) -> list[str]:
    """The values that the filters let through, as a file's name has them."""
    return [text for texts in comparison.selection.filters.values() for text in texts if text != DEFAULT]


def _how_drawn(comparison: Comparison, view: View) -> Iterator[str]:
    yield from how_drawn(comparison, view)
    if constants := localized(SEMICOLON).join(words.constants(comparison)):
        first = constants[0].upper() if in_english() else constants[0]
        yield gettext("{parts}.").format(parts=f"{first}{constants[1:]}")


def _count(points: Sequence[Point]) -> str:
    """'n = 3', '3 ≤ n ≤ 5': replicates of each cell."""
    counts = sorted({point.n for point in points})
    if not counts:
        return ""
    text = gettext("n = {fewest} a cell.") if len(counts) == 1 else gettext("n = {fewest} to {most} a cell.")
    return text.format(fewest=counts[0], most=counts[-1])


def cells_table(comparison: Comparison) -> Table:
    """Return every cell: its value, how its replicates lie, and what they say against the baseline."""
    axes = _axes(comparison)
    compared = any(point.verdict for point in comparison.points)
    heading = [axis_title(name, comparison.metric) for name, _level in axes]
    heading += ["n", statistic_name(comparison), gettext("smallest"), gettext("largest")]
    heading += map(localized, _COMPARED) if compared else ()
    rows = [
        (*(text(point) for _name, text in axes), *_values(point, comparison), *(_compared(point) if compared else ()))
        for point in comparison.points[:MOST_CELLS]
    ]
    cells = len(comparison.points)
    some = gettext("{metric}, {n:,} of {cells:,} cells; CSV and Excel have all")
    caption = some if cells > MOST_CELLS else gettext("{metric}, every cell")
    caption = caption.format(metric=measured(comparison), n=MOST_CELLS, cells=cells)
    numeric = (*(False for _axis in axes), True, True, True, True, True, True)  # a verdict is no number
    return Table(caption, tuple(heading), tuple(rows), numeric)


def _axes(comparison: Comparison) -> list[tuple[str, Callable[[Point], str]]]:
    """(dimension, a cell's level of it) of what tells cells apart."""
    chosen, names = comparison.selection, words.names_of(comparison)
    axes: list[tuple[str | None, Callable[[Point], str]]] = [
        (chosen.panel, lambda point: words.panel_name(comparison, point.panel)),
        (chosen.x, lambda point: point.x),
        (chosen.series, lambda point: names[point.series]),
    ]
    return [(name, level) for name, level in axes if name]


def _values(point: Point, comparison: Comparison) -> list[str]:
    values = (point.value, point.minimum, point.maximum)
    return [str(point.n), *(format_quantity(value, comparison.metric.unit) for value in values)]


def measured(comparison: Comparison) -> str:
    """'Transactions per second per client', 'CPU used, primary', 'Time of a query, q1.1': what the numbers are of."""
    chosen = comparison.selection
    metric = localized(comparison.metric.label)
    if chosen.per:
        metric = gettext("{metric} per {per}").format(metric=metric, per=per_name(comparison))
    which = (("node", chosen.node), ("label", chosen.label))
    apart = [text for name, text in which if text and name not in chosen.axes]
    return joined([metric, *apart])


def _compared(point: Point) -> tuple[str, str, str]:
    verdict = point.verdict
    if verdict is None:
        return (gettext("baseline") if point.base else "–", "", "")
    low, high = ratio(verdict.low), ratio(verdict.high)
    reach = gettext("{low} to {high}").format(low=low, high=high) if low and high else ""
    return ratio(verdict.ratio or point.ratio) or "–", reach, localized(verdict.words)
