"""The comparison's page: what can be chosen, what is wrong with a choice, and what is drawn of it."""

from __future__ import annotations

import re

import pytest
from django.test import Client

from results import models
from results.queries.comparison.compare import compare
from tests import factories
from tests.page_text import page_text
from tests.webapp.pages.test_comparison import figures_of, text_of
from webapp import urlstate
from webapp.metric_names import position


def test_an_interval_much_wider_than_the_values_does_not_hide_them(db: None, stranger: Client) -> None:
    run = factories.run(replicates=3, factors={"installation": ["16", "18"], "clients": [1]})
    for trial in run.trials.select_related("configuration"):
        newer = trial.configuration.dimensions["major"] == "18"
        factories.finish(trial, 1000 * ((0.2, 1.0, 2.0)[trial.block - 1] if newer else 1.0))
    query = f"run={run.pk}"
    verdict = next(p.verdict for p in compare(urlstate.read(query)).points if p.verdict)
    (figure,) = figures_of(text_of(stranger, f"/compare/?{query}&view=ratio"))
    low, high = figure["layout"]["yaxis"]["range"]
    assert verdict.high and 2.0 < high < 10 < verdict.high
    assert 0 <= low < 0.2


def test_panels_of_numbers_say_of_what(done: models.Run, stranger: Client) -> None:
    text = text_of(stranger, f"/compare/?run={done.pk}&series=none&x=installation&panel=clients")
    assert "<h3>clients 1</h3>" in text and "<h3>clients 4</h3>" in text
    named = text_of(stranger, f"/compare/?run={done.pk}&series=none&panel=installation")
    assert "<h3>postgresql-16.9</h3>" in named


def test_a_run_that_is_not_there_is_named(done: models.Run, stranger: Client) -> None:
    alone = text_of(stranger, f"/compare/?run={factories.NO_ID}")
    assert (
        f"There is no run with the number {factories.NO_ID}." in alone
        and "<h1>Compare " in alone
        and "Choose other runs" in alone
    )
    beside = text_of(stranger, f"/compare/?run={done.pk},{factories.NO_ID}")
    assert f"There is no run with the number {factories.NO_ID}." in beside and "×1.125" in beside
    assert "There is no run" not in text_of(stranger, f"/compare/?run={done.pk}")


def test_a_wrong_choice_leads_back_to_its_runs(done: models.Run, stranger: Client) -> None:
    answer = stranger.get(f"/compare/?run={done.pk}&metric=nothing")
    assert answer.status_code == 400
    assert f'href="/compare/?run={done.pk}">Start again with these runs</a>' in page_text(answer)
    assert "Start again" not in page_text(stranger.get("/compare/?run=x"))


def queries_of(run: models.Run) -> None:
    """Of every trial a time of each of three queries."""
    models.Metric.objects.create(
        name="query.time", unit="s", better="lower", label="Time of a query", minimum_effect=0.02
    )
    for trial in run.trials.all():
        models.Measurement.objects.bulk_create(
            models.Measurement(run=run, attempt=trial.attempt, metric_id="query.time", node="", label=name, value=value)
            for value, name in enumerate(("q1.1", "q1.2", "q2.1"), start=1)
        )


def test_labels_that_tell_cells_apart_have_chips(done: models.Run, stranger: Client) -> None:
    queries_of(done)
    path = f"/compare/?run={done.pk}&x=label&metric=query.time&filter.clients=4"
    text = text_of(stranger, path)
    chips = re.findall(r'<label class="chip"[^>]*><input[^>]*name="filter.label" value="([^"]*)"[^>]*>\1</label>', text)
    assert chips == ["q1.1", "q1.2", "q2.1"]
    assert 'name="label"' not in text
    assert text_of(stranger, path + "&filter.label=q1.1,q2.1").count("<tr data-x=") == 2
    other = text_of(stranger, f"/compare/?run={done.pk}&metric=query.time")
    assert 'name="filter.label"' not in other and '<select name="label"' in other


@pytest.mark.parametrize(("noun", "called"), [("query", "query"), ("", "part")])
def test_the_labels_of_a_metric_are_offered_by_what_they_are(
    done: models.Run, stranger: Client, noun: str, called: str
) -> None:
    queries_of(done)
    models.Metric.objects.filter(name="query.time").update(label_noun=noun)
    text = text_of(stranger, f"/compare/?run={done.pk}&x=label&metric=query.time&filter.clients=4")
    for name in ("x", "series", "panel"):
        options = text[text.index(f'<select name="{name}"') :].split("</select>")[0]
        assert re.search(rf'<option value="label"[^>]*>\s*{called}\s*</option>', options), name
    assert f"<legend>{called}" in text


def test_only_rows_that_the_mean_can_count_are_ticked(done: models.Run, stranger: Client) -> None:
    queries_of(done)
    models.Measurement.objects.filter(label="q2.1").update(label="q1.1: first scan")
    text = text_of(stranger, f"/compare/?run={done.pk}&x=label&metric=query.time&filter.clients=4")
    boxes = re.findall(r'<input type="checkbox" data-count="([^"]*)"[^>]*?( checked| disabled)\s*>', text)
    assert boxes == [("q1.1", " checked"), ("q1.2", " checked"), ("q1.1: first scan", " disabled")]


def test_several_labels_are_let_go_with_the_axis_that_told_them_apart(done: models.Run, stranger: Client) -> None:
    queries_of(done)
    was = "was.x=label&was.series=installation&was.panel=&was.metric="
    query = f"run={done.pk}&series=installation&filter.label=q1.1&filter.label=q2.1&"
    for changed in ("x=clients&metric=query.time&" + was + "query.time", "x=label&metric=tps&" + was + "query.time"):
        answer = stranger.get(f"/compare/?{query}{changed}", headers={"HX-Request": "true"})
        assert answer.status_code == 200
        assert "filter.label" not in answer["HX-Push-Url"]
    kept = stranger.get(f"/compare/?{query}x=label&metric=query.time&{was}query.time", headers={"HX-Request": "true"})
    assert kept["HX-Push-Url"].endswith("filter.label=q1.1,q2.1")


