"""What a plan would take: only what can be known."""

from __future__ import annotations

from importlib import import_module
from typing import Any

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext
from django.utils import timezone

from results import models
from results.domain.errors import PlanError
from results.preview import Preview, preview
from results.queries.runs.runs import run_detail
from tests import factories
from workers.registry import kinds

pytestmark = pytest.mark.django_db
WINDOW_S, WHOLE_S = 5, 9  # of `factories.parsed`


def queries(**parameters: Any) -> dict[str, Any]:
    return {
        "workload": "script",
        "factors": {"installation": ["16"]},
        "parameters": {"form": "queries", "text": "SELECT 1;"} | parameters,
    }


def previewed(**changes: Any) -> Preview:
    return preview(factories.a_plan(**changes), kinds())


def finished(**changes: Any) -> models.Run:
    run = factories.run(**changes)
    for trial in run.trials.select_related("configuration"):
        factories.finish(trial, 1.0)
    return run


@pytest.fixture(autouse=True)
def _agent(db: None) -> None:
    factories.agent()


def test_work_that_was_never_done_has_a_guess_that_says_so() -> None:
    preview = previewed(**queries())
    assert preview.guess and preview.seconds > 0
    assert preview.seconds_from == (
        "how long such work typically takes and how fast such data typically load: "
        "no trial of this workload has run yet"
    )


def test_the_guess_of_a_pass_of_queries_counts_the_passes_before_the_clock() -> None:
    timed = {"workload": "ssb", "data": "reuse", "parameters": {"scale_factor": 0.5, "passes": 1, "explain": False}}
    warmed = timed | {"parameters": timed["parameters"] | {"warmup_passes": 1, "explain": True}}
    cold, warm = (
        preview(factories.a_plan(**plan, factors={"installation": ["16"]}), kinds()) for plan in (timed, warmed)
    )
    pass_s = 13 * (0.05 + 0.35 * 0.5)
    assert warm.seconds - cold.seconds == pytest.approx(2 * 2 * pass_s)  # two more passes in each of two replicates


def test_the_guess_of_a_load_that_is_measured_does_not_count_it_twice() -> None:
    plan = {"workload": "bulk_load", "data": "fresh", "factors": {"installation": ["16"]}}
    small, large = (
        preview(factories.a_plan(**plan, parameters={"size_mb": size}), kinds()).seconds for size in (100, 300)
    )
    assert large - small == pytest.approx(2 * 200 / 20)  # megabytes of either replicate at 20 a second


def test_work_that_was_done_takes_as_long_again() -> None:
    finished(**queries())
    preview = previewed(**queries(), replicates=4)
    assert (preview.seconds, preview.guess) == (pytest.approx(WHOLE_S * 4), False)
    assert preview.seconds_from == (
        "the measured windows of past trials with the same parameters and the median overhead of 2 past trials"
    )


def test_other_work_says_nothing_of_it() -> None:
    finished(**queries())
    assert previewed(**queries(scale=1000)).guess
    some = queries() | {"factors": {"installation": ["16"], "scale": [1, 1000]}}
    assert previewed(**some).seconds_from.startswith("how long such work typically takes of 1 of 2 configurations and")


def test_a_failed_trial_says_nothing_of_how_long_the_work_takes() -> None:
    run = factories.run(**queries())
    for trial in run.trials.select_related("configuration"):
        factories.fail(trial)
    assert previewed(**queries()).guess


def test_a_run_by_duration_is_estimated_as_ever() -> None:
    assert previewed(replicates=2).seconds_from == (
        "durations and how fast such data typically load: no trial of this workload has run yet"
    )
    finished()
    preview = previewed(replicates=2)
    assert preview.seconds == pytest.approx(8 * WHOLE_S)
    assert preview.seconds_from == "the median overhead of 8 past trials"


def test_a_setup_of_ones_own_has_no_known_size() -> None:
    unknown = previewed(**queries(setup="CREATE TABLE a AS SELECT 1;"))
    assert (unknown.disk_bytes, unknown.guess) == (None, True)
    assert previewed(**queries()).disk_bytes == 0


@pytest.mark.parametrize("data", ["reuse", "template", "fresh"])
def test_data_that_every_trial_loads_takes_longer_than_data_that_trials_share(data: str) -> None:
    small, large = (previewed(data=data, parameters={"scale": scale}).seconds for scale in (1, 100))
    trials, installations, load_s = 8, 2, 99 * 15.5e6 / 30e6
    loads = {"reuse": installations, "template": installations + trials / 5, "fresh": trials}[data]
    assert large - small == pytest.approx(load_s * loads, rel=0.05)


