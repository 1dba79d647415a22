"""Parallel workers of the Star Schema Benchmark: counted without a word between server and client, and never in the way
of a query. The plan is the ready one, wg1-ssb-parallel, with nine workers for all."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from django.conf import settings as django_settings
from django.utils import timezone

from results import agents, models, runs
from results.agents import Contact
from results.domain import plan as plans
from results.domain.measurement import query_plans
from results.domain.plan.recipes import read_all
from results.domain.states import TrialState
from tests.live.trials.afterwards import Afterwards
from tests.live.trials.conftest import PATIENCE_S, run_next, value
from tests.live.trials.killing import beside
from workers import registry
from workers.bundle import reader

SOME = "q1.1, q2.1, q3.1, q4.1"
LARGE = {  # the small tables are scanned as if they were large, and hardly a block of them stays in shared buffers
    "min_parallel_table_scan_size": "0",
    "parallel_setup_cost": "0",
    "parallel_tuple_cost": "0",
    "shared_buffers": "1MB",
}


def started(installation: str, clients: int, parameters: dict[str, Any], **changes: Any) -> models.Run:
    kinds = registry.kinds()
    recipe = read_all(Path(django_settings.BASE_DIR) / "plans", kinds).find("wg1-ssb-parallel")
    assert recipe is not None
    mapping = recipe.plan(size=0.01, agents={"primary": "live"}, installations=[installation])
    nine = [level for level in mapping["factors"]["workers"] if level["label"] == "9"]
    mapping["factors"] |= {"clients": [clients], "workers": nine}
    settings = mapping["settings"] | LARGE | changes.pop("settings", {})
    own = {
        "replicates": 1,
        "collectors": [],
        "initdb": [],
        "parameters": mapping["parameters"] | parameters,
        "settings": settings,
    }
    mapping |= own | changes
    return runs.create_run(plans.from_mapping(mapping, kinds), kinds, actor="test")


def measured(attempt: models.Attempt, metric: str) -> dict[str, float]:
    """Label → value."""
    return dict(attempt.measurements.filter(metric_id=metric).values_list("label", "value"))


def explained(attempt: models.Attempt) -> list[dict[str, Any]]:
    """Each execution of the pass under EXPLAIN: client, query, workers planned and launched."""
    rows: list[dict[str, Any]] = attempt.documents.get(kind="explained").content
    return rows


@contextmanager
def cancelled_after(run: models.Run, seconds: float) -> Iterator[None]:
    """The run, if it is not over by then."""
    over = threading.Event()

    def cancel() -> None:
        if not over.wait(seconds):
            runs.cancel_run(run.pk, "test")

    with beside(cancel):
        try:
            yield
        finally:
            over.set()


def test_nine_workers_for_all_on_a_cold_server_five_times(
    agent: models.Agent, bundles: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The system's caches cannot be dropped here; the server's restart is real, and it reads every block."""
    monkeypatch.setattr("workers.postgres.database._MAY_DROP", "true")
    monkeypatch.setattr("workers.postgres.database._DROP", "sync")
    small = {"scale_factor": 0.02, "queries": SOME, "warmup_passes": 0}
    run = started("18", 3, small, replicates=5, cache="cold")
    with cancelled_after(run, PATIENCE_S):
        while models.Trial.objects.filter(run=run, state=TrialState.WAITING).exists():
            attempt = run_next()
            assert attempt.error is None, attempt.error
            files = reader.open_files(bundles / attempt.bundle)
            words = {path: files[path] for path in files if "/clients/" in path and path.endswith(".stderr")}
            assert words == dict.fromkeys(words, b"")
            assert len(words) == 1 + 3 + 3  # plans, workers, the timed queries
    assert models.Trial.objects.filter(run=run, state=TrialState.DONE).count() == 5


def test_the_server_s_counters_and_explain_agree_on_every_worker(agent: models.Agent, afterwards: Afterwards) -> None:
    """In a database made for this trial alone the server counts from the first worker on."""
    catalogue_unshared = {"min_parallel_table_scan_size": "1MB"}
    data = {"passes": 2, "warmup_passes": 0, "scale_factor": 0.03}
    started("18", 4, data, data="fresh", settings=catalogue_unshared)
    attempt = run_next()
    assert (attempt.error, attempt.gaps) == (None, [])
    columns = "parallel_workers_to_launch AS planned, parallel_workers_launched AS launched"
    [counted] = afterwards.query("18", f"SELECT {columns} FROM pg_stat_database WHERE datname = current_database()")
    alone = [query_plans.workers(document.content) for document in attempt.documents.filter(kind="plan")]
    for place, name in enumerate(("planned", "launched")):
        in_the_clock = measured(attempt, f"ssb.workers.{name}")[""]
        in_the_pass = measured(attempt, f"ssb.explained.{name}")[""]
        assert in_the_pass == sum(row[name] for row in explained(attempt))
        assert counted[name] == in_the_clock + in_the_pass + sum(workers[place] for workers in alone)
    assert 0 < measured(attempt, "ssb.workers.launched")[""] <= measured(attempt, "ssb.workers.planned")[""]
    assert measured(attempt, "ssb.workers.planned")[""] == 2 * measured(attempt, "ssb.explained.planned")[""]


def test_the_statistics_take_no_worker_from_the_queries(agent: models.Agent) -> None:
    """However cheap the plan has made them: the server counts every one that somebody asked for."""
    started("18", 3, {"passes": 8}, collectors=["pg_stat"])
    attempt = run_next()
    assert (attempt.error, attempt.gaps) == (None, [])
    assert len(attempt.series.get(name="backends.active").values) >= 2
    assert value(attempt, "ssb.workers.launched") > 0


@pytest.mark.parametrize("version", ["11", "12", "16", "17", "18"])
def test_clients_take_workers_from_each_other(
    agent: models.Agent, every_version: Contact, bundles: Path, version: str
) -> None:
    """What wg1-ssb-parallel is for, on every version: with no more workers for all than one query asks for, some
    executions get none and some all, and their shares are told."""
    agents.record_contact(agent.pk, every_version, timezone.now())
    started(version, 4, {"queries": SOME})
    attempt = run_next()
    assert (attempt.error, attempt.gaps) == (None, [])
    shares = measured(attempt, "ssb.explained.share")
    assert len(shares) > 1 and sum(shares.values()) == pytest.approx(100)
    planned, launched = (measured(attempt, f"ssb.explained.{name}") for name in ("planned", "launched"))
    assert 0 < launched[""] < planned[""]
    assert {row["client"] for row in explained(attempt)} == {1, 2, 3, 4}
    assert attempt.measurements.filter(metric_id="ssb.workers.launched").exists() == (version == "18")
    assert value(attempt, "ssb.workers.planned") == planned[""]


def test_one_client_gets_its_workers_as_its_plans_say(agent: models.Agent) -> None:
    started("18", 1, {"queries": "q1.1, q2.1", "passes": 3})
    attempt = run_next()
    assert (attempt.error, attempt.gaps) == (None, [])
    plan = {document.label: query_plans.workers(document.content) for document in attempt.documents.filter(kind="plan")}
    assert {row["query"]: (row["planned"], row["launched"]) for row in explained(attempt)} == plan
    assert "workload/workers/clients/1.stdout" not in {file["path"] for file in attempt.files}
    assert value(attempt, "ssb.workers.launched") == 3 * sum(launched for _, launched in plan.values())
