"""A comparison's figures as the pages show them."""

from __future__ import annotations

from dataclasses import replace

from results.queries.comparison import Comparison
from webapp.charts.comparison import Panel, comparison_figures
from webapp.explorer import words
from webapp.pages.common import trial_url
from webapp.urlstate import View


def drawn(found: Comparison, view: View) -> list[Panel]:
    """One a panel, with its title in words; none where nothing was measured."""
    figures = comparison_figures(found, view, trial_url(0).replace("0", "{}")) if found.points else []
    return [replace(panel, title=words.panel_name(found, panel.title)) for panel in figures]
