"""Figures of the ready views."""

from __future__ import annotations

from tests.webapp.charts.test_figures import validated
from webapp.charts.presets import Dot, ratios_figure

LONG = "q2.1 · clients 5 · jit off · max_parallel_workers "


def test_long_names_of_rows_are_whole_and_told_apart() -> None:
    rows = [(LONG + workers, [Dot(0, 1.1, "", "/")]) for workers in ("9", "100", "<b>")]
    figure = ratios_figure(rows, ["12"], "speed")
    validated(figure)
    texts = figure["layout"]["yaxis"]["ticktext"]
    assert [text.replace("<br>", " ") for text in texts] == [LONG + workers for workers in ("9", "100", "&lt;b&gt;")]
    assert max(len(line) for text in texts for line in text.split("<br>")) <= 30
    short = ratios_figure([("q1.1", [Dot(0, 1.1, "", "/")])] * 3, ["12"], "speed")
    assert figure["layout"]["height"] > short["layout"]["height"]
