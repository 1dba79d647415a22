"""One trial's page and its raw files."""

from __future__ import annotations

import hashlib
import json
import re
from pathlib import Path
from typing import Any

import pytest
from django.test import Client

from results import models
from results.queries.runs.trials import MeasurementRow
from tests import arrangements, factories
from tests.page_text import page_text
from tests.step_runs import bulk_load_run
from webapp.pages.trial_tables import by_load, facts, groups, tables


def first(run: models.Run) -> models.Trial:
    trial = run.trials.select_related("configuration").order_by("position").first()
    assert trial is not None
    return trial


@pytest.fixture
def trial(db: None, tmp_path: Path) -> models.Trial:
    """Done, with its bundle."""
    trial = first(factories.run())
    factories.finish(trial, 1235.4, bundles=tmp_path)
    return trial


def text_of(client: Client, path: str) -> str:
    answer = client.get(path)
    assert answer.status_code == 200
    return page_text(answer)


def test_the_page_shows_all_that_the_bundle_says(
    trial: models.Trial, stranger: Client, django_assert_max_num_queries: Any
) -> None:
    with django_assert_max_num_queries(11):
        text = text_of(stranger, f"/trials/{trial.pk}/")
    for expected in (
        "1,235 tps",
        "1 check passed before the measurement",
        "shared_buffers",
        "128MB",
        "checkpoint starting: time",
        "sar is not installed",
        "pgbench -c 1 -T 5 &#x27;bench&#x27;",
        "workload/stdout.txt",
        "The other replicates",
        'id="timeline"',
        "CPU in user mode",
    ):
        assert expected in text


def test_a_plan_of_a_query_is_one_click_away(
    trial: models.Trial, stranger: Client, django_assert_max_num_queries: Any
) -> None:
    address = f"/trials/{trial.pk}/1/plan/q1/"
    assert address in text_of(stranger, f"/trials/{trial.pk}/")
    with django_assert_max_num_queries(2):
        assert "Seq Scan" in text_of(stranger, address)
    assert stranger.get(f"/trials/{trial.pk}/1/plan/q2/").status_code == 404


def test_a_failed_trial_shows_its_error_unchanged(db: None, stranger: Client) -> None:
    trial = first(factories.run())
    factories.fail(
        trial,
        "pgbench was aborted.",
        why="FATAL:  out of <memory>",
        kind="command",
        command="pgbench -c 9",
        exit_status=2,
        stderr="client 3 aborted",
        stdout="scaling factor: 1",
        host="db1",
    )
    text = text_of(stranger, f"/trials/{trial.pk}/")
    for expected in (
        "Why: out of &lt;memory&gt;",
        "pgbench was aborted.",
        "FATAL:  out of &lt;memory&gt;",
        "pgbench -c 9",
        "client 3 aborted",
        "scaling factor: 1",
        "2 on db1",
        "See the log.",
        "are in no median",
    ):
        assert expected in text


def test_a_waiting_trial_says_that_it_waits(db: None, stranger: Client) -> None:
    assert "It waits for its turn on db1" in text_of(stranger, f"/trials/{first(factories.run()).pk}/")


def test_every_attempt_can_be_looked_at(db: None, stranger: Client) -> None:
    trial = first(factories.run())
    factories.fail(trial, "The agent vanished.")
    trial.state = "waiting"
    trial.save()
    factories.finish(trial)
    text = text_of(stranger, f"/trials/{trial.pk}/")
    assert "The agent vanished." in text
    assert "attempt 2" in text
    before = text_of(stranger, f"/trials/{trial.pk}/?attempt=1")
    assert "This is not the attempt that counts." in before
    assert stranger.get(f"/trials/{trial.pk}/?attempt=9").status_code == 404


def test_raw_files_are_shown_as_plain_text_or_downloaded(trial: models.Trial, stranger: Client) -> None:
    shown = stranger.get(f"/trials/{trial.pk}/1/file/workload/stdout.txt")
    assert shown["Content-Type"] == "text/plain; charset=utf-8"
    assert shown.content == factories.RAW_FILES["workload/stdout.txt"]
    loaded = stranger.get(f"/trials/{trial.pk}/1/file/workload/stdout.txt?download")
    assert loaded["Content-Disposition"] == 'attachment; filename="stdout.txt"'


