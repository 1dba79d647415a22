"""A comparison as a document: what its page says, and what a reader needs who has only the file."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from functools import cached_property
from typing import Any

from results.domain.units import counted, format_quantity
from results.queries.comparison.cells import Comparison, Point
from results.queries.comparison.citations import attempts_of
from results.queries.comparison.provenance import provenance_of
from results.queries.comparison.trust import trust_in
from results.queries.environment.environments import TrialEnvironment
from webapp import citations
from webapp.charts.comparison import AGAINST, RATIO, SPEEDUP, possible_views, stacked_steps
from webapp.charts.medians import stand_at_numbers
from webapp.compare import words
from webapp.compare.panels import comparison_panels
from webapp.documents.parts import Document, Part, Plate, Prose, Table, escaped, file_name
from webapp.drawing.picture import Picture
from webapp.exports.environment import environment_table, environment_words, environments_of_series, settings_table
from webapp.labels import axis_title
from webapp.links import trial_url
from webapp.templatetags.teiten import ratio
from webapp.urlstate import View

MOST_RUNS_NAMED = 12
EXPORTED_AT = "exported_at"  # in the provenance


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
        return provenance_of(attempts_of(self.comparison)) | {
            "title": self.title,
            "address": self.source.address,
            EXPORTED_AT: self.source.shown_at.isoformat(),
        }

    @property
    def title(self) -> str:
        return citations.title(self.comparison)

    @property
    def name(self) -> str:
        """As files are called."""
        chosen = self.comparison.selection
        runs = "-".join(map(str, chosen.runs[:MOST_RUNS_NAMED]))
        parts = (self.comparison.metric.name, "by", chosen.x, self.view.view, "run", runs)
        return file_name(" ".join(filter(None, ("teiten", *parts))))

    @property
    def origin(self) -> str:
        """Runs, trials, rule, day and address in a line."""
        chosen = self.comparison.selection
        trials = len({r.trial_id for point in self.comparison.points for r in point.values})
        named = ", ".join(map(str, chosen.runs[:MOST_RUNS_NAMED]))
        more = len(chosen.runs) - MOST_RUNS_NAMED
        runs = f"run{'s' if len(chosen.runs) > 1 else ''} {named}{f' and {more} more' if more > 0 else ''}"
        rule = f"verdict rule {self.comparison.rule}"
        return f"Teiten, {runs}, {counted(trials, 'trial')}, {rule}, {self.source.shown_at:%Y-%m-%d}"


def document_of(one: Exported) -> Document:
    """Return it as a document. Two queries, of what its verdicts rest on."""
    return Document(one.title, list(_parts(one)), one.origin, one.source.address, facts=one.facts)


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
    return "\n".join(f"- {escaped(remark)}" for remark in citations.remarks(one.comparison, one.published))


def environment_parts(of_series: Mapping[str, Sequence[TrialEnvironment]]) -> Iterator[Part]:
    for table in (environment_table(of_series), settings_table(of_series)):
        if table:
            yield table


def lead(comparison: Comparison) -> str:
    """Return what the page's headline says, as Markdown; '' where cells mix configurations. Two queries."""
    sentences = () if comparison.mixed else words.lead(comparison)
    if not sentences:
        return ""
    basis = trust_in(comparison).basis
    first = f" ({escaped(basis)})" if basis else ""
    text = [f"**{escaped(s.claim)}**{first if not n else ''}: {escaped(s.rest)}." for n, s in enumerate(sentences)]
    return " ".join([*text, words.direction(comparison.metric.better)])


def plates(one: Exported) -> Iterator[Plate]:
    """Give the figures as on the page."""
    comparison, key = one.comparison, _key(one.comparison)
    link = one.source.site + trial_url(0).replace("0", "{}")
    common: dict[str, Any] = {"source": f"{one.origin}, {one.source.address}", "facts": one.facts, "link": link}
    environment = environment_words(one.of_series)
    if stack := stacked_steps(comparison, one.view):
        caption = " ".join(
            filter(None, ("Parts in the order in which they ran.", _count(comparison.points), environment))
        )
        key_of_steps = [(index, name) for index, name in stack.key]
        picture = Picture(
            f"{comparison.metric.label}, part by part", stack.figure, key_of_steps, True, caption, **common
        )
        yield Plate(file_name(f"{comparison.metric.name} parts"), picture)
    panels = comparison_panels(comparison, one.view)
    for name, panel in zip(comparison.panels, panels, strict=False):  # there may be more than are drawn
        points = [point for point in comparison.points if point.panel == name]
        caption = " ".join(filter(None, (*_how_drawn(comparison, one.view), _count(points), environment)))
        title = f"{_figure_title(comparison, one.view)}{f', {panel.title}' if panel.title else ''}"
        yield Plate(
            file_name(f"{comparison.metric.name} {panel.title}"),
            Picture(title, panel.figure, key, caption=caption, **common),
        )


