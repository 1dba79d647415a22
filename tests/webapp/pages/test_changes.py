"""What changed between the sides of a comparison, as a page and as JSON."""

from __future__ import annotations

import random
import re
from typing import Any

import pytest
from django.test import Client

from results import models
from results.domain.measurement.metrics import Better, Metric
from results.domain.measurement.parsed_trial import Measurement
from results.domain.statistics.verdict import Kind
from results.queries.changes.changes import what_changed
from results.queries.comparison.compare import compare
from results.queries.shared.selection import Selection
from results.runs import close_finished
from tests import factories
from tests.page_text import page_text
from webapp import urlstate
from webapp.templatetags.teiten import interval, ratio

pytestmark = pytest.mark.django_db
TPS = Metric("tps", "tps", Better.HIGHER, "Transactions per second")
MEAN = Metric("latency.mean", "us", Better.LOWER, "Mean latency")
WAL = Metric("wal.per_transaction", "B", Better.LOWER, "WAL per transaction")
HITS = Metric("buffers.hit_ratio", "%", Better.NEITHER, "Buffer hits")
NOISE = Metric("checkpoints", "1", Better.NEITHER, "Checkpoints")
METRICS = (TPS, MEAN, WAL, HITS, NOISE)
FACTORS = {"installation": ["16", "18"], "clients": [1, 4], "script": ["select-only", "tpcb-like"]}


def measured_run(**changes: Any) -> models.Run:
    """18 is 5 % slower, writes half the WAL, and hits 20 % less; checkpoints are noise."""
    made = factories.run(**({"factors": FACTORS, "replicates": 4} | changes))
    chance = random.Random(5)
    for trial in made.trials.select_related("configuration").order_by("position"):
        dimensions = trial.configuration.dimensions
        newer = dimensions["major"] == "18"
        tps = 1000 * dimensions["clients"] * (0.95 if newer else 1) * chance.gauss(1, 0.002)
        measurements = (
            Measurement("tps", tps),
            Measurement("latency.mean", dimensions["clients"] / tps * 1e6),
            Measurement("wal.per_transaction", (200 if newer else 400) * chance.gauss(1, 0.002), node="primary"),
            Measurement("buffers.hit_ratio", (72 if newer else 90) * chance.gauss(1, 0.002), node="primary"),
            Measurement("checkpoints", 10 * chance.gauss(1, 0.2), node="primary"),
        )
        factories.finish(trial, tps, metrics=METRICS, measurements=measurements)
    close_finished(made.pk)
    return made


@pytest.fixture
def run() -> models.Run:
    return measured_run()


def opened(client: Client, path: str) -> str:
    answer = client.get(path)
    answer = client.get(answer["Location"]) if answer.status_code == 302 else answer
    assert answer.status_code == 200
    return re.sub(r"\s*([<>])\s*", r"\1", re.sub(r"\s+", " ", page_text(answer)))


def test_regressions_come_first_then_improvements_then_what_only_moved(run: models.Run) -> None:
    changes = what_changed(Selection((run.pk,))).changes
    assert [one.metric for one in changes] == ["tps"] * 4 + ["wal.per_transaction"] * 4 + ["buffers.hit_ratio"] * 4
    assert [one.verdict.kind for one in changes] == [Kind.WORSE] * 4 + [Kind.BETTER] * 4 + [Kind.LOWER] * 4
    sizes = [one.size for one in changes]
    for section in (sizes[:4], sizes[4:8], sizes[8:]):
        assert section == sorted(section, reverse=True)


def test_each_change_has_the_verdict_of_the_comparison_that_it_links_to(run: models.Run, stranger: Client) -> None:
    answer = stranger.get(f"/api/v1/comparison/changes/?run={run.pk}").json()
    assert len(answer["changes"]) == 12
    for change in answer["changes"]:
        query = change["links"]["comparison"].partition("?")[2]
        [point] = [
            one
            for one in compare(urlstate.read(query)).points
            if (one.panel, one.x, one.series) == (change["panel"], change["x"], change["series"])
        ]
        assert point.verdict
        for name in ("ratio", "low", "high", "p", "adjusted"):
            assert change["verdict"][name] == pytest.approx(getattr(point.verdict, name))
        assert change["verdict"]["kind"] == point.verdict.kind
        why = stranger.get(change["links"]["why"]).json()
        assert why["ratio"] == pytest.approx(change["verdict"]["ratio"])


def test_throughput_and_mean_latency_of_a_closed_loop_are_one_row(run: models.Run, stranger: Client) -> None:
    text = opened(stranger, f"/compare/changes/?run={run.pk}")
    assert text.count(">Throughput and mean latency</a>") == 4
    assert ">Mean latency" not in text and ">Transactions per second" not in text


def test_at_a_given_rate_they_are_two(stranger: Client) -> None:
    paced = measured_run(parameters={"scale": 5, "rate": 500})
    changes = what_changed(Selection((paced.pk,))).changes
    assert {one.metric for one in changes} >= {"tps", "latency.mean"}
    assert not any(one.with_mean_latency for one in changes)


def test_the_page_says_what_it_lists_and_what_not(run: models.Run, stranger: Client) -> None:
    text = opened(stranger, f"/compare/changes/?run={run.pk}")
    assert "4 regressions, 4 improvements, 4 moved without a better direction." in text
    assert re.search(r"Not listed: \d+ the same, \d+ undecided\.", text)
    assert "|log ratio|" in text
    assert text.index("Regressions") < text.index("Improvements") < text.index("Moved, without a better direction")


