"""From a cell to why."""

from __future__ import annotations

import json
import re
from copy import deepcopy
from dataclasses import replace
from html import unescape
from statistics import median
from typing import Any
from urllib.parse import quote_plus

import pytest
from django.db.models import F
from django.test import Client

from results import models
from results.domain.environment.layers import Layer, LayerKind
from results.domain.units import format_quantity
from results.queries.comparison.compare import compare
from results.queries.shared.selection import Selection
from results.queries.why.why import MEAN, RATE, PlanPair
from tests import factories
from tests.environments import replace_layers
from tests.page_text import page_text
from tests.series_rows import change_series
from tests.step_runs import access_method_run
from tests.watched import measured, watched_run
from webapp.compare.table import place_of
from webapp.why.words import percent_change, plans


@pytest.fixture(scope="module", autouse=True)
def made(kept: None) -> models.Run:
    return watched_run()


@pytest.fixture
def run(made: models.Run) -> models.Run:
    return deepcopy(made)


def text_of(client: Client, path: str, **headers: str) -> str:
    answer = client.get(path, headers=headers)
    assert answer.status_code == 200, answer.headers
    return page_text(answer)


def words(text: str) -> str:
    """Without markup, on one line."""
    spaced = re.sub(r"<(t[dhr]|p|li)\b", r" <\1", text)
    return " ".join(unescape(re.sub(r"<[^>]+>", "", spaced)).split())


def above_form(page: str) -> str:
    """The words of the page's own beginning, up to the form that it has."""
    return words(page.partition("<main")[2].partition("</form>")[0])


def figure(text: str, name: str) -> dict[str, Any]:
    figure: dict[str, Any] = json.loads(
        re.findall(rf'<script id="{name}" type="application/json">(.*?)</script>', text)[0]
    )
    return figure


def test_the_sentence_on_top_says_what_moved_and_what_did_not(run: models.Run, stranger: Client) -> None:
    text = text_of(stranger, f"/compare/why/?run={run.pk}&at=1")
    message = words(text.split('class="lead said"')[1].partition("</div>")[0])
    assert (
        "postgresql-18.1 has 1,128 tps (median); postgresql-16.9 has 1,003 tps. Ratio of geometric means ×1.125"
        in message
    )
    assert "Changed with it:" in message
    assert "CPU per transaction −11.1 %" in message
    assert "WAL +10.0 %" in message
    assert "No change, within each one's margin: blocks hit." in message
    assert "None in either: blocks read." in message
    address = unescape(re.findall(r'href="([^"]+)">All of this as JSON', text)[0])
    assert round(stranger.get(address).json()["ratio"], 3) == 1.125


def test_mean_latency_of_a_closed_loop_is_said_as_the_same_fact(run: models.Run, stranger: Client) -> None:
    metric = models.Metric.objects.create(
        name="latency.mean", unit="us", better="lower", label="Mean latency", minimum_effect=0.02
    )
    for number in models.Measurement.objects.filter(run=run, metric="tps").select_related("attempt"):
        models.Measurement.objects.create(
            run=run,
            attempt=number.attempt,
            metric=metric,
            node=number.node,
            label=number.label,
            value=1e6 / number.value,
        )
    path = f"/compare/why/?run={run.pk}&at=1"
    text = text_of(stranger, path)
    message = words(text.split('class="lead said"')[1].partition("</div>")[0])
    assert "The same in other words: mean latency 997.0 µs → 886.5 µs. Each client waits for its answer:" in message
    row = words(text.split('id="moved-latency-mean"')[1].partition("</tr>")[0])
    assert "same fact as throughput" in row and "better" not in row
    assert "Both lines show one fact" not in text
    change_series(lambda one: [one, replace(one, name=MEAN, unit="us")] if one.name == RATE else [one], run=run)
    assert "Both lines show one fact" in text_of(stranger, path)
    for configuration in models.Configuration.objects.filter(run=run):
        configuration.dimensions["rate"] = 500
        configuration.save()
    text = text_of(stranger, path)
    message = words(text.split('class="lead said"')[1].partition("</div>")[0])
    assert "mean latency −11.1 %" in message.partition("Changed with it:")[2]
    assert "same fact" not in text and "one fact" not in text


def test_what_moved_by_less_than_its_margin_is_said_so_beside_its_verdict(run: models.Run, stranger: Client) -> None:
    newer = models.Measurement.objects.filter(run=run, attempt__trial__configuration__dimensions__major="18")
    newer.filter(metric="blocks.hit").update(value=F("value") * 1.01)
    text = text_of(stranger, f"/compare/why/?run={run.pk}&at=1")
    message = words(text.split('class="lead said"')[1].partition("</div>")[0])
    assert "Changed, by less than the margin of each: blocks hit +1.0 % of 2 %." in message
    assert "No change" not in message
    row = words(text.split('id="moved-blocks-hit-primary"')[1].partition("</tr>")[0])
    assert "same changed, by less than 2 %" in row


