"""Steps, queries and operations: stacked in their order, and in rows with their whole names."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from results import models
from results.domain.statistics.verdict import Kind
from results.queries.comparison.compare import Comparison, compare
from results.queries.presets.access_method_summary import summary
from results.queries.presets.access_methods import access_methods
from results.queries.runs.steps import Step
from results.queries.runs.steps import Steps as Measured
from results.queries.shared.selection import Selection
from tests.step_runs import access_method_run, bulk_load_run, ssb_run
from tests.webapp.charts.test_figures import validated
from webapp.charts.comparison import comparison_figures, stacked_steps
from webapp.charts.rows import as_rows, left_px, row_px, wrapped
from webapp.charts.steps import Steps, steps_of_trial
from webapp.urlstate import View

pytestmark = pytest.mark.django_db
STEPS = ["copy", "primary keys", "foreign keys", "vacuum", "analyze"]


def bars(figure: dict[str, Any]) -> list[dict[str, Any]]:
    return [trace for trace in figure["data"] if trace["type"] == "bar"]


def stack(comparison: Comparison) -> Steps:
    steps = stacked_steps(comparison, View())
    assert steps is not None
    validated(steps.figure)
    return steps


def test_the_steps_of_a_load_are_stacked_in_their_order_a_bar_a_configuration() -> None:
    comparison = compare(Selection((bulk_load_run().pk,), series="installation,wal"))
    steps = stack(comparison)
    figure = steps.figure
    assert [name for _, name in steps.key] == STEPS
    assert [bar["name"] for bar in bars(figure)] == STEPS
    assert figure["layout"]["yaxis"]["ticktext"] == [wrapped(series) for series in comparison.series]
    by_key = {point.key: point for point in comparison.points}
    for bar, step in zip(bars(figure), STEPS, strict=True):
        assert bar["x"] == [
            pytest.approx(1e3 * by_key["", step, series].value, rel=1e-4) for series in comparison.series
        ]
    totals = [note["text"] for note in figure["layout"]["annotations"]]
    assert len(totals) == len(comparison.series) == 4


def test_the_queries_of_a_pass_are_stacked_a_colour_a_flight() -> None:
    steps = stack(compare(Selection((ssb_run().pk,))))
    assert len(bars(steps.figure)) == 13
    assert [name for _, name in steps.key] == ["q1", "q2", "q3", "q4"]
    assert len({bar["marker"]["color"] for bar in bars(steps.figure)}) == 4


def test_a_load_that_is_compared_step_by_step_is_stacked() -> None:
    steps = stack(compare(Selection((ssb_run().pk,), metric="ssb.load.seconds", x="label")))
    assert [name for _, name in steps.key] == ["dimensions", "lineorder", "primary keys", "analyze"]


def test_each_step_of_a_trial_has_a_row_and_begins_where_the_one_before_it_ended() -> None:
    load = Measured("Loading", "s", "step", "", (Step("copy", 8.0), Step("<keys>", 3.0), Step("analyze", 1.0)), 12.5)
    figure = steps_of_trial(load)
    validated(figure)
    (bar,) = bars(figure)
    assert (bar["base"], bar["x"]) == ([0.0, 8.0, 11.0], [8.0, 3.0, 1.0])
    layout = figure["layout"]
    assert layout["yaxis"]["ticktext"] == ["copy", "&lt;keys&gt;", "analyze", "<b>total</b>"]
    assert (layout["yaxis"]["title"]["text"], layout["xaxis"]["title"]["text"]) == ("step", "Loading (s)")
    assert [note["text"] for note in layout["annotations"]] == ["8 s", "3 s", "1 s", "<b>12.50 s</b>"]
    more = steps_of_trial(replace(load, parts=load.parts * 3))
    assert more["layout"]["height"] - layout["height"] == 6 * row_px(["copy"], 1)


def test_what_does_not_add_up_is_not_stacked() -> None:
    run = bulk_load_run()
    assert stacked_steps(compare(Selection((run.pk,), metric="bulk.wal", x="label")), View()) is None
    assert stacked_steps(compare(Selection((run.pk,))), View(view="ratio")) is None
    assert stacked_steps(compare(Selection((access_method_run().pk,))), View()) is None


@pytest.mark.parametrize("view", ["", "ratio"])
def test_labels_stand_whole_in_rows_and_the_plot_is_as_high_as_they_need(view: str) -> None:
    comparison = compare(Selection((bulk_load_run().pk,)))
    (panel,) = comparison_figures(comparison, View(view=view), "/trials/{}/")
    validated(panel.figure)
    layout = panel.figure["layout"]
    assert [name.replace("<br>", " ") for name in layout["yaxis"]["ticktext"]] == list(comparison.xs)
    assert layout["margin"]["l"] >= 7 * len("primary keys: order_line")
    assert layout["height"] == 60 + len(comparison.xs) * 36
    drawn = [trace for trace in panel.figure["data"] if "customdata" in trace]
    assert sum(len(trace["x"]) for trace in drawn) == sum(
        point.n for point in comparison.points if view == "" or point.verdict
    )
    assert {round(at) for trace in drawn for at in trace["y"]} == set(range(len(comparison.xs)))


def test_a_long_name_is_wrapped_and_none_of_it_left_out() -> None:
    name = "9 UPDATE pgbench_accounts SET abalance = abalance + :delta WHERE aid = :aid;"
    assert wrapped(name).replace("<br>", " ") == name
    assert left_px([wrapped(name)]) < 220
    empty = as_rows({"data": [], "layout": {"yaxis": {}, "xaxis": {}}}, [name, "short"], 1)
    assert empty["layout"]["height"] == 60 + 2 * (8 + 15 * wrapped(name).count("<br>") + 15)


def test_labels_of_digits_are_names_and_stand_in_rows() -> None:
    run = ssb_run()
    for attempt in models.Attempt.objects.filter(trial__run=run):
        for workers, share in (("0", 0.25), ("2", 0.75)):
            models.Measurement.objects.create(
                run=run, attempt=attempt, metric_id="ssb.explained.share", label=workers, value=share
            )
    comparison = compare(Selection((run.pk,), metric="ssb.explained.share", x="label"))
    assert comparison.xs == ("0", "2")
    for view in ("", "ratio"):
        [panel] = comparison_figures(comparison, View(view=view), "")
        validated(panel.figure)
        marks = {round(y) for trace in panel.figure["data"] for y in trace["y"]}
        assert marks == {0, 1}


@pytest.mark.parametrize(("filters", "without"), [({"label": ("total",)}, ()), ({"label": ("copy",)}, ("copy",))])
def test_a_load_of_which_no_step_is_left_has_no_stack(
    filters: dict[str, tuple[str, ...]], without: tuple[str, ...]
) -> None:
    chosen = Selection((bulk_load_run().pk,), filters, x="label", series="installation,wal", without=without)
    assert stacked_steps(compare(chosen), View()) is None


def test_a_ratio_that_is_withheld_is_in_no_range_of_an_access_method() -> None:
    access_method_run()
    cells = [cell for row in summary(access_methods()).rows for cell in row.cells if cell and len(cell.compared) > 1]
    cell = cells[0]
    first, *others = cell.compared
    assert first.verdict
    withheld = replace(first, ratio=99.0, verdict=replace(first.verdict, kind=Kind.NOT_COMPARABLE))
    mixed = replace(cell, points=(withheld, *others))
    assert mixed.reach and mixed.reach[1] < 99
    assert mixed.kinds[Kind.NOT_COMPARABLE] == 1