def test_the_bundle_is_the_archive_to_the_last_bit(trial: models.Trial, stranger: Client) -> None:
    answer = stranger.get(f"/trials/{trial.pk}/1/bundle/")
    content = b"".join(answer.streaming_content)  # type: ignore[attr-defined]
    attempt = models.Attempt.objects.get(trial=trial)
    assert hashlib.sha256(content).hexdigest() == attempt.bundle_sha256


@pytest.mark.parametrize("name", ["../../secret", "..%2f..%2fsecret", "/etc/passwd", "nothing.txt", "workload"])
def test_no_path_leads_out_of_the_bundle(name: str, trial: models.Trial, stranger: Client, tmp_path: Path) -> None:
    (tmp_path / "secret").write_text("secret")
    assert stranger.get(f"/trials/{trial.pk}/1/file/{name}").status_code == 404


def test_a_bundle_that_is_gone_is_a_problem_not_a_crash(trial: models.Trial, stranger: Client) -> None:
    models.Attempt.objects.update(bundle="gone.tar.gz")
    answer = stranger.get(f"/trials/{trial.pk}/1/bundle/")
    assert answer.status_code == 400
    assert "The bundle is not in the archive." in page_text(answer)
    models.Attempt.objects.update(bundle="../../etc/passwd")
    assert stranger.get(f"/trials/{trial.pk}/1/bundle/").status_code == 400


def test_a_failed_trial_is_retried_and_a_waiting_one_cancelled(db: None, member: Client) -> None:
    trial = first(factories.run())
    factories.fail(trial)
    assert "Retry" in text_of(member, f"/trials/{trial.pk}/")
    member.post(f"/trials/{trial.pk}/retry/")
    trial.refresh_from_db()
    assert trial.state == "waiting"
    member.post(f"/trials/{trial.pk}/cancel/")
    trial.refresh_from_db()
    assert trial.state == "cancelled"


def test_a_done_trial_is_not_retried(trial: models.Trial, member: Client) -> None:
    answer = member.post(f"/trials/{trial.pk}/retry/")
    assert answer.status_code == 409
    assert "only a failed or cancelled one" in page_text(answer)


def row(metric: str, node: str = "", label: str = "", value: float = 1.0) -> MeasurementRow:
    return MeasurementRow(metric, "1", metric, "neither", node, label, value, "")


def test_numbers_are_grouped_with_the_headline_first_and_nodes_side_by_side() -> None:
    rows = [
        row("cpu.user", "primary"),
        row("cpu.user", "client"),
        row("transactions"),
        row("tps"),
        row("tps", label="b"),
        row("latency.p99", "client"),
        row("phase.seconds", label="load"),
        row("something.new"),
    ]
    groups_by_title = {group.title: group for group in groups(rows, "tps")}
    assert [line.row.metric for line in groups_by_title["Results"].lines] == ["tps", "something.new", "transactions"]
    assert [line.row.label for line in groups_by_title["Results by part"].lines] == ["b"]
    assert groups_by_title["CPU"].nodes == ("client", "primary")
    assert len(groups_by_title["CPU"].lines) == 1
    assert groups_by_title["Latency"].nodes == ()
    assert "Phases" not in groups_by_title


def test_waits_and_functions_come_largest_first() -> None:
    rows = [row("waits", "primary", label, size) for label, size in (("a", 1.0), ("b", 3.0), ("c", 2.0))]
    [group] = groups(rows, "tps")
    assert [line.row.label for line in group.lines] == ["b", "c", "a"]


def test_metrics_that_share_their_labels_stand_in_one_table() -> None:
    queries = [row(metric, label=f"q{n}") for metric in ("seconds", "rows") for n in (1, 2, 3)]
    alone = [row("waits", "primary", label) for label in ("a", "b", "c")]
    total, few = row("seconds"), [row(metric, label=label) for metric in ("x", "y") for label in ("1", "2")]
    [table], rest = tables([*queries, *alone, total, *few])
    assert [column.metric for column in table.columns] == ["seconds", "rows"]
    assert [(label, [cell.metric for cell in cells]) for label, cells in table.lines] == [
        (f"q{n}", ["seconds", "rows"]) for n in (1, 2, 3)
    ]
    assert rest == [*alone, total, *few]


