"""What of a trial's time its page draws: the range and tracks of the address, and why a track is missing."""

from __future__ import annotations

import json
import re
from dataclasses import replace
from typing import Any

import pytest
from django.http import QueryDict
from django.test import Client
from django.utils import translation

from results import models
from results.domain.measurement.series import Series
from results.queries.runs.trials import SeriesHead
from tests import arrangements, factories
from tests.page_text import page_text
from tests.series_rows import add_series, change_series
from webapp.charts.trial import TimeView
from webapp.pages.trial_tracks import options, time_view

HEADS = [
    SeriesHead("tps", "client", "", "tps", 5),
    SeriesHead("latency.mean", "client", "", "us", 5),
    SeriesHead("cpu.user", "primary", "", "%", 5),
    SeriesHead("waits", "primary", "IO: WalSync", "1", 5),
    SeriesHead("disk.write", "primary", "vda", "B/s", 5),
]


def view(query: str) -> TimeView:
    return time_view(QueryDict(query), HEADS)


def figure_of(client: Client, path: str) -> dict[str, Any]:
    text = client.get(path).content.decode()
    match = re.search(r'<script id="timeline" type="application/json">(.*?)</script>', text)
    assert match is not None
    figure: dict[str, Any] = json.loads(match[1])
    return figure


def titles_of(figure: dict[str, Any]) -> list[str]:
    return [note["text"] for note in figure["layout"]["annotations"] if "hovertext" not in note]


@pytest.fixture
def trial(db: None) -> models.Trial:
    trial = factories.run().trials.select_related("configuration").order_by("position").first()
    assert trial is not None
    factories.finish(trial)
    return trial


def test_the_range_of_the_address_is_the_range_of_the_figure(trial: models.Trial, stranger: Client) -> None:
    assert figure_of(stranger, f"/trials/{trial.pk}/?from=1.5&to=3")["layout"]["xaxis"]["range"] == [1.5, 3.0]
    whole = figure_of(stranger, f"/trials/{trial.pk}/")["layout"]
    assert whole["xaxis"]["range"] == [0, whole["meta"]["duration_s"]]


@pytest.mark.parametrize("query", ["from=x", "from=3&to=1", "from=-1", "from=nan", "to=inf", "track=x", "together=x"])
def test_what_is_no_choice_is_as_if_it_were_not_there(query: str, trial: models.Trial, stranger: Client) -> None:
    assert figure_of(stranger, f"/trials/{trial.pk}/?{query}") == figure_of(stranger, f"/trials/{trial.pk}/")


def test_only_the_chosen_tracks_are_drawn(db: None, stranger: Client) -> None:
    trial = arrangements.arranged_run("streaming").trials.select_related("configuration").first()
    assert trial is not None
    arrangements.finish(trial)
    usual = titles_of(figure_of(stranger, f"/trials/{trial.pk}/"))
    assert len(usual) > 1
    chosen = figure_of(stranger, f"/trials/{trial.pk}/?track=cpu.busy@primary")
    assert titles_of(chosen) == ["cpu busy of primary, %"]


def test_two_tracks_in_one_panel_have_an_axis_each_over_one_time(db: None, stranger: Client) -> None:
    trial = arrangements.arranged_run("streaming").trials.select_related("configuration").first()
    assert trial is not None
    arrangements.finish(trial)
    path = f"/trials/{trial.pk}/?track=cpu.busy@primary&together=cpu.busy@primary&together=tps@client"
    figure = figure_of(stranger, path)
    *_, one, other = figure["data"]
    assert one["yaxis"] != other["yaxis"]
    layout = figure["layout"]
    second = layout["yaxis" + other["yaxis"].removeprefix("y")]
    assert (second["overlaying"], second["side"]) == (one["yaxis"], "right")
    assert one["line"]["color"] != other["line"]["color"]


def test_the_choice_costs_no_query(trial: models.Trial, stranger: Client, django_assert_max_num_queries: Any) -> None:
    with django_assert_max_num_queries(10):
        stranger.get(f"/trials/{trial.pk}/?track=tps&together=tps@client&from=1&to=2")