def test_every_shown_number_is_that_of_its_trials(run: models.Run, stranger: Client) -> None:
    text = text_of(stranger, f"/compare/why/?run={run.pk}&at=4")
    row = text.split('id="moved-wal-primary"')[1].partition("</tr>")[0]
    for major, place in (("16", 0), ("18", 1)):
        trials = run.trials.filter(configuration__dimensions__clients=4, configuration__dimensions__major=major)
        values = []
        for trial in trials.select_related("configuration"):
            value_of = {metric: value for metric, _, label, value in measured(trial) if not label}
            values.append(value_of["wal.bytes"] / value_of["transactions"])
            assert f'href="/trials/{trial.pk}/"' in row
            assert f'<a href="/trials/{trial.pk}/">trial {trial.pk}</a>' in text
        assert re.findall(r"<td title=[^>]*>([^<]+)</td>", row)[place] == format_quantity(median(values), "B")
    assert "wal.bytes / transactions" in row
    assert "×1.100" in row
    assert "verdict worse" in row


def test_both_are_drawn_over_time_by_latency_and_by_what_they_cost(run: models.Run, stranger: Client) -> None:
    text = text_of(stranger, f"/compare/why/?run={run.pk}")
    assert len(figure(text, "time")["data"]) == 2 * (5 + 1)
    assert [trace["name"] for trace in figure(text, "tail")["data"]] == ["postgresql-16.9", "postgresql-18.1"]
    assert figure(text, "density")["data"][1]["x"] == [0.5, 0.5, 0.9, 0.9]
    locks = [t["x"][0] for t in figure(text, "waits")["data"] if t["name"] == "Lock: transactionid"]
    assert locks == [pytest.approx(25, abs=0.2), pytest.approx(50, abs=0.2)]
    dots = [t for t in figure(text, "costs")["data"] if "customdata" in t]
    assert len({address for trace in dots for address in trace["customdata"]}) == 10


def test_what_one_of_them_has_none_of_is_said_in_numbers(run: models.Run, stranger: Client) -> None:
    older = models.Measurement.objects.filter(attempt__trial__configuration__dimensions__major="16")
    older.filter(metric="wal.bytes").update(value=0)
    message = above_form(text_of(stranger, f"/compare/why/?run={run.pk}"))
    assert "WAL 0 B → 3.232 kB" in message


def test_plans_stand_side_by_side_with_what_differs_marked(run: models.Run, stranger: Client) -> None:
    plans = text_of(stranger, f"/compare/why/?run={run.pk}").split('id="plans"')[1].partition("</section>")[0]
    assert "1 of 4 lines differs" in plans
    assert "<mark>Hash Join</mark>" in plans
    assert "<mark>Nested Loop</mark>" in plans
    assert plans.count("Seq Scan on lineorder") == 2
    assert "<mark>Seq Scan" not in plans
    trial = run.trials.filter(configuration__dimensions__major="16", configuration__dimensions__clients=1)[0]
    assert re.search(rf'/trials/\d+/1/plan/q1/">trial {trial.pk}<', plans)


def test_call_stacks_of_both_lead_to_their_comparison(run: models.Run, stranger: Client) -> None:
    path = f"/compare/why/?run={run.pk}&at=1"
    ids = [
        models.Configuration.objects.get(run=run, dimensions__clients=1, dimensions__major=major).pk
        for major in ("16", "18")
    ]
    link = f"/flame/?a=c{ids[0]}&amp;b=c{ids[1]}"
    assert f'href="{link}"' in text_of(stranger, path)
    assert stranger.get(link.replace("&amp;", "&")).status_code == 200
    models.Document.objects.filter(kind="stacks", attempt__trial__configuration=ids[1]).delete()
    text = text_of(stranger, path)
    assert link not in text
    assert "postgresql-18.1: call stacks is not known" not in text
    assert "postgresql-18.1: call stacks: not known, the plan had no collector perf." in words(text)


def test_settings_that_differ_are_listed(run: models.Run, stranger: Client) -> None:
    path = f"/compare/why/?run={run.pk}"
    assert "none differs between the first trial of each side" in text_of(stranger, path)
    newer = models.Attempt.objects.filter(trial__configuration__dimensions__major="18")
    replace_layers(newer, settings=("primary", Layer(LayerKind.SETTINGS, {"jit": "off"})))
    settings = words(text_of(stranger, path).split('id="settings"')[1].partition("</section>")[0])
    assert "jit default off" in settings
    assert "shared_buffers 128MB default" in settings


