"""A comparison's figures as the pages show them."""

from __future__ import annotations

from dataclasses import replace

from results.queries.comparison.compare import Comparison
from webapp.charts.against import against_figure, latency_beside
from webapp.charts.comparison import AGAINST, MOST_PANELS, Panel, comparison_figures, possible_views
from webapp.compare import words
from webapp.computed import compared
from webapp.links import trial_url
from webapp.urlstate import View


def comparison_panels(comparison: Comparison, view: View) -> list[Panel]:
    """Return one figure a panel, with its title in words; none where nothing was measured. A view that is of another
    metric as well compares that."""
    link = trial_url(0).replace("0", "{}")
    if not comparison.points:
        figures = []
    elif view.view == AGAINST and AGAINST in possible_views(comparison):
        figures = _against(comparison, link)
    else:
        figures = comparison_figures(comparison, view, link)
    return [replace(panel, title=words.panel_name(comparison, panel.title)) for panel in figures]


def _against(comparison: Comparison, link: str) -> list[Panel]:
    """Return throughput against latency, of the same trials."""
    latency = compared(replace(comparison.selection, metric=latency_beside(comparison), node=""))
    return [
        Panel(f"figure-{number}", panel, against_figure(comparison, latency, panel, link))
        for number, panel in enumerate(comparison.panels[:MOST_PANELS], 1)
    ]