def test_levels_and_groups_are_filtered_and_no_verdict_changes(run: models.Run, stranger: Client) -> None:
    whole = what_changed(Selection((run.pk,)))
    query = f"run={run.pk}&filter.clients=4&group=wal"
    answer = stranger.get(f"/api/v1/comparison/changes/?{query}").json()
    expected = [one for one in whole.changes if one.group == "wal" and one.x.startswith("4 ")]
    assert len(expected) == 2
    assert {one["verdict"]["adjusted"] for one in answer["changes"]} == {one.verdict.adjusted for one in expected}
    assert answer["groups"] == {"buffers": 2, "tps": 2, "wal": 2}
    text = opened(stranger, f"/compare/changes/?{query}")
    assert 'name="filter.clients" value="4"' in text and '<option value="wal" selected>' in text
    assert text.count(">WAL per transaction, primary</a>") == 2


def test_rows_lead_to_the_trials_and_to_why(run: models.Run, stranger: Client) -> None:
    text = opened(stranger, f"/compare/changes/?run={run.pk}&group=wal")
    verdict = what_changed(Selection((run.pk,)), "wal").changes[0].verdict
    for start, shown in (("/compare/cell/", interval(verdict)), ("/compare/why/", ratio(verdict.ratio))):
        address = re.findall(rf'href="({start}\?[^"]+)"', text)[0].replace("&amp;", "&")
        assert shown in opened(stranger, address)


def test_two_runs_are_compared_configuration_by_configuration(run: models.Run) -> None:
    again = measured_run(seed=9)
    changes = what_changed(Selection((run.pk, again.pk), series="run"))
    assert changes.selection.x == "clients,installation,script"
    assert sum(changes.kinds.values()) == 8 * 4  # four metrics besides the mean latency


def test_more_than_are_listed_are_counted(run: models.Run, stranger: Client, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("results.queries.changes.changes.MOST", 5)
    text = opened(stranger, f"/compare/changes/?run={run.pk}")
    assert "7 more are left out" in text


def test_nothing_decided_and_nothing_compared_are_said(stranger: Client) -> None:
    single = factories.finished_run(factors={"installation": ["16"]})
    assert "No difference is decided here." in opened(stranger, f"/compare/changes/?run={single.pk}")
    assert "No run is chosen." in opened(stranger, "/compare/changes/")
    assert stranger.get("/compare/changes/?run=x").status_code == 400


def test_a_group_in_which_nothing_is_decided_is_named(run: models.Run, stranger: Client) -> None:
    text = opened(stranger, f"/compare/changes/?run={run.pk}&group=io")
    assert "No difference of io is decided here." in text


def test_a_comparison_with_one_cell_as_its_baseline_leads_there_with_its_axes(stranger: Client) -> None:
    run = factories.finished_run(replicates=3)
    path = f"/compare/?run={run.pk}&x=clients&series=installation&baseline=postgresql-16.9+at+4"
    addresses = set(re.findall(r'href="(/compare/changes/\?[^"]*)"', opened(stranger, path)))
    [address] = [address.replace("&amp;", "&") for address in addresses]
    assert "baseline=" in address and "What changed" in opened(stranger, address)


def test_the_comparison_and_the_run_lead_there(run: models.Run, stranger: Client) -> None:
    for path in (f"/compare/?run={run.pk}", f"/runs/{run.pk}/"):
        assert f'href="/compare/changes/?run={run.pk}' in opened(stranger, path)


def test_it_takes_as_many_queries_whatever_was_measured(
    run: models.Run, stranger: Client, django_assert_num_queries: Any
) -> None:
    with django_assert_num_queries(14):
        opened(stranger, f"/compare/changes/?run={run.pk}")
    larger = measured_run(factors={**FACTORS, "clients": [1, 2, 4, 8]}, replicates=6, name="larger")
    with django_assert_num_queries(14):
        opened(stranger, f"/compare/changes/?run={larger.pk}")


def test_the_greatest_changes_stand_first_and_the_others_are_folded_below_them(
    run: models.Run, stranger: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("webapp.pages.changes.UNFOLDED", 3)
    text = opened(stranger, f"/compare/changes/?run={run.pk}")
    regressions = text[text.index(">Regressions") : text.index(">Improvements")]
    assert '>Regressions<span class="soft">4</span>' in regressions
    shown, folded = regressions.split("<summary>1 more, each a smaller effect</summary>")
    assert (shown.count("<tr>"), folded.count("<tr>")) == (1 + 3, 1 + 1)
    assert "more, each a smaller effect" not in opened(stranger, f"/compare/changes/?run={run.pk}&group=none")


def test_it_says_from_how_many_replicates_they_are_judged(run: models.Run, stranger: Client) -> None:
    assert ">Judged from 4 replicates" in opened(stranger, f"/compare/changes/?run={run.pk}")


def test_a_level_that_does_not_say_what_it_is_of_is_named(stranger: Client) -> None:
    made = measured_run(factors={"installation": ["16", "18"], "script": ["select-only", "tpcb-like"]}, replicates=6)
    assert "<small>script select-only · postgresql-18.1 against" in opened(stranger, f"/compare/changes/?run={made.pk}")
