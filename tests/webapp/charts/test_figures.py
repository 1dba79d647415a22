"""Figures: Plotly's own validator reads them, and they say what the values say."""

from __future__ import annotations

import json
import math
import re
from typing import Any

import pytest
from django.utils import translation
from plotly import graph_objects

from results.domain.measurement.histogram import HeatMap, Histogram
from results.domain.measurement.parsed_trial import Latencies
from results.domain.measurement.series import Series
from webapp.charts.lines import MOST_POINTS, thin
from webapp.charts.medians import Line, Marker, Replicate, medians_figure
from webapp.charts.run import x_factor
from webapp.charts.style import dates, key, with_unit
from webapp.charts.trial import timeline
from webapp.language import within_a_line


def validated(figure: dict[str, Any]) -> graph_objects.Figure:
    """The figure as Plotly reads it, with any colour in the place of the theme's."""
    text = re.sub(r'"var\(--[\w-]+\)( \d+%)?"', '"#123456"', json.dumps(figure, allow_nan=False))
    return graph_objects.Figure(json.loads(text))


def lines() -> list[Line]:
    markers = tuple(
        Marker(i, 100.0 * (i + 1), (Replicate(90.0 * (i + 1), 7, 1), Replicate(110.0 * (i + 1), 8, 2)))
        for i in range(3)
    )
    return [Line("16 <b>", 0, markers), Line("18", 1, markers)]


def medians(xs: list[str]) -> dict[str, Any]:
    return medians_figure(
        xs, lines(), x_dimension="clients", unit="tps", y_title="tps", trial_url=lambda pk: f"/trials/{pk}/"
    )


def test_every_replicate_is_drawn_and_leads_to_its_trial() -> None:
    figure = medians(["1", "4", "16"])
    validated(figure)
    traces = [trace for trace in figure["data"] if "customdata" in trace]
    assert [len(trace["y"]) for trace in traces] == [6, 6]
    assert traces[0]["customdata"][:2] == ["/trials/7/", "/trials/8/"]


def test_an_outlier_is_marked_and_the_others_look_as_they_do_without_one() -> None:
    def dots(last: Replicate) -> list[dict[str, Any]]:
        markers = (Marker(0, 100.0, (Replicate(99.0, 7, 1), Replicate(100.0, 8, 2), last)),)
        figure = medians_figure(
            ["1"], [Line("16", 0, markers)], x_dimension="clients", unit="tps", y_title="tps", trial_url=lambda pk: pk
        )
        validated(figure)
        return [trace for trace in figure["data"] if "customdata" in trace]

    (alike,) = dots(Replicate(101.0, 9, 3))
    others, outlier = dots(Replicate(300.0, 9, 3, outlier=True))
    assert others["marker"] == alike["marker"]
    assert (others["customdata"], outlier["customdata"]) == ([7, 8], [9])
    assert outlier["marker"]["symbol"] == "circle-open-dot"
    assert outlier["text"] == ["3, an outlier"]


def test_medians_are_joined_where_levels_are_numbers_and_not_where_they_are_names() -> None:
    modes = [trace["mode"] for trace in medians(["1", "4", "16"])["data"] if trace.get("hoverinfo") == "skip"]
    assert "lines+markers" in modes
    named = medians(["select-only", "tpcb-like", "mixed"])
    assert all("lines" not in trace["mode"] for trace in named["data"])
    assert named["layout"]["xaxis"]["ticktext"] == ["select-only", "tpcb-like", "mixed"]


def test_no_line_or_band_crosses_a_level_that_has_no_value() -> None:
    measured = [marker for marker in lines()[0].markers if marker.x != 1]
    line = Line("16", 0, (*measured, Marker(3, 400.0, measured[0].replicates, 390.0, 410.0)), gaps=(1,))
    figure = medians_figure(
        ["1", "4", "16", "64"], [line], x_dimension="clients", unit="tps", y_title="tps", trial_url=lambda pk: pk
    )
    validated(figure)
    band, joined, _ = figure["data"]
    assert (joined["x"], joined["y"]) == ([1.0, None, 16.0, 64.0], [100.0, None, 300.0, 400.0])
    assert joined["error_y"]["array"] == [0.0, None, 0.0, 10.0]
    assert band["x"] == [1.0, 1.0, None, 16.0, 64.0, 64.0, 16.0]
    assert band["y"] == [110.0, 90.0, None, 330.0, 110.0, 90.0, 270.0]
    names = medians_figure(
        ["a", "b", "c", "d"], [line], x_dimension="script", unit="tps", y_title="tps", trial_url=lambda pk: pk
    )
    assert names["data"][0]["x"] == [0.0, 2.0, 3.0]


def test_wide_levels_get_a_logarithmic_axis() -> None:
    assert medians(["1", "4", "16"])["layout"]["xaxis"]["type"] == "log"
    assert medians(["1", "2", "3"])["layout"]["xaxis"]["type"] == "linear"


