"""Figures of two configurations: Plotly's own validator reads them, and they say what the values say."""

from __future__ import annotations

import math
from typing import Any

import pytest

from results.domain.measurement.histogram import Histogram
from results.domain.measurement.metrics import Better, Metric
from results.domain.measurement.series import Series
from results.domain.statistics.metric_changes import MeasuredTrial
from results.queries.comparison.compare import Point
from results.queries.why.why import Attempt, Side
from tests.quantities import changes
from tests.webapp.charts.test_figures import validated
from webapp.charts import why as charts
from webapp.charts.why import Look

METRICS = {name: Metric(name, "B", Better.LOWER, name) for name in ("wal.bytes", "transactions")}


def a_look(name: str, index: int, trials: int = 3, **values: float) -> Look:
    """Trial t of `trials` has 100 + t tps in each of three seconds;

    values: label of a wait or 'cpu.user' → value."""
    value_of = {("waits", "primary", label): value for label, value in values.items() if not label.startswith("cpu")}
    value_of |= {(label, "primary", ""): value for label, value in values.items() if label.startswith("cpu")}
    attempts = tuple(Attempt(t, 1, t, 1, t, 1, (), (), False, False) for t in range(trials))
    side = Side(
        point=Point(
            x="", series=name, panel="", value=1, median=1, mean=1, minimum=1, maximum=1, values=(), configurations=1
        ),
        attempts=attempts,
        replicates=tuple(
            MeasuredTrial(t, (1, t), 3.0, {}, value_of | {("wal.bytes", "primary", ""): 5.0 + t}) for t in range(trials)
        ),
        series=tuple(
            (one, (Series("tps", "client", "tps", 1, 1, (100.0 + one.trial_id, math.nan, 100.0 + one.trial_id)),))
            for one in attempts
        ),
        latencies=Histogram((100, 1000, 10_000), (900, 90, 10)),
        with_latencies=(0,),
        settings={},
        plans={},
    )
    return Look(name, index, side)


def two(**values: float) -> list[Look]:
    return [a_look("16 <b>", 0, **values), a_look("18", 1, **values)]


def test_every_replicate_is_a_thin_line_and_the_median_a_thick_one() -> None:
    figure = charts.over_time(two())
    assert figure is not None
    validated(figure)
    widths = [trace["line"]["width"] for trace in figure["data"]]
    assert widths == [1, 1, 1, 2.4] * 2
    middle = figure["data"][3]
    assert (middle["x"], middle["y"]) == ([1, 3], [101.0, 101.0])
    assert middle["name"] == "16 &lt;b&gt;, median"


def test_of_many_replicates_the_first_are_drawn_and_all_count() -> None:
    figure = charts.over_time([a_look("16", 0, trials=21)])
    assert figure is not None
    assert len(figure["data"]) == charts.MOST_REPLICATES + 1
    assert figure["data"][-1]["y"] == [110.0, 110.0]


def test_a_long_trial_is_drawn_in_means_of_several_seconds() -> None:
    look = a_look("16", 0, trials=1)
    ((attempt, _),) = look.side.series
    series = Series("tps", "client", "tps", 1, 1, tuple(float(second % 2) for second in range(3000)))
    long = Look("16", 0, Side(**vars(look.side) | {"series": ((attempt, (series,)),)}))
    figure = charts.over_time([long])
    assert figure is not None
    assert charts.width_s([long]) == 10
    assert len(figure["data"][0]["x"]) <= charts.MOST_POINTS + 1
    assert figure["data"][0]["y"][5] == pytest.approx(0.5, abs=0.1)


def test_shares_of_latencies_sum_to_all_and_percentiles_are_marked() -> None:
    figure = charts.density(two())
    assert figure is not None
    validated(figure)
    shape, marks = figure["data"][:2]
    assert math.fsum(shape["y"]) == pytest.approx(100)
    assert marks["x"] == [0.1, 0.1, 1.0, 10.0]
    assert marks["text"][2] == "99 % within <b>1 ms</b>"


def test_the_tail_is_the_exact_percentile_at_every_place() -> None:
    figure = charts.tail(two())
    assert figure is not None
    validated(figure)
    trace = figure["data"][0]
    latencies = Histogram((100, 1000, 10_000), (900, 90, 10))
    assert trace["y"][-1] == 10.0
    for beyond, latency in zip(trace["x"], trace["y"], strict=True):
        percent = 100 * (1000 - 1000 / beyond + 1) / 1000
        assert latencies.percentile_us(round(percent, 6)) == latency * 1e3
    assert figure["layout"]["xaxis"]["ticktext"] == ["0", "90", "99", "99.9"]


def test_processors_and_waits_are_bars_beside_each_other() -> None:
    looks = two(**{"cpu.user": 40.0, "cpu.busy": 40.0, "CPU: running": 3.0, "Lock: tuple": 1.0})
    processors, waiting = charts.processors(looks), charts.waiting(looks)
    assert processors is not None and waiting is not None
    validated(processors)
    validated(waiting)
    assert [(trace["name"], trace["x"]) for trace in processors["data"]] == [("user", [40.0])] * 2
    shares = {trace["name"]: trace["x"][0] for trace in waiting["data"]}
    assert shares == {"CPU: running": 75.0, "Lock: tuple": 25.0, "others": 0.0}
    assert [event for _, _, event in charts.waits_key(looks)] == ["CPU: running", "Lock: tuple", "others"]


def test_costs_are_bars_with_a_dot_for_every_trial_that_leads_there() -> None:
    looks = two()
    measured = changes(looks[0].side.replicates, looks[1].side.replicates, METRICS)
    figure = charts.costs([one for one in measured if one.name == "wal"], looks, lambda trial: f"/trials/{trial}/")
    assert figure is not None
    validated(figure)
    bar, dots = figure["data"][:2]
    assert (bar["x"], dots["x"]) == ([6.0], [5.0, 6.0, 7.0])
    assert dots["customdata"] == ["/trials/0/", "/trials/1/", "/trials/2/"]


def test_nothing_to_draw_is_no_figure() -> None:
    side = a_look("16", 0).side
    empty: dict[str, Any] = vars(side) | {"series": (), "latencies": None, "replicates": ()}
    looks = [Look("16", 0, Side(**empty))]
    figures = (charts.over_time, charts.density, charts.tail, charts.processors, charts.waiting)
    assert [draw(looks) for draw in figures] == [None] * 5
    assert charts.costs([], looks, str) is None
    assert charts.waits_key(looks) == []