def test_metrics_are_offered_by_what_people_call_them_and_say_by_what_they_are_found(
    done: models.Run, stranger: Client
) -> None:
    text = text_of(stranger, f"/compare/?run={done.pk}")
    assert '<input type="search" data-finds="metric"' in " ".join(text.split())
    select = text.partition('<select name="metric"')[2].partition("</select>")[0]
    names = re.findall(r'<option value="([^"]+)" data-words="', select)
    assert names == [names[0], *sorted(names[1:], key=position)]
    assert names[0] == "tps" and len(names) > 1


def test_each_panel_has_its_own_scale_unless_one_is_asked_for(done: models.Run, stranger: Client) -> None:
    path = f"/compare/?run={done.pk}&series=none&x=installation&panel=clients"
    own, shared = (text_of(stranger, path + scale) for scale in ("", "&scale=shared"))
    highest = [[figure["layout"]["yaxis"]["range"][1] for figure in figures_of(text)] for text in (own, shared)]
    assert highest[0][0] < highest[0][1] / 3
    assert highest[1][0] == highest[1][1] == highest[0][1]
    assert "Each panel has a scale of its own" in own and "All panels have one scale." in shared
    assert "scale=shared" in own[own.index('id="view-one-scale"') - 200 :]
    assert 'id="view-one-scale"' not in text_of(stranger, f"/compare/?run={done.pk}")


def test_what_only_tells_whole_runs_apart_is_told_as_a_difference_and_is_no_chip(db: None, stranger: Client) -> None:
    plain = factories.finished_run(seed=1)
    other = factories.finished_run(seed=2, settings={"work_mem": "64MB"}, parameters={"scale": 5})
    runs = f"run={plain.pk},{other.pk}"
    text = text_of(stranger, f"/compare/?{runs}&series=run&filter.installation=postgresql-16.9")
    assert f"<b>work_mem</b>: default in run {plain.pk}, 64MB in run {other.pk}</li>" in text
    assert "1 more difference between the runs" in text
    assert 'name="filter.setting.work_mem"' not in text
    chips = text_of(stranger, f"/compare/?{runs}&series=setting.work_mem&filter.installation=postgresql-16.9")
    assert 'name="filter.setting.work_mem"' in chips and "between the runs" not in chips


def test_a_filter_by_what_is_not_set_is_not_in_the_heading(db: None, stranger: Client) -> None:
    run = factories.finished_run()
    path = f"/compare/?run={run.pk}&series=none&x=installation&filter.clients=1&filter.initdb=default"
    heading = text_of(stranger, path).partition("</h1>")[0].partition("<h1>")[2]
    assert "clients 1" in heading and "initdb" not in heading


def test_runs_of_other_plans_are_told_apart_by_the_run_not_by_twenty_settings(db: None, stranger: Client) -> None:
    settings = dict.fromkeys(("work_mem", "maintenance_work_mem", "temp_buffers", "shared_buffers"), "64MB")
    plain, again, other = (
        factories.finished_run(seed=seed, settings=own) for seed, own in enumerate(({}, {}, settings))
    )
    text = text_of(stranger, f"/compare/?run={plain.pk},{again.pk},{other.pk}")
    warning = text[text.index("Some cells mix different configurations") :].partition("</div>")[0]
    assert f"only runs {plain.pk} and {again.pk}" in warning and f"only run {other.pk}" in warning
    assert "work_mem" not in warning and 'name="filter.setting.work_mem"' not in text
    assert f"<b>work_mem</b>: default in runs {plain.pk} and {again.pk}, 64MB in run {other.pk}</li>" in text
    (query,) = re.findall(rf'href="/compare/\?([^"]+)">only runs {plain.pk} and {again.pk}<', warning)
    assert "mix different configurations" not in text_of(stranger, f"/compare/?{query.replace('&amp;', '&')}")


def test_a_run_of_which_the_filters_leave_nothing_is_no_way_out_of_a_mixture(db: None, stranger: Client) -> None:
    settings = dict.fromkeys(("work_mem", "maintenance_work_mem", "temp_buffers", "shared_buffers"), "64MB")
    plain, other = (factories.finished_run(seed=seed, settings=own) for seed, own in enumerate(({}, settings)))
    elsewhere = factories.finished_run(
        seed=2,
        settings=dict.fromkeys(settings, "32MB"),
        factors={"installation": ["16", "18"], "clients": [2]},
    )
    path = f"/compare/?run={plain.pk},{other.pk},{elsewhere.pk}"
    for query, is_offered in (("", True), ("&filter.clients=1", False)):
        text = text_of(stranger, path + query)
        warning = text[text.index("Some cells mix different configurations") :].partition("</div>")[0]
        assert f"only run {plain.pk}" in warning and f"only run {other.pk}" in warning
        assert (f"only run {elsewhere.pk}" in warning) is is_offered


def test_of_many_runs_the_first_are_named_and_the_others_counted(db: None, stranger: Client) -> None:
    runs = [factories.finished_run(seed=seed).pk for seed in range(5)]
    for page in ("compare/", "compare/why/", "compare/changes/"):
        text = text_of(stranger, f"/{page}?run={','.join(map(str, runs))}")
        crumbs = text[text.index('class="crumbs"') :].partition("</p>")[0]
        assert re.findall(r"/runs/(\d+)/", crumbs) == [str(run) for run in runs[:3]]
        assert "and 2 more" in " ".join(crumbs.split())