def test_an_estimate_costs_one_query_more_where_it_rests_on_past_windows() -> None:
    counts = []
    for plan in (
        queries(form="pgbench"),
        queries(),
        queries() | {"factors": {"installation": ["16"], "scale": [1, 2, 3]}},
    ):
        with CaptureQueriesContext(connection) as made:
            previewed(**plan)
        counts.append(len(made))
    assert counts[1] == counts[2] <= counts[0] + 1


def test_a_run_of_such_work_tells_no_rest_before_a_trial_of_each_configuration_is_done() -> None:
    run = factories.run(**queries())
    assert run_detail(run.pk, timezone.now()).left_s is None
    first = run.trials.select_related("configuration").order_by("position")[0]
    factories.finish(first, 1.0)
    assert run_detail(run.pk, timezone.now()).left_s == pytest.approx(WHOLE_S)
    assert "duration_s" not in run.configurations.get().dimensions


def profile(duration_s: float, **parameters: Any) -> dict[str, Any]:
    """The access-method profile, of which TPC-B alone runs for the plan's duration."""
    return {
        "workload": "access_method",
        "duration_s": duration_s,
        "factors": {"installation": ["16"]},
        "parameters": {"rows": 1000} | parameters,
    }


def test_a_duration_that_a_part_of_the_work_runs_for_is_a_dimension_of_that_part() -> None:
    [short] = factories.run(**profile(5)).configurations.all()
    [long] = factories.run(**profile(600)).configurations.all()
    [without] = factories.run(**profile(600, tpcb=False)).configurations.all()
    durations = [row.dimensions.get("tpcb.duration_s") for row in (short, long, without)]
    assert durations == [5, 600, None]
    assert "duration_s" not in short.dimensions | without.dimensions
    before = {row.pk: row.dimensions for row in (short, long, without)}
    with connection.cursor() as cursor:
        cursor.execute("UPDATE results_configuration SET dimensions = dimensions - 'tpcb.duration_s'")
        cursor.execute(import_module("results.migrations.0005_duration_of_a_part").PARTS)
    assert dict(models.Configuration.objects.values_list("pk", "dimensions")) == before


def test_work_of_which_a_part_ran_for_another_duration_says_nothing_of_how_long_it_takes() -> None:
    finished(**profile(5))
    finished(**profile(5, tpcb=False))
    assert previewed(**profile(5)).seconds == pytest.approx(WHOLE_S * 2)
    assert previewed(**profile(600)).guess and previewed(**profile(600)).seconds > 600
    assert previewed(**profile(600, tpcb=False)).seconds == pytest.approx(WHOLE_S * 2)


def test_a_script_is_a_dimension_by_its_hash_and_stays_whole_in_the_trial() -> None:
    run = factories.run(**queries())
    [row] = run.configurations.all()
    assert row.dimensions["text"] == "SHA-256 17db4fd369ed"
    assert row.spec["parameters"]["text"] == "SELECT 1;"
    assert (row.dimensions["setup"], row.dimensions["form"]) == ("", "queries")


def test_an_installation_without_an_extension_that_the_topology_needs_is_refused() -> None:
    sharded = {"topology": "fdw", "factors": {"installation": ["16"]}}
    with pytest.raises(PlanError) as refused:
        previewed(**sharded)
    [problem] = refused.value.problems
    assert (problem.field, "has no postgres_fdw" in problem.what) == ("factors.installation", True)
    models.Installation.objects.update(extensions=[])
    assert previewed(**sharded).trials > 0, "what no contact has told is found out by trying"
    models.Installation.objects.update(extensions=["plpgsql", "postgres_fdw"])
    with CaptureQueriesContext(connection) as of_a_sharded_plan:
        assert previewed(**sharded).trials > 0
    with CaptureQueriesContext(connection) as of_a_single_server:
        previewed(factors={"installation": ["16"]})
    assert len(of_a_sharded_plan) == len(of_a_single_server) + 1


def test_a_program_that_a_role_needs_and_its_agent_lacks_is_refused() -> None:
    pooled: dict[str, Any] = {"topology": "pgpool", "agents": {"primary": "db1", "pooler": "db2"}}
    other = factories.agent("db2")
    with pytest.raises(PlanError) as refused:
        previewed(**pooled)
    [problem] = refused.value.problems
    what = "Agent db2 has no program pgpool, which the topology pgpool needs."
    assert (problem.field, problem.what) == ("agents.pooler", what)
    assert problem.todo.startswith("Install it there (Debian, Ubuntu: apt-get install pgpool2; Fedora: dnf install ")
    assert previewed(**pooled, topology_parameters={"through": "direct"}).trials
    models.Agent.objects.filter(pk=other.pk).update(tools={"pgpool": "/usr/sbin/pgpool pgpool-II version 4.3.5"})
    assert previewed(**pooled).trials
    models.Agent.objects.filter(pk=other.pk).update(tools={}, facts_at=None)
    assert previewed(**pooled).trials