def test_labels_are_in_the_order_in_which_the_trial_reported_them() -> None:
    steps = [row("load.seconds", label=label) for label in ("copy", "keys", "analyze")]
    [group] = groups(steps, "tps")
    assert (group.title, [line.row.label for line in group.lines]) == ("Results by part", ["copy", "keys", "analyze"])


def test_numbers_stand_before_what_can_be_done_figures_and_files(trial: models.Trial, stranger: Client) -> None:
    text = text_of(stranger, f"/trials/{trial.pk}/").partition("<main")[2]
    places = [
        text.index(words)
        for words in (
            "1,235 tps",
            'class="facts"',
            "The other replicates",
            "<h2>Results</h2>",
            'class="tools"',
            'id="time"',
            "CPU in user mode",
            "Commands, exactly as run",
            "Raw files",
        )
    ]
    assert places == sorted(places)


def test_a_load_shows_its_steps_one_after_the_other(db: None, stranger: Client) -> None:
    text = text_of(stranger, f"/trials/{first(bulk_load_run()).pk}/")
    assert "Bulk load, one step after the other" in text
    (figure,) = re.findall(r'<script id="steps-1" type="application/json">(.*?)</script>', text)
    assert json.loads(figure)["layout"]["yaxis"]["title"]["text"] == "step"


def test_a_trial_of_no_steps_has_no_figure_of_them(trial: models.Trial, stranger: Client) -> None:
    assert "after the other" not in text_of(stranger, f"/trials/{trial.pk}/")


def test_facts_are_totals() -> None:
    assert [fact.label for fact in facts([row("latency.p99", label="a"), row("latency.p50"), row("failed")])] == [
        "p50",
        "failed",
    ]


def test_what_a_failover_cost_stands_first_and_together() -> None:
    rows = [row(metric) for metric in ("tps", "latency.p50", "ledger.lost", "failover.outage", "failover.failed")]
    assert [fact.label for fact in facts(rows)] == ["without service", "acknowledged, lost", "failed", "p50"]
    groups_by_title = {group.title: [line.row.metric for line in group.lines] for group in groups(rows, "tps")}
    assert groups_by_title["Failover"] == ["failover.failed", "failover.outage", "ledger.lost"]
    assert groups_by_title["Results"] == ["tps"]


@pytest.mark.parametrize("state", ["waiting", "running", "failed"])
def test_a_trial_without_numbers_shows_those_of_its_replicates(state: str, db: None, stranger: Client) -> None:
    """The first of a run: what has no headline number itself stands beside one that has."""
    run = factories.run()
    trial = first(run)
    other = run.trials.select_related("configuration").filter(configuration=trial.configuration).exclude(pk=trial.pk)[0]
    factories.finish(other, 1235.4)
    if state == "running":
        factories.begin(trial)
    if state == "failed":
        factories.fail(trial)
        models.Measurement.objects.filter(attempt__trial=trial).delete()
    assert f"replicate {other.block}: 1,235 tps" in text_of(stranger, f"/trials/{trial.pk}/")


def test_only_the_latest_attempt_of_a_trial_that_goes_on_is_asked_for_again(db: None, stranger: Client) -> None:
    trial = first(factories.run())
    assert f'hx-get="/trials/{trial.pk}/"' in text_of(stranger, f"/trials/{trial.pk}/")
    factories.fail(trial)
    assert "every 3s" not in text_of(stranger, f"/trials/{trial.pk}/")
    factories.begin(trial)
    assert "every 3s" not in text_of(stranger, f"/trials/{trial.pk}/?attempt=1")
    assert f'hx-get="/trials/{trial.pk}/?attempt=2"' in text_of(stranger, f"/trials/{trial.pk}/?attempt=2")


