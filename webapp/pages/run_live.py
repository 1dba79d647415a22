"""What the page of a run that goes on has, in a mark of some hundred letters, and what of it has changed since."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import orjson
from django.http import HttpRequest
from django.template.loader import render_to_string
from django.utils.safestring import SafeString
from django.utils.translation import get_language

from results.domain.states import TrialState
from results.domain.units import scale_for
from results.queries.runs.runs import RunDetail
from webapp.charts.run import Panels
from webapp.charts.style import Figure
from webapp.pages.run_matrix import MatrixCell, MatrixRow, RunMatrix, Shown, largest_value

HEADER = "Teiten-Mark"  # of requests for what has changed (static/js/live.js)
PARTS = ("head", "notices", "foot")  # that are sent where they have changed, each a template
FIGURE_BYTES = 5_000  # of figures an answer has no more, or one figure; the others come with the next answers
_OLDEST = 2**30  # transactions that a mark may lie back; PostgreSQL tells 2^31 of them apart
_TOKEN = re.compile(r'name="csrfmiddlewaretoken" value="[^"]*"')  # another one in each answer


@dataclass(frozen=True)
class Mark:
    """What a page has.

    read: mark of the run as it was read (`RunDetail.mark`); figures: when all figures were as it was then.
    largest: the value by which the unit of the numbers is chosen; None before the first.
    shape: digest of what cannot change by itself: which cells there are, and what one may do.
    parts, panels: digests."""

    read: int
    figures: int
    largest: float | None
    shape: str
    parts: tuple[str, ...]
    panels: tuple[str, ...]

    def write(self) -> str:
        numbers = (str(self.read), str(self.figures), "" if self.largest is None else repr(self.largest))
        return " ".join((",".join(numbers), self.shape, ",".join(self.parts), ",".join(self.panels)))

    @classmethod
    def parse(cls, text: str) -> Mark | None:
        """Return the mark in a request; None where there is none that can be understood."""
        try:
            numbers, shape, parts, panels = text.split(" ")
            read, figures, largest = numbers.split(",")
            known = float(largest) if largest else None
            mark = cls(int(read), int(figures), known, shape, _listed(parts), _listed(panels))
        except ValueError:
            return None
        return mark if len(mark.parts) == len(PARTS) else None

    def has_place_in(self, detail: RunDetail) -> bool:
        """Return whether it was read from this warehouse, and not too long ago to tell what is newer."""
        return 0 <= self.figures <= self.read <= detail.mark and detail.mark - self.figures < _OLDEST


def _listed(text: str) -> tuple[str, ...]:
    return tuple(text.split(",")) if text else ()


def shape_of(detail: RunDetail, shown: Shown, rights: Mapping[str, bool]) -> str:
    """Return the digest of all of a page that a run does not change as it goes on: where it differs, all is sent."""
    trials = [row.trials for row in detail.configurations[shown.rows.slice]]
    return digest(repr((get_language(), detail.run.state, detail.factors, detail.metric, shown, trials, rights)))


def digest(text: str | bytes) -> str:
    data = text.encode() if isinstance(text, str) else text
    return hashlib.blake2b(data, digest_size=8).hexdigest()


def parts_of(request: HttpRequest, context: Mapping[str, Any]) -> dict[str, SafeString]:
    """Return the HTML of each part."""
    return {name: render_to_string(f"runs/_{name}.html", dict(context), request) for name in PARTS}


def part_digests(parts: Mapping[str, str]) -> tuple[str, ...]:
    return tuple(digest(_TOKEN.sub("", html)) for html in parts.values())


def panel_digests(panels: Panels) -> tuple[str, ...]:
    return tuple(digest(orjson.dumps(panel.figure)) for panel in panels.panels)


def same_unit(detail: RunDetail, largest: float | None) -> bool:
    """Return whether the numbers of a page keep their unit with what is known now."""
    now = largest_value(detail, largest)
    return scale_for(now or 1.0, detail.metric.unit) == scale_for(largest or 1.0, detail.metric.unit)


class Figures(NamedTuple):
    """The figures to send.

    changed: (number of the panel, figure).
    digests: of all panels, as the page has them then.
    rest: whether there are more, for the next answer."""

    changed: list[tuple[str, Figure]]
    digests: tuple[str, ...]
    rest: bool


def changed_figures(panels: Panels, known: Sequence[str]) -> Figures:
    """Return the figures that differ from those of a page, of as many bytes as an answer may have, or one."""
    digests, size = list(known), 0
    changed: list[tuple[str, Figure]] = []
    current = panel_digests(panels)
    for place, (panel, now) in enumerate(zip(panels.panels, current, strict=True)):
        if now == known[place]:
            continue
        size += len(orjson.dumps(panel.figure))
        if changed and size > FIGURE_BYTES:
            break
        changed.append((str(place + 1), panel.figure))
        digests[place] = now
    return Figures(changed, tuple(digests), tuple(digests) != current)


def changed_part(
    matrix: RunMatrix, configurations: Collection[int], trials: Collection[int]
) -> tuple[list[MatrixRow], list[MatrixCell]]:
    """Return the rows whose summaries may have changed, and the cells to send: those that may have changed, and those
    that run, whose time goes on."""
    rows = [row for row in matrix.rows if row.index in configurations]
    return rows, [cell for cell in _cells(matrix) if cell.trial_id in trials or cell.state == TrialState.RUNNING]


def _cells(matrix: RunMatrix) -> Iterable[MatrixCell]:
    for row in matrix.rows:
        yield from row.cells
