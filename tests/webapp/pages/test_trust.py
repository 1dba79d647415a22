"""What numbers rest on stands beside every headline."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta
from typing import Any

import pytest
from django.test import Client
from django.utils import timezone
from rich.console import Console

from results import models
from results.domain.measurement.metrics import Better, Metric
from results.domain.measurement.parsed_trial import Measurement
from results.queries.comparison.cells import RunWarning
from results.queries.comparison.compare import compare
from results.queries.comparison.trust import trust_in
from results.queries.runs.runs import run_detail
from results.queries.shared.selection import Selection
from results.runs import close_finished
from tests import factories
from tests.page_text import page_text
from webapp.management import terminal

pytestmark = pytest.mark.django_db
BUSY = Metric("cpu.busy", "%", Better.NEITHER, "CPU busy")
POOR = "from 2 replicates of 5 s on one full machine"


@pytest.fixture
def full(db: None) -> models.Run:
    """Two replicates of 5 s, client and server on one host without an idle processor."""
    return measured(seconds=5, busy=98.0)


def measured(*, seconds: int, busy: float | None, **plan: Any) -> models.Run:
    """A finished run whose values repeat to a permille or so."""
    run = factories.run(**plan)
    for trial in run.trials.select_related("configuration"):
        tps = 1000 * trial.configuration.dimensions["clients"] * (1 + trial.block / 1000)
        value = factories.parsed(trial, 1, tps)
        assert value.measured_from
        seen = (Measurement("cpu.busy", busy, "primary"),) if busy is not None else ()
        factories.finish(
            trial,
            tps,
            metrics=(*value.metrics, BUSY),
            measurements=(*value.measurements, *seen),
            measured_to=value.measured_from + timedelta(seconds=seconds),
        )
    close_finished(run.pk)
    return run


def facts(run: models.Run) -> dict[str, tuple[str, str]]:
    answer = trust_in(compare(Selection((run.pk,), x="clients", series="installation")))
    return {fact.name: (fact.grade.value, fact.words) for fact in answer.facts}


def test_facts_are_read_in_two_queries_whatever_the_number_of_trials(django_assert_num_queries: Any) -> None:
    for run in (measured(seconds=5, busy=98.0), measured(seconds=5, busy=98.0, replicates=9, seed=8)):
        comparison = compare(Selection((run.pk,)))
        with django_assert_num_queries(2):
            assert trust_in(comparison).facts
    with django_assert_num_queries(0):
        assert not trust_in(replace(comparison, points=())).facts


def test_each_fact_comes_from_its_trials(full: models.Run) -> None:
    assert facts(full) | {"spread": ("fine", ""), "detectable": ("weak", "")} == {
        "replicates": ("weak", "2 replicates"),
        "duration": ("weak", "5 s each"),
        "warm_up": ("mind", "no warm-up"),
        "spread": ("fine", ""),
        "steady": ("mind", "steadiness not known"),
        "client": ("mind", "client on the server's host"),
        "processors": ("weak", "processors 98 % busy"),
        "drift": ("fine", "no drift seen"),
        "noise": ("mind", "A/A noise never measured"),
        "detectable": ("weak", ""),
    }


def test_a_host_that_nobody_watched_is_not_recorded() -> None:
    assert facts(measured(seconds=5, busy=None))["processors"] == ("mind", "processors not recorded")


def test_a_client_on_its_own_agent_has_processors_of_its_own() -> None:
    factories.agent("db1")
    factories.agent("load1")
    run = measured(seconds=60, busy=98.0, agents={"primary": "db1", "client": "load1"}, duration_s=60)
    assert facts(run)["client"] == ("fine", "client on a host of its own")
    assert facts(run)["processors"] == ("mind", "server's processors 98 % busy")


def test_noise_is_that_of_the_latest_aa_run_on_the_same_agents(stranger: Client) -> None:
    aa_run, run = factories.aa_run(0.01), measured(seconds=5, busy=98.0)
    grade, words = facts(run)["noise"]
    assert (grade, words.startswith("A/A noise ")) == ("fine", True)
    assert f'<a href="/runs/{aa_run.pk}/">{words}</a>' in page_text(stranger.get(f"/compare/?run={run.pk}"))


def test_noise_of_undivided_values_or_of_one_run_of_two_is_not_that_of_the_comparison(db: None) -> None:
    factories.agent("db2")
    factories.aa_run(0.01)
    run, elsewhere = measured(seconds=5, busy=98.0), factories.finished_run(agents={"primary": "db2"}, seed=5)
    chosen = Selection((run.pk,), x="clients", series="installation")
    own = compare(chosen)
    divided = replace(own, selection=replace(own.selection, per="transaction"))
    both = compare(replace(chosen, runs=(run.pk, elsewhere.pk)))
    words = [{fact.name: fact.words for fact in trust_in(one).facts}["noise"] for one in (own, divided, both)]
    assert words[0].startswith("A/A noise ") and words[0].endswith("%")
    assert words[1:] == ["A/A noise of all these values not known"] * 2


def test_a_run_that_is_not_in_the_cells_does_not_drift_in_them(db: None) -> None:
    run, other = measured(seconds=5, busy=None), measured(seconds=5, busy=None, seed=9)
    comparison = compare(Selection((run.pk, other.pk), x="clients,installation", series="run"))
    warned = replace(comparison, warnings=(RunWarning(other.pk, "order", 0.05, 0.001, 8),))
    shown = {
        series: {fact.name: fact.words for fact in trust_in(warned, points).facts}["drift"]
        for series in comparison.series
        if (points := [point for point in comparison.points if point.series == series])
    }
    assert shown == {
        str(run.pk): "no drift seen",
        str(other.pk): f"place within a block mattered in run {other.pk}",
    }


def test_the_comparison_says_it_in_the_headline_and_below(full: models.Run, stranger: Client) -> None:
    text = page_text(stranger.get(f"/compare/?run={full.pk}"))
    lead = text[text.index('<p class="lead">') : text.index('<details class="environment"')]
    assert f'<span class="basis weak">{POOR}</span>' in lead
    assert '<li class="weak"><a href="#table">2 replicates</a> <small>weak</small></li>' in lead
    how = "/manual/method/#noise-and-planning-by-it"
    assert f'<a href="{how}">A/A noise never measured</a>' in lead
    assert 'id="noise-and-planning-by-it"' in page_text(stranger.get("/manual/method/"))


def test_why_and_a_citation_say_it_of_their_cells(full: models.Run, stranger: Client) -> None:
    cited = factories.citation(full)
    for path in (f"/compare/why/?run={full.pk}", f"/c/{cited.hash}/"):
        text = page_text(stranger.get(path, follow=True))
        assert POOR in text or POOR.capitalize() in text
        assert "processors 98 % busy" in text


def test_versions_say_it_of_each_row(full: models.Run, stranger: Client) -> None:
    assert POOR in page_text(stranger.get("/versions/"))
    (row,) = stranger.get("/api/v1/versions/").json()["rows"]
    assert row["basis"] == POOR


def test_json_gives_the_facts_with_their_grades(full: models.Run, stranger: Client) -> None:
    cited = factories.citation(full)
    own = stranger.get(f"/api/v1/comparison/?run={full.pk}").json()["trust"]
    assert own[0] == {"name": "replicates", "value": 2, "unit": "1", "grade": "weak", "words": "2 replicates"}
    assert [fact["name"] for fact in own] == list(facts(full))
    assert stranger.get(f"/api/v1/citations/{cited.hash}/").json()["comparison"]["trust"] == own
    why = stranger.get(f"/api/v1/comparison/why/?run={full.pk}").json()["trust"]
    assert why[0] == own[0]


def test_the_terminal_prints_the_facts(full: models.Run) -> None:
    console = Console(width=400, record=True)
    console.print(terminal.table(run_detail(full.pk, timezone.now())))
    printed = " ".join(console.export_text().split())
    assert "They rest on: 2 replicates (weak) · 5 s each (weak) · no warm-up (mind this)" in printed