def test_a_trial_of_several_servers_draws_them_with_as_many_queries(
    db: None, stranger: Client, django_assert_num_queries: Any
) -> None:
    counts = []
    for standbys in (1, 4):
        run = arrangements.arranged_run(topology_parameters={"standbys": standbys, "load": "both"}, synchronous=False)
        with django_assert_num_queries(11):
            text = text_of(stranger, f"/trials/{run.trials.get().pk}/")
        counts.append(text.count("stream from primary: streaming, async"))
        for shown in (
            "PostgreSQL 16.9 on",
            "load from client (4 clients)",
            "the same host as primary",
            "CPU busy",
            "Replication lag in WAL",
            "mean per node",
        ):
            assert shown in text
    assert counts == [1, 4]


def test_a_trial_that_waits_shows_what_it_is_to_run_on(db: None, stranger: Client) -> None:
    text = text_of(stranger, f"/trials/{first(factories.run()).pk}/")
    assert "load from client (1 client)" in text or "load from client (4 clients)" in text
    assert "CPU busy" not in text


LOADS = [
    {"name": "primary", "client": "client", "server": "primary", "workload": True},
    {"name": "node2", "client": "client", "server": "node2", "workload": True},
]


def test_several_loads_stand_in_a_table_with_total_and_mean() -> None:
    rows = [
        row("tps", value=300.0),
        row("tps", "primary", value=100.0),
        row("tps", "node2", value=200.0),
        row("latency.p99", value=9.0),
        row("latency.p99", "node2", value=8.0),
        row("cpu.user", "primary"),
        row("transactions.committed", "primary"),
        row("tps", "primary", "script 1"),
    ]
    shown_tables, rest = by_load(rows, LOADS)
    assert shown_tables is not None
    assert shown_tables.noun == "node"
    assert [column.metric for column in shown_tables.columns] == ["tps", "latency.p99"]
    assert [(name, [cell and cell.value for cell in cells]) for name, cells in shown_tables.lines] == [
        ("primary", [100.0, None]),
        ("node2", [200.0, 8.0]),
    ]
    assert [total.value for total in shown_tables.totals if total] == [300.0, 9.0]
    assert shown_tables.means == (150.0, None), "a mean of percentiles says nothing"
    assert [(one.metric, one.node) for one in rest] == [
        ("tps", ""),
        ("latency.p99", ""),
        ("cpu.user", "primary"),
        ("transactions.committed", "primary"),
        ("tps", "primary"),
    ]


def test_what_reads_beside_the_workload_is_in_no_mean() -> None:
    rows = [row("tps", value=100.0), row("tps", "primary", value=100.0), row("tps", "node2", value=900.0)]
    shown_tables, _ = by_load(rows, [LOADS[0], LOADS[1] | {"workload": False}])
    assert shown_tables is not None
    assert (shown_tables.beside, shown_tables.means) == (("node2",), (100.0,))


def test_several_clients_of_one_server_are_told_apart_as_clients() -> None:
    loads = [{"name": c, "client": c, "server": "primary", "workload": True} for c in ("client", "client2")]
    shown_tables, _ = by_load([row("tps"), row("tps", "client"), row("tps", "client2")], loads)
    assert shown_tables is not None and shown_tables.noun == "client"
    assert by_load([row("tps")], LOADS[:1])[0] is None


def test_a_group_of_many_nodes_takes_the_whole_width_in_the_order_of_their_numbers() -> None:
    rows = [row("replication.lag", f"standby{number}") for number in (10, 1, 2, 3)]
    [group] = groups(rows, "tps")
    assert (group.title, group.wide) == ("Replication", True)
    assert group.nodes == ("standby1", "standby2", "standby3", "standby10")


def test_tables_of_further_nodes_are_folded_up() -> None:
    rows = [
        row(metric, node, label=label)
        for node in ("primary", "standby1")
        for metric in ("size.table", "size.index", "replication.lag")
        for label in ("a", "b", "c")
    ]
    shown_tables, rest = tables(rows)
    assert [(table.title, table.node, table.again) for table in shown_tables] == [
        ("Sizes", "primary", False),
        ("Sizes", "standby1", True),
    ]
    assert {one.metric for one in rest} == {"replication.lag"}, "stages of a lag are no table of their own"


def test_a_trial_whose_agents_are_not_known_is_shown(done: models.Run, stranger: Client) -> None:
    models.Configuration.objects.filter(run=done).update(spec={})
    assert stranger.get(f"/trials/{done.trials.latest('pk').pk}/").status_code == 200