def test_disk_is_counted_for_each_agent_and_place_and_compared_with_what_is_free_there() -> None:
    factories.agent("db2")
    models.Agent.objects.update(
        places={"ssd": "/mnt/ssd", "hdd": "/mnt/hdd"},
        disk={"free_bytes": 50 * 2**30, "places": {"/mnt/ssd": 10 * 2**30, "/mnt/hdd": 90 * 2**30}},
    )
    spread = {"topology": "streaming", "topology_parameters": {"standbys": 2}, "factors": {"installation": ["16"]}}
    plan = spread | {"agents": {"primary": "db1", "standby": "db2"}, "parameters": {"scale": 2000}}

    def warned(**changes: Any) -> list[str]:
        return [warning.text for warning in previewed(**plan | changes).warnings if "free" in warning.text]

    assert warned() == ["59.74 GB of data and WAL, 50 GB free on db2."]
    assert warned(host={"data": "hdd"}) == []
    assert warned(host={"wal": "ssd", "data": "hdd"}) == []
    assert [text.split(" free ")[1] for text in warned(host={"data": "ssd"})] == [
        "in place ssd of db2.",
        "in place ssd of db1.",
    ]


def test_builds_of_which_only_some_can_compile_queries_are_warned_of() -> None:
    models.Installation.objects.filter(name="postgresql-18.1").update(has_jit=True)
    queries = {"workload": "ssb", "parameters": {}, "factors": {"installation": ["16", "18"]}}

    def warned(**changes: Any) -> list[str]:
        made = preview(factories.a_plan(**queries | changes), kinds())
        return [warning.text for warning in made.warnings if "(JIT)" in warning.text]

    [text] = warned()
    assert "postgresql-18.1 can compile queries (JIT) and postgresql-16.9 cannot" in text
    assert warned(settings={"jit": "off"}) == []
    models.Installation.objects.update(has_jit=True)
    assert warned() == []


def test_a_plan_that_means_each_version_with_its_own_client_is_warned_of_where_that_is_part_of_its_numbers() -> None:
    """The installations of the agent have their own psql and pgbench."""
    for row in models.Installation.objects.all():
        row.client_bin = row.bin_dir
        row.save()

    def warned(**changes: Any) -> list[str]:
        return [one.text for one in previewed(**changes).warnings if one.field == "client_programs"]

    assert warned(client_programs="own") == [
        "Each PostgreSQL is measured with its own pgbench (16.9, 18.1), whose own speed is part of every difference."
    ]
    assert warned() == warned(client_programs="newest") == []
    assert warned(client_programs="own", factors={"installation": ["16"]}) == []
    by_psql = {"workload": "ssb", "parameters": {}, "factors": {"installation": ["16", "18"]}}
    assert warned(client_programs="own", **by_psql) == []


def test_builds_of_which_only_some_have_the_default_compression_are_warned_of() -> None:
    """From PostgreSQL 19 the default is lz4 where it is built in."""
    models.Agent.objects.all().delete()
    factories.agent(versions={"16.9": 160009, "19.0": 190000, "20.0": 200000})
    probed = {"19": "pglz,lz4", "20": "pglz"}
    for row in models.Installation.objects.filter(version_num__gte=190000):
        line = f"default_toast_compression|enum||user|||{probed[row.version[:2]]}"
        models.InstallationSettings.objects.create(installation=row, lines=[line])

    def warned(versions: list[str], **changes: Any) -> list[str]:
        made = previewed(factors={"installation": versions}, **changes)
        return [one.text for one in made.warnings if "lz4" in one.text]

    [text] = warned(["19", "20"])
    assert "postgresql-19.0 compresses long values by lz4 and postgresql-20.0, built without it, by pglz" in text
    assert warned(["16", "20"]) == warned(["19"]) == []
    assert warned(["19", "20"], settings={"default_toast_compression": "pglz"}) == []
    models.InstallationSettings.objects.filter(installation__version="20.0").update(
        lines=["default_toast_compression|enum||user|||pglz,lz4"]
    )
    assert warned(["19", "20"]) == []
