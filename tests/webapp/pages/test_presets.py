"""Versions, access methods, topologies, and the published tables that they show."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import replace
from datetime import UTC, datetime
from html import unescape
from typing import Any
from unittest.mock import patch

import pytest
from django.test import Client
from django.utils import timezone

from results import ingest, models
from results.domain.errors import TeitenError
from results.domain.measurement.metrics import Better, Metric
from results.domain.measurement.parsed_trial import Measurement
from results.domain.states import Standing
from results.domain.statistics.verdict import Kind
from results.published.catalogue import TABLES
from results.published.load import load
from results.published.tables import FOLDER
from results.queries.comparison.compare import compare
from results.queries.presets.access_method_summary import summary
from results.queries.presets.access_methods import access_methods
from results.queries.presets.versions import versions
from results.standing import set_standing
from tests import arrangements, environments, factories
from tests.page_text import page_text
from tests.step_runs import BUILDS, ENGINES, access_method_run
from webapp.versions.words import sentence
from workers.registry import known_metrics

pytestmark = pytest.mark.django_db
KERNEL = {"release 6.1": "release 6.8"}


@pytest.fixture
def loaded() -> None:
    load(TABLES, known_metrics(), "tests")


def text_of(client: Client, path: str) -> str:
    answer = client.get(path)
    if answer.status_code == 302:  # the client's own way to follow would write the address anew
        answer = client.get(answer["Location"])
    assert answer.status_code == 200
    return re.sub(r"\s+", " ", page_text(answer))


def figures(text: str) -> list[Mapping[str, Any]]:
    matches = re.findall(r'<script id="[^"]*" type="application/json">(.*?)</script>', text)
    return [json.loads(one) for one in matches]


def run_of(slug: str) -> models.Run:
    return models.Run.objects.get(publication__slug=slug)


def read_again() -> None:
    """As after `manage.py reingest --replace`: what was kept of before is not shown any more."""
    models.Attempt.objects.update(ingested_at=timezone.now())


def test_what_has_not_changed_is_not_computed_again(stranger: Client, django_assert_max_num_queries: Any) -> None:
    def answer() -> bytes:
        return stranger.get("/api/v1/versions/").content

    other, run = factories.finished_run(replicates=3), factories.finished_run(replicates=3)
    models.Run.objects.filter(pk=other.pk).update(workload="tpcc")  # compared apart
    first = answer()
    assert len(json.loads(first)["rows"]) == 2
    with django_assert_max_num_queries(3):
        assert answer() == first
    trial = run.trials.filter(configuration__dimensions__major="18").select_related("configuration", "attempt")[0]
    ingest.replace(factories.parsed(trial, trial.attempt.number, 1.0), trial.attempt_id)
    changed = answer()
    assert changed != first
    set_standing([run.pk], Standing.EXCLUDED, "tests")
    assert answer() not in (first, changed)


def test_versions_show_the_ratios_of_table_6_14(loaded: None, stranger: Client) -> None:
    text = text_of(stranger, "/versions/?workload=ssb")
    for ratio in ("1.039", "1.059", "1.043", "0.887", "0.972", "0.928"):
        assert f"×{ratio}" in text
    assert ">undecided<" in text and "published" in text
    assert sum(len(trace["x"]) for trace in figures(text)[0]["data"]) == 37


def test_versions_of_all_workloads_have_a_row_each_with_its_own_baseline(loaded: None, stranger: Client) -> None:
    factories.finished_run(replicates=3)
    text = text_of(stranger, "/versions/")
    assert "▲</span> ×1.125" in text and "2 better" in text
    assert "×0.928" in text and "▼" not in text
    assert "18 is faster than 16 in 2 of 2 cells: ×1.125, as a geometric mean of the rows below. The evidence" in text
    assert "Nothing to compare in access_method" in text


def test_a_version_that_stands_alone_is_dimmed(loaded: None, stranger: Client) -> None:
    def dimmed(path: str) -> set[str]:
        chips = re.findall(
            r'<label class="chip none"><input type="checkbox" name="version" value="([^"]+)"[^>]*>', path
        )
        return set(chips)

    factories.finished_run(replicates=1)
    assert dimmed(text_of(stranger, "/versions/?workload=pgbench")) == {"12", "13devel"}
    assert dimmed(text_of(stranger, "/versions/?workload=ssb")) >= {"16", "18"}
    assert not dimmed(text_of(stranger, "/versions/")) & {"11", "12", "16", "18"}


def test_one_value_each_is_called_neither_faster_nor_slower(loaded: None, stranger: Client) -> None:
    text = text_of(stranger, "/versions/?workload=ssb")
    (message,) = re.findall(r'<p class="lead">(.*?)</p>', text)
    assert message.startswith("Published figures, one value each: ")
    measured = factories.finished_run(replicates=1)
    text = text_of(stranger, f"/versions/?workload={measured.workload}")
    (message,) = re.findall(r'<p class="lead">(.*?)</p>', text)
    said = "18 is undecided against 16: ×1.125, as a geometric mean of the rows below."
    assert message == f"{said} The evidence is weak in 2 of 2 rows, which say what they rest on."


def test_what_is_not_comparable_is_in_no_speed_and_said(stranger: Client) -> None:
    run = factories.finished_run(replicates=3)
    environments.run_in_versions(run)
    other = environments.layers(18, facts=KERNEL)
    newer = run.trials.filter(configuration__dimensions__major="18").select_related("attempt")
    for trial in newer.filter(configuration__dimensions__clients=4):
        environments.ran_in(trial.attempt, other)
        trial.attempt.measurements.filter(metric="tps").update(value=1)
    text = text_of(stranger, "/versions/")
    assert "1 better, 1 not comparable" in text
    (message,) = re.findall(r'<p class="lead">(.*?)</p>', text)
    assert message.startswith("18 is faster than 16 in 1 of 1 cell: ×1.12")
    assert message.endswith("Left out: 1 cell not comparable.")
    for trial in newer:
        environments.ran_in(trial.attempt, other)
    read_again()
    text = text_of(stranger, "/versions/")
    assert "2 not comparable" in text and "undecided" not in text and 'class="lead"' not in text


def test_a_version_only_in_rows_that_are_not_shown_says_nothing(stranger: Client) -> None:
    factories.finished_run(replicates=3)
    table = versions()
    assert sentence(table)
    assert sentence(replace(table, rows=())) == ""


def test_the_sentence_says_where_the_evidence_is_weak(stranger: Client) -> None:
    factories.finished_run(replicates=3)
    [row] = versions().rows
    one = sentence(versions())
    assert one.endswith(f"as a geometric mean of the rows below. The evidence is weak: {row.basis}.")
    assert "from 3 replicates of " in row.basis
    firm = replace(row, is_weak=False)
    assert "evidence" not in sentence(replace(versions(), rows=(firm,)))
    assert sentence(replace(versions(), rows=(row, firm, firm))).endswith(
        "The evidence is weak in 1 of 3 rows, which say what they rest on."
    )


def test_a_cell_of_versions_leads_to_its_comparison(loaded: None, stranger: Client) -> None:
    text = text_of(stranger, "/versions/?workload=ssb")
    wanted = ("filter.label=q2.1", "metric=ssb.query.seconds&", "filter.major=11,12")
    matches = [address.replace("&amp;", "&") for address in re.findall(r'href="(/compare/[^"]+)"', text)]
    compared = text_of(stranger, next(address for address in matches if all(part in address for part in wanted)))
    assert "×1.127" in compared  # 153.1511 / 135.8966 seconds


def test_a_chosen_baseline_and_versions_are_kept_in_the_address(loaded: None, stranger: Client) -> None:
    factories.finished_run()
    answer = stranger.get("/versions/?workload=&baseline=18&version=16&version=18")
    assert answer["HX-Push-Url"] == "/versions/?baseline=18&version=16&version=18"
    text = page_text(answer)
    assert "×0.889" in text and "×0.928" not in text


def test_versions_without_results_say_what_to_do(stranger: Client) -> None:
    assert "There are no results yet." in text_of(stranger, "/versions/")
    factories.finished_run()
    assert "Nothing to compare here." in text_of(stranger, "/versions/?version=16")


def test_versions_take_as_many_queries_whatever_the_number_of_trials(
    stranger: Client, django_assert_num_queries: Any
) -> None:
    for replicates in (2, 6):
        factories.finished_run(replicates=replicates)
        with django_assert_num_queries(12):
            text_of(stranger, "/versions/")


def test_capabilities_of_published_builds_have_no_agent_to_be_chosen(loaded: None, stranger: Client) -> None:
    factories.capability_run({"toast": "yes"}, installation="18")
    text = text_of(stranger, "/capabilities/")
    assert text.count("<small>published</small>") == 2 and text.count("<small>db1</small>") == 1
    assert 'name="agent" value=""' not in text
    assert 'name="installation"' in text


def test_access_methods_stand_against_the_heap_of_their_build(loaded: None, stranger: Client) -> None:
    text = text_of(stranger, "/access-methods/")
    for ratio in ("×2.311", "×2.887", "×0.332", "×1.085", "×0.834"):
        assert ratio in text
    assert "There is no ratio for zedstore build (13devel): heap was not measured there." in text


def test_each_access_method_leads_to_the_answers_that_its_capabilities_are_counted_by(
    loaded: None, stranger: Client
) -> None:
    text = text_of(stranger, "/access-methods/")
    links = re.findall(r'<a href="(/capabilities/\?[^"]+)">(\d+) of (\d+)</a>', text)
    assert len(links) == len({query for query, _, _ in links}) >= 2
    for query, holding, checked in links:
        address = unescape(query)
        rows = stranger.get(f"/api/v1{address}").json()["results"]
        assert [int(holding), int(checked)] == [sum(row["outcome"] == "yes" for row in rows), len(rows)]
        shown = text_of(stranger, address)
        assert "published, not tried here" in shown and shown.count("<summary>") >= int(checked)
    assert "only heap AM is supported" in text_of(stranger, "/capabilities/")
    assert '2 builds were checked: <a href="/capabilities/">every capability of each' in text


def test_of_several_agents_the_answers_of_the_one_with_most_are_counted_and_led_to(stranger: Client) -> None:
    access_method_run()
    factories.capability_run({"vacuum": "yes", "toast": "no"})
    factories.agent("db2")
    other = factories.capability_run({"vacuum": "yes", "toast": "yes", "copy": "no"})
    models.CheckedBuild.objects.filter(attempt=other.attempt).update(agent="db2")
    text = text_of(stranger, "/access-methods/")
    assert [int(n) for n in re.findall(r">(\d+) of 3</a>", text)] == [2]
    (query,) = re.findall(r'href="(/capabilities/\?[^"]+)">2 of 3<', text)
    assert "agent=db2" in query


def test_rows_of_access_methods_are_named_by_what_tells_them_apart_though_little_of_a_plan_is_published(
    loaded: None,
) -> None:
    factories.agent()
    models.Installation.objects.update(access_methods=["heap", "heap2"])
    factors = {"access_method": ["heap", "heap2"]}
    changes = {"workload": "access_method", "factors": factors, "parameters": {"rows": 1000}, "installation": "16"}
    for trial in factories.run(**changes, replicates=1).trials.all():
        size = (Metric("size.table", "B", Better.LOWER, "Table"), Measurement("size.table", 8192.0, label="foo"))
        factories.finish(trial, 1.0, metrics=size[:1], measurements=size[1:])
    [sizes] = [table for table in access_methods().tables if table.metric.name == "size.table"]
    assert [name for name, cells in sizes.lines if cells[0]] == ["foo · fillfactor 100 · rows 1000"]
    assert "foo, filled · fillfactor 80 · rows 1000000" in [name for name, _ in sizes.lines]


@pytest.mark.parametrize("factors", [{"build": BUILDS}, {"engine": ENGINES, "installation": ["16", "18"]}])
def test_access_methods_that_are_set_together_with_something_else_have_ratios_to_heap(
    factors: dict[str, Any], stranger: Client
) -> None:
    run = access_method_run(factors)
    tables = access_methods().tables
    assert {table.metric.name for table in tables} >= {"size.table", "bulk_insert.seconds", "tpcb.tps"}
    cells = [cell for table in tables for _, line in table.lines for cell in line]
    assert all(cell is not None and (cell.ratio or not cell.value) for cell in cells)
    verdicts = [cell.verdict.kind for cell in cells if cell is not None and cell.verdict]
    assert len(verdicts) == len(cells) / 2 and Kind.NOT_COMPARABLE not in verdicts
    (tps,) = [table for table in tables if table.metric.name == "tpcb.tps"]
    verdicts_of_comparison = [point.verdict for point in compare(tps.selection).points if point.verdict]
    text = text_of(stranger, "/access-methods/")
    assert all(f"<b>×{verdict.ratio:.3f}</b>" in text for verdict in verdicts_of_comparison)
    assert f"/compare/?run={run.pk}" in text


def test_access_methods_of_runs_that_set_them_together_with_other_things_stand_apart(stranger: Client) -> None:
    plain, together = access_method_run(), access_method_run({"engine": ENGINES, "installation": ["16", "18"]})
    sizes = [table for table in access_methods().tables if table.metric.name == "size.table"]
    assert [table.run_ids for table in sizes] == [(plain.pk,), (together.pk,)]
    assert sizes[0].lines[0][0] == sizes[1].lines[0][0] == "foo"
    text = text_of(stranger, "/access-methods/")
    headings = re.findall(r'<th scope="rowgroup"[^>]*>([^<]*)</th>', text)
    assert [heading.strip() for heading in headings[:2]] == [f"run {plain.pk}", f"run {together.pk}"]


def test_the_page_of_access_methods_begins_with_one_table_and_folds_the_rest(stranger: Client) -> None:
    access_method_run()
    text = text_of(stranger, "/access-methods/")
    first = text.partition("</table>")[0]
    for question in ("size", "loading", "sequential scan", "index scan", "UPDATE", "TPC-B-like", "capabilities"):
        assert f">{question}<" in first
    assert "not checked" in first and first.count("verdict worse") >= 10
    assert text.count('<details class="every-number">') == 6 and "<details open" not in text
    assert len(figures(text)) == 1


def test_a_question_with_several_numbers_has_their_smallest_and_largest_ratio() -> None:
    access_method_run()
    found = summary(access_methods())
    place = [name for name, _ in found.questions].index("sequential scan")
    cells = [row.cells[place] for row in found.rows if not row.is_heap]
    for cell in filter(None, cells):
        ratios = [point.ratio for point in cell.points if point.ratio]
        assert cell.only is None and cell.reach == (min(ratios), max(ratios))
        assert sum(cell.kinds.values()) == len(cell.points) == 3
    assert [row.access_method for row in found.rows] == ["heap", "heap2"] * 2


def test_access_methods_take_a_fixed_number_of_queries(
    loaded: None, stranger: Client, django_assert_num_queries: Any
) -> None:
    with django_assert_num_queries(18):
        text_of(stranger, "/access-methods/")


def test_access_methods_without_a_heap_have_values_and_no_ratio(loaded: None, stranger: Client) -> None:
    models.Configuration.objects.filter(dimensions__access_method="heap").delete()
    text = text_of(stranger, "/access-methods/")
    assert "10.54 s" in text and "×" not in text.replace("factors ×", "")


def test_a_wrong_question_about_access_methods_is_not_taken_for_a_missing_heap(loaded: None) -> None:
    with (
        patch("results.queries.presets.access_methods.compare", side_effect=TeitenError("Wrong.", where="baseline")),
        pytest.raises(TeitenError),
    ):
        access_methods()


def test_access_methods_without_results_say_what_to_do(stranger: Client) -> None:
    assert "No access method has been measured yet." in text_of(stranger, "/access-methods/")


def test_topologies_show_totals_means_of_a_node_and_efficiency(loaded: None, stranger: Client) -> None:
    text = text_of(stranger, "/topologies/")
    for shown in ("2,359 tps", "589.8 tps", "×2.286", "57.2 %", "94,876 tps", "100.7 %"):
        assert shown in text
    assert "as 430.2, recomputed 589.845" in text
    assert "no single node was measured in this run" in text
    assert len(figures(text)) == 8


def test_topologies_are_called_by_their_titles_in_another_language_than_english(stranger: Client) -> None:
    arrangements.arranged_run(replicates=3)
    assert '<th scope="row" class="name">streaming</th>' in text_of(stranger, "/topologies/")
    japanese = page_text(stranger.get("/topologies/", HTTP_ACCEPT_LANGUAGE="ja"))
    assert '<th scope="row" class="name">ストリーミングレプリケーション</th>' in japanese


def test_topologies_count_the_runs_without_transactions_per_second(loaded: None, stranger: Client) -> None:
    table = run_of("wg1-2012-table-3.1")
    models.Measurement.objects.filter(attempt__run=table, metric="tps").update(metric="ssb.query.seconds")
    text = text_of(stranger, "/topologies/")
    assert f"/runs/{table.pk}/" not in text
    assert "1 run of several servers has no transactions per second and is not shown." in text
    models.Measurement.objects.filter(metric="tps").update(metric="ssb.query.seconds")
    read_again()
    assert "No run of several servers has transactions per second." in text_of(stranger, "/topologies/")


def test_topologies_take_as_many_queries_whatever_the_number_of_tables(
    loaded: None, stranger: Client, django_assert_num_queries: Any
) -> None:
    with django_assert_num_queries(13):
        text_of(stranger, "/topologies/")
    models.Run.objects.filter(publication__slug="wg1-2012-table-3.1").delete()
    with django_assert_num_queries(13):
        text_of(stranger, "/topologies/")


def test_topologies_show_the_lag_of_the_standby_that_was_worst(stranger: Client) -> None:
    run = arrangements.arranged_run(replicates=3)
    lags = models.Measurement.objects.filter(attempt__run=run, metric="replication.lag_bytes", label="")
    for row in lags.filter(node="standby2"):
        models.Measurement.objects.filter(pk=row.pk).update(value=1024 * (1 + row.attempt.trial.block) ** 2)
    lags.filter(node="standby1").update(value=1024)
    text = text_of(stranger, "/topologies/")
    for shown in ("lag in WAL", "9 kB", "12 ms", "250 ms"):
        assert shown in text
    [table] = stranger.get("/api/v1/topologies/").json()["tables"]
    [line] = table["lines"]
    assert (line["lag_bytes"], line["lag_s"], line["catch_up_s"]) == (9 * 1024, 0.012, 0.25)


def test_topologies_without_standbys_have_no_columns_of_lag(loaded: None, stranger: Client) -> None:
    assert "lag in WAL" not in text_of(stranger, "/topologies/")


def test_topologies_without_results_say_what_to_do(done: models.Run, stranger: Client) -> None:
    assert "No run has more than one server yet." in text_of(stranger, "/topologies/")


def test_a_published_table_shows_what_disagrees_and_leads_to_its_trials(loaded: None, stranger: Client) -> None:
    text = text_of(stranger, "/published/wg1-2012-table-3.13/")
    assert "recomputed 589.845" in text and "the fourth node was left out" in text
    for trial in run_of("wg1-2012-table-3.13").trials.all():
        assert f"/trials/{trial.pk}/" in text
    file = stranger.get("/published/wg1-2012-table-3.13/file.csv")
    assert file.content == (FOLDER / "wg1-2012-table-3.13.csv").read_bytes()
    assert stranger.get("/published/nothing/").status_code == 404


def test_published_tables_take_few_queries(loaded: None, stranger: Client, django_assert_num_queries: Any) -> None:
    with django_assert_num_queries(1):
        assert text_of(stranger, "/published/").count("/published/") >= len(TABLES)
    with django_assert_num_queries(2):
        text_of(stranger, "/published/zfs-arc-2019/")


def test_without_published_tables_it_says_how_to_load_them(stranger: Client, admin: Client) -> None:
    assert "manage.py load_published" in text_of(stranger, "/published/")
    assert "manage.py load_published" in text_of(admin, "/")
    assert "manage.py load_published" not in text_of(stranger, "/")


def test_published_figures_are_marked_wherever_they_stand(loaded: None, member: Client) -> None:
    run = run_of("zfs-arc-2019")
    trial = run.trials.first()
    mark = 'class="badge published"'
    assert text_of(member, "/runs/").count(mark) == len(TABLES)
    page = text_of(member, f"/runs/{run.pk}/")
    assert mark in page and "no plan, no raw files" in page and "Repeat" not in page and "Plan as TOML" not in page
    page = text_of(member, f"/trials/{trial.pk}/")
    assert mark in page and "Published figure, no raw files" in page
    assert "/published/zfs-arc-2019/#line-2" in page and "/published/zfs-arc-2019/file.csv" in page
    assert mark in text_of(member, f"/compare/?run={run.pk}&series=zfs.recordsize&x=pattern")
    assert mark not in text_of(member, "/")


@pytest.mark.parametrize("verb", ["cancel", "retry", "repeat"])
def test_a_verb_on_a_published_run_is_refused_in_words(loaded: None, member: Client, verb: str) -> None:
    answer = member.post(f"/runs/{run_of('zfs-arc-2019').pk}/{verb}/")
    assert answer.status_code == 409
    assert "holds published figures" in page_text(answer)


def test_a_published_run_has_no_plan_to_download(loaded: None, member: Client) -> None:
    assert member.get(f"/runs/{run_of('zfs-arc-2019').pk}/plan.toml").status_code == 409


def test_the_home_page_leads_to_every_ready_view(stranger: Client) -> None:
    text = text_of(stranger, "/")
    for path in ("/versions/", "/access-methods/", "/topologies/", "/compare/", "/plans/ready/"):
        assert f'<a href="{path}"><b>' in text


def test_topologies_say_of_each_run_what_its_own_lines_mix(stranger: Client) -> None:
    factors = {"installation": ["16", "18"]}
    both = arrangements.arranged_run(factors=factors)
    one = arrangements.arranged_run(factors={"installation": ["16"]}, settings={"work_mem": "64MB"})
    models.Run.objects.update(started_at=datetime(2026, 3, 1, tzinfo=UTC))
    mixed = {table["run_id"]: table["mixed"] for table in stranger.get("/api/v1/topologies/").json()["tables"]}
    assert mixed == {both.pk: ["installation"], one.pk: []}
    text = text_of(stranger, "/topologies/")
    assert "Each line is over different values of installation." in text
    for run in (both, one):
        assert re.search(rf"run {run.pk}, <time[^>]*>2026-03-01", text)
