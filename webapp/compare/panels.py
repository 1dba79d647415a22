"""A comparison's figures as the pages show them."""

from __future__ import annotations

from dataclasses import replace

from results.queries.comparison.compare import Comparison
from webapp.charts.comparison import Panel, comparison_figures
from webapp.compare import words
from webapp.links import trial_url
from webapp.urlstate import View


def comparison_panels(comparison: Comparison, view: View) -> list[Panel]:
    """Return one figure a panel, with its title in words; none where nothing was measured."""
    figures = comparison_figures(comparison, view, trial_url(0).replace("0", "{}")) if comparison.points else []
    return [replace(panel, title=words.panel_name(comparison, panel.title)) for panel in figures]