def test_its_queries_are_the_comparisons_and_eleven(
    run: models.Run, member: Client, django_assert_num_queries: Any
) -> None:
    large = watched_run(12)
    counts = []
    for one in (run, large):
        with django_assert_num_queries(5 + 11 + 2):  # and the session and the user
            counts.append(len(text_of(member, f"/compare/why/?run={one.pk}")))
    assert counts[1] > counts[0]


def test_every_metric_is_a_page_of_its_own_that_this_one_loads(
    run: models.Run, member: Client, django_assert_num_queries: Any
) -> None:
    address = f"/compare/why/metrics/?run={run.pk}"
    assert address in text_of(member, f"/compare/why/?run={run.pk}")
    with django_assert_num_queries(5 + 9 + 2):  # and the session and the user
        text = text_of(member, address)
    assert all(label in text for label in ("wal.bytes", "transactions", "context_switches"))
    assert "no two cells with a metric in common" in text_of(member, "/compare/why/metrics/")


def test_what_was_not_gathered_is_said_in_words(run: models.Run, stranger: Client) -> None:
    models.SeriesGroup.objects.filter(run=run).delete()
    models.Histogram.objects.filter(run=run, attempt__trial__configuration__dimensions__major="18").delete()
    models.Measurement.objects.filter(run=run, metric__in=["cpu.busy", "waits"]).delete()
    models.Document.objects.filter(run=run, kind="plan").delete()
    text = text_of(stranger, f"/compare/why/?run={run.pk}")
    message = words(text)
    assert "the rate of each second: not known, the workload does not report it." in message
    assert (
        "postgresql-18.1: the latency of every transaction: not known, the collector latency_log recorded nothing"
        in message
    )
    assert "postgresql-16.9 and postgresql-18.1: wait events of sessions: not known" in message
    assert "sar on client, trials" in message
    assert "sar is not installed" in message
    assert 'id="plans"' not in text
    assert 'data-figure="time"' not in text
    assert len(figure(text, "tail")["data"]) == 1


def test_the_plan_of_the_query_that_is_looked_at_comes_first_and_is_open() -> None:
    nothing: Any = None
    pairs = [PlanPair(label, nothing, nothing, ()) for label in ("q1.1", "q2.1", "q3.1")]
    shown_plans = plans(pairs, "q2.1")
    assert [(plan.of.label, plan.open) for plan in shown_plans] == [("q2.1", True), ("q1.1", False), ("q3.1", False)]
    assert [plan.of.label for plan in plans(pairs, "q9")] == ["q1.1", "q2.1", "q3.1"]


def test_published_figures_have_no_files_and_it_is_said(run: models.Run, stranger: Client) -> None:
    publication = models.Publication.objects.create(
        slug="a", title="A", publisher="P", year=2020, place="t", file="a.csv"
    )
    models.Run.objects.filter(pk=run.pk).update(publication=publication)
    models.SeriesGroup.objects.filter(run=run).delete()
    text = words(text_of(stranger, f"/compare/why/?run={run.pk}"))
    assert "the rate of each second: not known, figures that were not measured here have no such files." in text


def test_a_cell_is_named_in_the_address_and_what_is_left_open_is_the_first(run: models.Run, stranger: Client) -> None:
    comparison = compare(Selection((run.pk,)))
    point = next(one for one in comparison.points if one.x == "4" and one.verdict)
    query = f"run={run.pk}&{place_of(point)}"
    assert "clients 4" in text_of(stranger, f"/compare/why/?{query}")
    assert "clients 1" in words(text_of(stranger, f"/compare/why/?run={run.pk}").partition("</h1>")[0])


def test_the_long_address_of_its_form_becomes_the_short_one(run: models.Run, stranger: Client) -> None:
    answer = stranger.get(f"/compare/why/?run={run.pk}&at=4&baseline=&of=postgresql-18.1")
    assert (answer.status_code, answer["Location"]) == (302, f"/compare/why/?run={run.pk}&at=4&of=postgresql-18.1")
    answer = stranger.get(
        f"/compare/why/?run={run.pk}&at=1&of=postgresql-18.1&baseline=", headers={"HX-Request": "true"}
    )
    assert answer["HX-Push-Url"] == f"/compare/why/?run={run.pk}"
    assert "<html" not in page_text(answer)


def test_any_other_cell_can_be_the_baseline(run: models.Run, stranger: Client) -> None:
    baseline = quote_plus("postgresql-18.1 at 1", safe="/:@")
    text = text_of(stranger, f"/compare/why/?run={run.pk}&baseline={baseline}&at=4&of=postgresql-18.1")
    assert "Why: clients 4 against clients 1" in words(text)
    assert "Transactions per second · postgresql-18.1" in words(text)
    assert "<option selected>postgresql-18.1 at 1</option>" in text


