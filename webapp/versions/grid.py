"""What the template of the table of versions takes. Pure but for the addresses."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any
from urllib.parse import urlencode

from django.urls import reverse
from django.utils.translation import gettext

from results.queries.presets.version_rows import VersionCell, VersionRow
from results.queries.presets.versions import METRICS, Versions
from webapp import urlstate
from webapp.chooser import Chip, Chips
from webapp.versions.words import ShownCell, sentence, shown_cell, shown_mean, subject


def grid(versions: Versions) -> dict[str, Any]:
    """Return the context of versions/_grid.html, and of the sentence above it."""
    return {
        "table": versions,
        "rows": _rows(versions),
        "means": [shown_mean(mean) for mean in versions.intervals],
        "sentence": sentence(versions),
        "subject": subject(versions),
    }


def carried(pairs: Iterable[tuple[str, str]]) -> str:
    """Return what the address of one workload takes along of a page's: '&metric=latency.p99&agent=db1'."""
    query = urlencode([(name, text) for name, text in pairs if text and name != "workload"])
    return f"&{query}" if query else ""


def metric_chips(chosen: str) -> Chips:
    names = {"": gettext("throughput or time"), **METRICS}
    chips = [Chip(name, name == chosen, text=label) for name, label in names.items()]
    return Chips("metric", gettext("metric"), tuple(chips), single=True)


def _rows(versions: Versions) -> list[tuple[VersionRow, list[tuple[ShownCell | None, str, str]]]]:
    """Return each row, and of each of its cells what is shown, the address of its comparison and that of Why, '' where
    it has none."""
    comparison, why = reverse("comparison"), reverse("why")
    rows = []
    for row in versions.rows:
        cells = []
        for cell in row.cells:
            shown = shown_cell(cell, row.base) if cell is not None else None
            cells.append((shown, _comparison_address(cell, comparison), _why_address(cell, row, why)))
        rows.append((row, cells))
    return rows


def _comparison_address(cell: VersionCell | None, comparison: str) -> str:
    """Return the address of what a cell compares.

    comparison: of the page."""
    return f"{comparison}?{urlstate.write(cell.selection)}" if cell is not None else ""


def _why_address(cell: VersionCell | None, row: VersionRow, why: str) -> str:
    """Return the address of why the version differs, at the configuration that differs most.

    why: of the page."""
    if cell is None or cell.version == row.base or not cell.cells or row.published:
        return ""
    place = urlencode({"at": cell.at, "of": cell.version})
    return f"{why}?{urlstate.write(cell.selection)}&{place}"
