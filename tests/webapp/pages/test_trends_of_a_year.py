"""The trends' page of a plan that ran every night of a year."""

from __future__ import annotations

import re
from dataclasses import replace
from html import unescape
from typing import Any

import pytest
from django.test import Client

from results import models
from results.queries.comparison.compare import compare
from results.queries.shared.configurations import configurations
from results.queries.trends.families import TrendSelection
from results.queries.trends.trends import trend
from tests import histories
from tests.webapp.pages.test_trends import figure_of, text_of
from webapp.pages.trends import shift_rows
from webapp.urlstate import read


@pytest.fixture(scope="module", autouse=True)
def year(kept: None) -> list[models.Run]:
    return histories.year(histories.nightly())


def test_it_draws_every_replicate_the_change_and_what_changed_around(year: list[models.Run], stranger: Client) -> None:
    text = text_of(stranger, "/trends/?plan=nightly")
    figure = figure_of(text)
    dots = figure["data"][0]
    trials = {f"/trials/{pk}/" for pk in models.Trial.objects.values_list("pk", flat=True)}
    assert set(dots["customdata"]) == trials
    assert [shape["line"]["color"] for shape in figure["layout"]["shapes"]] == ["var(--worse)"]
    marks = next(trace for trace in figure["data"] if trace.get("name") == "environment")
    assert len(marks["x"]) == 3
    assert "% lower since" in text
    assert f"run {year[29].pk}</a> and" in text
    assert "build: version 18.1 → 18.2" in text
    assert "kernel: release 6.1.0 → 6.8.0" in text
    last = year[29].trials.order_by("attempt__started_at").last()
    first = year[30].trials.order_by("attempt__started_at").last()
    assert last is not None and first is not None
    assert f"/diff/?left=trial:{last.pk}&amp;right=trial:{first.pk}" in text
    link = f"/compare/?run={year[29].pk},{year[30].pk}&x=workload&series=run&baseline={year[29].pk}&metric=tps"
    assert link in unescape(text)
    comparison = compare(read(link.partition("?")[2]))
    assert [(p.series, p.base) for p in comparison.points if p.verdict] == [
        (str(year[30].pk), ("", "pgbench", str(year[29].pk)))
    ]
    assert comparison.mixed == ()


def test_a_change_between_versions_leads_to_a_comparison_of_these(year: list[models.Run]) -> None:
    shown_trend = trend(TrendSelection(plan="nightly", x="date"))
    line = shown_trend.lines[0]
    shift = line.shifts[-1]
    by_version = replace(shown_trend, selection=replace(shown_trend.selection, x="version"))
    (row,) = shift_rows(by_version, {run.pk: configurations([run.pk]) for run in year})
    comparison = compare(read(row.comparison.partition("?")[2]))
    assert (line.points[shift.last].versions, comparison.selection.baseline) == (("18.1",), "18.1")
    assert [(p.series, p.base) for p in comparison.points if p.verdict] == [("18.2", ("", "pgbench", "18.1"))]


def test_every_number_of_the_table_leads_to_its_trials(year: list[models.Run], stranger: Client) -> None:
    text = text_of(stranger, "/trends/?plan=nightly&x=version")
    table = text[text.index('id="points"') :]
    for trial in models.Run.objects.get(pk=year[-1].pk).trials.all():
        assert f'href="/trials/{trial.pk}/"' in table
    assert re.findall(r'scope="row" class="nowrap">([^<]+)<', table) == ["18.2", "18.1", "18.0"]


@pytest.mark.parametrize(
    "query", ["plan=nightly", "workload=pgbench", "plan=nightly&x=version", "plan=nightly&x=commit"]
)
def test_it_takes_at_most_twelve_queries(
    query: str, year: list[models.Run], member: Client, django_assert_max_num_queries: Any
) -> None:
    with django_assert_max_num_queries(12):
        text_of(member, f"/trends/?{query}")


def test_without_a_choice_it_offers_what_has_run(
    year: list[models.Run], stranger: Client, django_assert_num_queries: Any
) -> None:
    with django_assert_num_queries(1):
        text = text_of(stranger, "/trends/")
    assert 'href="/trends/?plan=nightly"' in text
    assert 'href="/trends/?workload=pgbench"' in text


def test_the_same_as_json_stands_at_the_same_query(year: list[models.Run], stranger: Client) -> None:
    text = text_of(stranger, "/trends/?plan=nightly")
    address = re.findall(r'href="(/api/v1/trends/[^"]+)"', text)[0]
    content = stranger.get(address).json()
    (line,) = content["lines"]
    assert [point["runs"] for point in line["points"]] == [[run.pk] for run in year]
    assert line["points"][0]["values"][0]["links"]["page"].endswith(
        f"/trials/{line['points'][0]['values'][0]['trial_id']}/"
    )
    assert [(shift["last"], shift["first"], shift["kind"]) for shift in line["shifts"]] == [(29, 30, "worse")]
    assert {key["key"] for one in content["environments"] for key in one["keys"]} == {
        "version",
        "release",
    }