def test_every_series_is_offered_and_the_usual_are_ticked() -> None:
    listed = {option.key: option for option in options(HEADS, view(""))}
    assert [key for key, option in listed.items() if option.shown] == ["tps", "latency", "cpu@primary", "waits@primary"]
    assert listed["tps"].series == "tps@client"
    assert listed["disk.write@primary"].title == "disk write of primary, B/s"
    assert not listed["waits@primary"].series


def test_series_stand_by_what_they_are_called() -> None:
    heads = [SeriesHead(name, "db", "", "%", 5) for name in ("run_queue", "disk.write", "memory.used", "disk.read")]
    listed = {}
    for code in ("en", "ja"):
        with translation.override(code):
            listed[code] = [option.title for option in options(heads, view(""))]
    assert listed["en"] == ["disk read of db, %", "disk write of db, %", "memory used of db, %", "run queue of db, %"]
    assert listed["ja"] == [
        "dbのディスクの書き込み（%）",
        "dbのディスクの読み込み（%）",
        "dbの使用中のメモリ（%）",
        "dbの実行待ち行列（%）",
    ]


def test_at_most_four_share_a_panel() -> None:
    heads = [SeriesHead(f"memory.m{index}", "primary", "", "B", 5) for index in range(6)]
    query = "&".join(f"together=memory.m{index}@primary" for index in range(6))
    assert len(time_view(QueryDict(query), heads).together) == 4


def test_a_track_that_was_not_collected_says_why(trial: models.Trial, stranger: Client) -> None:
    models.SeriesGroup.objects.all().delete()
    models.Histogram.objects.all().delete()
    text = page_text(stranger.get(f"/trials/{trial.pk}/"))
    assert "Nothing over time to draw." in text
    assert "CPU: not collected: sar is not installed" in text
    assert 'id="timeline"' not in text


def test_a_trial_too_short_for_samples_says_so(trial: models.Trial, stranger: Client) -> None:
    models.SeriesGroup.objects.all().delete()
    models.Histogram.objects.all().delete()
    attempt = models.Attempt.objects.get(trial=trial)
    assert attempt.measured_from is not None
    attempt.measured_to = attempt.measured_from + (attempt.measured_to - attempt.measured_from) / 20
    attempt.gaps = []
    attempt.save()
    spec = trial.configuration.spec | {"collectors": ["sar", "pg_stat"]}
    models.Configuration.objects.filter(pk=trial.configuration_id).update(spec=spec)
    text = page_text(stranger.get(f"/trials/{trial.pk}/"))
    assert re.search(r"CPU: no samples: the measurement took 0\.\d s, and one is taken a second", text)


def test_a_track_of_one_sample_says_that_it_has_no_line(trial: models.Trial, stranger: Client) -> None:
    change_series(
        lambda one: [replace(one, values=one.values[:1], times_s=one.times_s[:1]) if one.name == "tps" else one]
    )
    assert "Too few samples for a line." in titles_of(figure_of(stranger, f"/trials/{trial.pk}/"))


def test_a_wait_event_stored_by_an_old_name_has_the_newest(trial: models.Trial, stranger: Client) -> None:
    attempt = models.Attempt.objects.get(trial=trial)
    metric, _ = models.Metric.objects.get_or_create(
        name="waits",
        defaults={"unit": "1", "better": "neither", "label": "Sessions", "minimum_effect": 0.0},
    )
    where = {"attempt": attempt, "run_id": trial.run_id, "node": "primary", "label": "IO: WALSync"}
    models.Measurement.objects.create(metric=metric, value=1.0, **where)
    add_series(attempt, Series("waits", "primary", "1", 0.0, 1.0, (1.0, 1.0, 1.0), "IO: WALSync"))
    text = page_text(stranger.get(f"/trials/{trial.pk}/"))
    assert "IO: WalSync" in text
    assert "WALSync" not in text