@pytest.mark.parametrize(
    ("label", "unit", "expected"),
    [("p99 latency", "ms", "p99 latency (ms)"), ("tps", "tps", "tps"), ("Rows", "", "Rows")],
)
def test_an_axis_has_its_unit_once(label: str, unit: str, expected: str) -> None:
    assert with_unit(label, unit) == expected


def test_dates_of_an_axis_are_written_in_figures_but_in_english() -> None:
    assert dates() == {}
    with translation.override("ja"):
        figure = {"data": [], "layout": {"xaxis": {"type": "date"} | dates()}}
    validated(figure)
    assert not re.search("%[abAB]", json.dumps(figure)) and "%m-%d" in json.dumps(figure)


@pytest.mark.parametrize(
    ("label", "expected"),
    [("Transactions per second", "transactions per second"), ("WAL written", "WAL written"), ("UPDATE", "UPDATE")],
)
def test_a_label_within_a_line_keeps_the_capitals_of_names(label: str, expected: str) -> None:
    assert within_a_line(label) == expected
    with translation.override("ja"):
        assert within_a_line(label) == label


def test_a_name_never_becomes_markup() -> None:
    assert medians(["1", "2", "3"])["data"][1]["name"] == "16 &lt;b&gt;"


def test_series_are_told_apart_by_mark_as_well_as_colour() -> None:
    marks = [trace["marker"]["symbol"] for trace in medians(["1", "2", "3"])["data"] if "customdata" in trace]
    assert len(set(marks)) == 2


def a_timeline(seconds: int = 10) -> dict[str, Any]:
    values = tuple(math.nan if i == 3 else 100.0 + i for i in range(seconds))
    cpu = [
        Series(name, node, "%", 0, 1, values) for node in ("primary", "client") for name in ("cpu.user", "cpu.system")
    ]
    latencies = Latencies("client", "", Histogram((500,), (5,)), HeatMap((0, 0, 9), (35, 36, 40), (1, 100, 4)))
    events = [{"at_s": 2.5, "kind": "checkpoint", "node": "primary", "text": "starting"}]
    figure = timeline(
        [Series("tps", "client", "tps", 1, 1, values), *cpu], [latencies], events, 10.0, {"primary": "db1"}
    )
    assert figure is not None
    return figure


def test_all_rows_of_a_trial_share_one_time_axis() -> None:
    figure = a_timeline()
    validated(figure)
    assert {trace.get("xaxis", "x") for trace in figure["data"]} == {"x"}
    assert len({trace["yaxis"] for trace in figure["data"]}) == 4  # rate, latency, two nodes
    assert figure["layout"]["xaxis"]["range"] == [0, 10.0]


def test_cpu_is_stacked_for_each_node_apart() -> None:
    groups = [trace["stackgroup"] for trace in a_timeline()["data"] if "stackgroup" in trace]
    assert groups == ["client", "client", "primary", "primary"]


def test_a_gap_stays_a_gap() -> None:
    rate = a_timeline()["data"][0]
    assert rate["y"][3] is None


def test_the_heat_map_keeps_rare_transactions_and_says_how_many() -> None:
    heat = next(trace for trace in a_timeline()["data"] if trace["type"] == "heatmap")
    assert heat["customdata"][0][0] == 1
    assert heat["customdata"][1][0] == 100
    assert heat["z"][5][9] > 0


def test_events_are_marked() -> None:
    shapes = a_timeline()["layout"]["shapes"]
    assert [shape["x0"] for shape in shapes] == [2.5]


def test_nothing_to_draw_is_no_figure() -> None:
    assert timeline([], [], [], None) is None


def test_a_long_trial_is_thinned_to_means() -> None:
    times, values = thin([float(i) for i in range(6000)], [1.0, 3.0] * 3000)
    assert len(times) == len(values) <= MOST_POINTS
    assert set(values) == {2.0}


@pytest.mark.parametrize(
    ("levels", "expected"),
    [
        ({"installation": ["16", "18"], "clients": ["1", "4", "16"]}, "clients"),
        ({"installation": ["16", "18"], "script": ["select-only", "tpcb-like"]}, "script"),
        ({"installation": ["16", "18"]}, "installation"),
        ({}, ""),
    ],
)
def test_the_x_axis_is_the_factor_with_most_numbers(levels: dict[str, list[str]], expected: str) -> None:
    assert x_factor(levels) == expected


@pytest.mark.parametrize("dimension", ["version", "major", "installation"])
def test_versions_are_names_even_where_they_look_like_numbers(dimension: str) -> None:
    figure = medians_figure(
        ["16.9", "16.10", "17.1"], lines(), x_dimension=dimension, unit="tps", y_title="tps", trial_url=str
    )
    assert figure["layout"]["xaxis"]["ticktext"] == ["16.9", "16.10", "17.1"]
    assert figure["layout"]["xaxis"]["tickvals"] == [0, 1, 2]
    assert all("lines" not in trace["mode"] for trace in figure["data"])


def test_past_the_palette_the_key_begins_anew() -> None:
    indices = [index for index, _, _ in key([str(number) for number in range(10)])]
    assert indices == [0, 1, 2, 3, 4, 5, 6, 7, 0, 1]