def _key(comparison: Comparison) -> list[tuple[int, str]]:
    names = [name or comparison.metric.label for name in words.names_of(comparison).values()]
    return list(enumerate(names)) if comparison.selection.series else []


def _figure_title(comparison: Comparison, view: View) -> str:
    if _view(comparison, view) == AGAINST:
        return (
            f"{comparison.metric.label} against latency, over {axis_title(comparison.selection.x, comparison.metric)}"
        )
    kind = {RATIO: "Ratio to the baseline: ", SPEEDUP: "Speed-up: "}.get(_view(comparison, view), "")
    per = f" per {comparison.selection.per}" if comparison.selection.per else ""
    return f"{kind}{comparison.metric.label}{per} by {axis_title(comparison.selection.x, comparison.metric)}"


def _view(comparison: Comparison, view: View) -> str:
    return view.view if view.view in possible_views(comparison) else ""


def _how_drawn(comparison: Comparison, view: View) -> Iterator[str]:
    shown = _view(comparison, view)
    statistic = comparison.selection.statistic
    if shown == RATIO:
        yield "Ratio of geometric means with its 95 % interval; grey: what counts as the same."
    elif shown == SPEEDUP:
        yield f"Each value relative to its line's first {axis_title(comparison.selection.x, comparison.metric)}."
    elif shown == AGAINST:
        yield f"Right and low is better. Lines join the {statistic}s; mark: a replicate."
    elif stand_at_numbers(comparison.xs, comparison.selection.x):
        yield f"Line: {statistic}; band: from the smallest to the largest replicate; mark: a replicate."
    else:
        yield f"Stroke: {statistic}; mark: a replicate."
    if constants := "; ".join(words.constants(comparison)):
        yield f"{constants[0].upper()}{constants[1:]}."


def _count(points: Sequence[Point]) -> str:
    """'n = 3', '3 ≤ n ≤ 5': replicates of each cell."""
    counts = sorted({point.n for point in points})
    if not counts:
        return ""
    return f"n = {counts[0]} a cell." if len(counts) == 1 else f"n = {counts[0]} to {counts[-1]} a cell."


def cells_table(comparison: Comparison) -> Table:
    """Return every cell: its value, how its replicates lie, and what they say against the baseline."""
    chosen, names = comparison.selection, words.names_of(comparison)
    compared = any(point.verdict for point in comparison.points)
    axes = [
        (chosen.panel, lambda point: words.panel_name(comparison, point.panel)),
        (chosen.x, lambda point: point.x),
        (chosen.series, lambda point: names[point.series]),
    ]
    used = [(name, text) for name, text in axes if name]
    heading = [axis_title(name, comparison.metric) for name, _ in used]
    heading += ["n", f"{chosen.statistic}", "smallest", "largest"]
    heading += ["ratio", "95 % interval", "verdict"] if compared else []
    rows = []
    for point in comparison.points:
        values = [
            format_quantity(value, comparison.metric.unit) for value in (point.value, point.minimum, point.maximum)
        ]
        row = [*(text(point) for _, text in used), str(point.n), *values]
        rows.append((*row, *(_compared(point) if compared else ())))
    numeric = (*(False for _ in used), True, True, True, True, *((True, True, False) if compared else ()))
    return Table(f"{comparison.metric.label}, every cell", tuple(heading), tuple(rows), numeric)


def _compared(point: Point) -> tuple[str, str, str]:
    verdict = point.verdict
    if verdict is None:
        return ("baseline" if point.base else "–", "", "")
    low, high = ratio(verdict.low), ratio(verdict.high)
    return ratio(verdict.ratio or point.ratio) or "–", f"{low} to {high}" if low and high else "", verdict.words