def test_the_baseline_itself_has_nothing_laid_over_it(run: models.Run, stranger: Client) -> None:
    text = text_of(stranger, f"/compare/why/?run={run.pk}&at=1&of=postgresql-16.9")
    assert "It is the baseline itself" in text
    assert '<select name="of"' in text


def test_on_a_single_line_any_cell_can_be_the_baseline(run: models.Run, stranger: Client) -> None:
    path = f"/compare/why/?run={run.pk}&series=none&filter.installation=postgresql-16.9"
    text = text_of(stranger, path)
    assert "The comparison has no baseline: choose one above." in text
    assert "<option>at 1</option>" in text
    assert "Why: clients 4 against clients 1" in words(
        text_of(stranger, path.replace("&filter", "&baseline=at+1&filter"))
    )


def test_the_cells_own_page_leads_here(run: models.Run, stranger: Client) -> None:
    cell = f"run={run.pk}&at=4&of=postgresql-18.1"
    link = f'href="/compare/why/?{cell.replace("&", "&amp;")}"'
    assert link in text_of(stranger, f"/compare/cell/?{cell}", **{"HX-Request": "true"})
    assert "/compare/why/?" not in text_of(stranger, f"/compare/cell/?{cell.replace('18.1', '16.9')}")


def test_everything_that_differs_besides_is_said_and_leads_to_its_page(run: models.Run, stranger: Client) -> None:
    text = text_of(stranger, f"/compare/why/?run={run.pk}")
    assert "differs as intended" in above_form(text)
    comparison = compare(Selection((run.pk,)))
    ends = [point.values[0].trial_id for point in comparison.points if point.x == "1"]
    link = f"/diff/?left=trial:{ends[0]}&right=trial:{ends[1]}"
    assert link.replace("&", "&amp;") in text
    assert stranger.get(link).status_code == 200


def test_a_cell_that_is_not_there_is_an_error_that_names_the_ones_that_are(run: models.Run, stranger: Client) -> None:
    answer = stranger.get(f"/compare/why/?run={run.pk}&at=1&of=nonsense")
    assert answer.status_code == 400
    assert "nonsense" in page_text(answer)
    assert "postgresql-18.1" in page_text(answer)


def test_without_runs_or_results_it_says_what_to_do(db: None, stranger: Client) -> None:
    assert "Nothing is chosen." in text_of(stranger, "/compare/why/")
    waiting = factories.run()
    assert "The comparison has no cell yet." in text_of(stranger, f"/compare/why/?run={waiting.pk}")


def test_cells_of_mixed_configurations_are_warned_of(run: models.Run, stranger: Client) -> None:
    assert "mixes different configurations" not in text_of(stranger, f"/compare/why/?run={run.pk}")
    text = words(text_of(stranger, f"/compare/why/?run={run.pk}&x=workload&filter.clients=1,4"))
    assert "A cell mixes different configurations" in text
    assert "clients, threads vary within it." in text


@pytest.mark.parametrize(
    ("ratio", "text"), [(1.079, "+7.9 %"), (0.5, "−50.0 %"), (2.4, "×2.40"), (1.0, "+0.0 %"), (1.0004, "+0.04 %")]
)
def test_a_change_in_words(ratio: float, text: str) -> None:
    assert percent_change(ratio) == text


def test_the_heading_names_no_filter_by_what_is_not_set(db: None, stranger: Client) -> None:
    plain, other = (factories.finished_run(settings=own) for own in ({}, {"work_mem": "64MB"}))
    path = f"/compare/why/?run={plain.pk},{other.pk}&filter.setting.work_mem="
    assert "work_mem 64MB" in text_of(stranger, path + "64MB").partition("</h1>")[0]
    heading = text_of(stranger, path + "default").partition("</h1>")[0]
    assert "clients 1" in heading and "work_mem" not in heading.partition("<h1")[2]


def test_the_heading_names_no_filter_of_an_axis(run: models.Run, stranger: Client) -> None:
    path = f"/compare/why/?run={run.pk}&series=major&filter.major=16,18&at=1"
    assert "16, 18" not in text_of(stranger, path).partition("</h1>")[0]


def test_its_lists_are_labelled_by_what_people_call_the_dimensions(db: None, stranger: Client) -> None:
    made = access_method_run()
    text = text_of(stranger, f"/compare/why/?run={made.pk}&series=access_method,installation")
    assert '<label for="of">access method · installation</label>' in text
