"""Versions of PostgreSQL as a heat table of ratios."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Sequence
from typing import Any
from urllib.parse import urlencode

from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.urls import reverse
from django.views.decorators.http import require_safe

from results.domain.statistics.verdict import Kind
from results.domain.units import counted
from results.queries.presets.versions import DECIDED, VersionCell, VersionRow, Versions, versions
from webapp import urlstate
from webapp.charts.presets import versions_figure
from webapp.charts.style import key
from webapp.chooser import Chip, Chips, Chooser, text_choice
from webapp.pages.common import wants_fragment

# speeds from which on a cell is coloured so strongly, and their inverses
_STEPS = (1.02, 1.1, 1.25)


@require_safe
def index(request: HttpRequest) -> HttpResponse:
    workload, baseline = request.GET.get("workload", ""), request.GET.get("baseline", "")
    only = [text for text in request.GET.getlist("version") if text]
    table = versions(workload, baseline, only)
    chosen = [("workload", workload), ("baseline", baseline), *(("version", text) for text in only)]
    query = urlencode([(name, text) for name, text in chosen if text])
    suffix = f"?{query}" if query else ""
    context = _context(table) | {"chooser": chooser(table, only), "json": reverse("api:versions") + suffix}
    template = "versions/_versions.html" if wants_fragment(request) else "versions/index.html"
    response = render(request, template, context)
    response["HX-Push-Url"] = reverse("versions") + suffix
    return response


def chooser(versions: Versions, only: Collection[str]) -> Chooser | None:
    """None where there is no version to choose.

    only: the versions chosen; empty for all of them."""
    if not versions.known:
        return None
    chips = [Chip(text, text in only, empty=text not in versions.beside) for text in versions.known]
    return Chooser(
        chips=(Chips("version", "versions", tuple(chips), note="" if only else "all"),),
        choices=(
            text_choice("workload", "workload", ("", *versions.workloads), versions.workload, "all, one row each"),
            text_choice("baseline", "baseline", ("", *versions.known), versions.baseline, "the row's own"),
        ),
    )


def _context(versions: Versions) -> dict[str, Any]:
    urls = [[_address(cell) for cell in row.cells] for row in versions.rows]
    rows = []
    for row, addresses in zip(versions.rows, urls, strict=True):
        rows.append((row, list(zip(map(_shown, row.cells), addresses, strict=True))))
    marks = zip(key(versions.versions), versions.versions, strict=True)
    return {
        "table": versions,
        "rows": rows,
        "means": [(mean, heat(mean)) for mean in versions.means],
        "sentence": sentence(versions),
        "key": [mark for mark, version in marks if _is_drawn(version, versions)],
        "figure": versions_figure(versions, urls) if versions.rows else None,
    }


def _is_drawn(version: str, versions: Versions) -> bool:
    """Return whether the figure has a dot of the version."""
    index = versions.versions.index(version)
    cells = [(row.base, row.cells[index]) for row in versions.rows]
    return any(cell and cell.speed and version != base for base, cell in cells)


def _address(cell: VersionCell | None) -> str:
    return f"{reverse('comparison')}?{urlstate.write(cell.selection)}" if cell is not None else ""


def _shown(cell: VersionCell | None) -> dict[str, Any] | None:
    return None if cell is None else {"cell": cell, "heat": heat(cell.speed), "kinds": _kinds(cell)}


def _kinds(cell: VersionCell) -> str:
    """'2 better, 1 not comparable of 4': undecided cells are named only where nothing is decided; verdicts that
    are on these runs only say so."""
    undecided = Kind.TOO_FEW in cell.kinds
    decided = [f"{cell.kinds[kind]} {kind}" for kind in DECIDED if kind in cell.kinds]
    words = decided or ([Kind.TOO_FEW.words] if undecided else [])
    if apart := cell.kinds.get(Kind.NOT_COMPARABLE):
        words = [*words, f"{apart} not comparable"]
    text = ", ".join(words) + (f" of {sum(cell.kinds.values())}" if decided and undecided else "")
    return f"{text} in these runs" if decided and cell.of_these_runs else text


def heat(speed: float | None) -> str:
    """Name of the cell's colour: up3 … up1, even, down1 … down3; '' where there is no ratio."""
    if speed is None:
        return ""
    step = sum(max(speed, 1 / speed) >= limit for limit in _STEPS)
    return f"{'up' if speed > 1 else 'down'}{step}" if step else "even"


def sentence(versions: Versions) -> str:
    """The answer in words for the newest version whose rows share a baseline; '' where there is none. It is called
    faster or slower only where verdicts say so and none says otherwise."""
    for index in reversed(range(len(versions.versions))):
        version, mean = versions.versions[index], versions.means[index]
        cells = [(row, row.cells[index]) for row in versions.rows]
        rows = [(row, cell) for row, cell in cells if cell is not None and cell.speed]
        bases = {row.base for row, _ in rows}
        if mean is not None and len(bases) == 1 and bases != {version}:
            return _sentence(version, bases.pop(), mean, rows)
    return ""


def _sentence(version: str, base: str, mean: float, rows: Sequence[tuple[VersionRow, VersionCell]]) -> str:
    kinds: Counter[str] = Counter()
    for _, cell in rows:
        kinds.update(cell.kinds)
    judged = kinds.total()
    apart = kinds.pop(Kind.NOT_COMPARABLE, 0)
    claim = _claim(version, base, mean, kinds)
    if claim is None and all(row.published and cell.n <= judged + cell.missing for row, cell in rows):
        claim = f"Published figures, one value each: {version} against {base}"
    claim = claim or f"{version} is {Kind.TOO_FEW.words} against {base}:"
    across = " Measured in different runs, whose own levels are part of it."
    across = across if all(cell.of_these_runs for _, cell in rows) else ""
    left_out = f" Left out: {counted(apart, 'cell')} not comparable." if apart else ""
    return f"{claim} ×{mean:.3f}, as a geometric mean of the rows below.{across}{left_out}"


def _claim(version: str, base: str, mean: float, kinds: Counter[str]) -> str | None:
    """What the verdicts decide; None where they decide nothing."""
    better, worse, same = kinds[Kind.BETTER], kinds[Kind.WORSE], kinds[Kind.SAME]
    of = f"of {counted(kinds.total(), 'cell')}:"
    if better and not worse and mean > 1:
        return f"{version} is faster than {base} in {better} {of}"
    if worse and not better and mean < 1:
        return f"{version} is slower than {base} in {worse} {of}"
    if better or worse:
        return f"{version} is faster than {base} in {better} and slower in {worse} {of}"
    return f"{version} is the same as {base} in {same} {of}" if same else None
