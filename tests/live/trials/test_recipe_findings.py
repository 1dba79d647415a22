"""Each ready plan, as its file says and as small as it goes, shows what it is for.

Not here: zheap's growth and zedstore's blocks, which need their builds; what ZFS caches; what tiny-tpcc, flash-oltp and
own-queries find out, which is a time; the capabilities, which test_capabilities has."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from results import models, runs
from results.domain import plan as plans
from results.domain.states import TrialState
from tests.live.trials.conftest import run_next, value
from tests.live.trials.test_access_method import SMALL as SMALL_PROFILE
from tests.live.trials.test_background import moments
from tests.ready_plans import RECIPES, compared, smaller
from workers import registry

Attempts = dict[str, models.Attempt]
TPCC = {"customers_per_district": 30, "items": 200}


@pytest.fixture
def run_recipe(agent: models.Agent) -> Callable[..., Attempts]:
    """Runs a ready plan once at this size, with these levels of its factors and changes: configuration → attempt."""

    def one(slug: str, installation: str, size: float, factors: dict[str, list[Any]], **changes: Any) -> Attempts:
        start(slug, installation, size, factors, **changes)
        attempts = {}
        while models.Trial.objects.filter(state=TrialState.WAITING).exists():
            attempt = run_next()
            assert attempt.error is None, attempt.error
            levels = attempt.trial.configuration.levels
            attempts[", ".join(str(levels[name]) for name in factors)] = attempt
        return attempts

    return one


def start(slug: str, installation: str, size: float, factors: dict[str, list[Any]], **changes: Any) -> models.Run:
    """Start a ready plan.

    factors: the labels or values that are left of each. parameters, settings: merged with the plan's."""
    recipe = RECIPES[slug]
    mapping = recipe.plan(size=size, agents={"primary": "live"}, **compared(recipe, [installation]))
    small = smaller(mapping, factors, **{"replicates": 1, "duration_s": 1} | changes)
    kinds = registry.kinds()
    return runs.create_run(plans.from_mapping(small, kinds), kinds, actor="test", as_admin=True)


def measured(attempt: models.Attempt, metric: str) -> dict[str, float]:
    """Label → value."""
    return dict(attempt.measurements.filter(metric_id=metric).values_list("label", "value"))


def checks(attempt: models.Attempt, node: str = "primary") -> dict[str, str]:
    return {check["name"]: check["actual"] for check in attempt.checks if check["node"] == node}


@pytest.mark.parametrize("installation", ["16", "18"])
def test_bulk_load_skips_most_wal(run_recipe: Callable[..., Attempts], installation: str) -> None:
    loads = run_recipe("wg1-bulk-load", installation, 10, {"wal": ["skipped", "written"]})
    skipped, written = loads["skipped"], loads["written"]
    assert value(skipped, "bulk.wal") < value(written, "bulk.wal") / 5
    assert value(written, "bulk.wal") > value(written, "bulk.file_bytes") == value(skipped, "bulk.file_bytes")
    assert value(skipped, "bulk.rows") == value(written, "bulk.rows")


def test_append_adds_ten_rows_a_transaction(run_recipe: Callable[..., Attempts]) -> None:
    for attempt in run_recipe("flash-append", "16", 10, {"clients": [1, 8]}).values():
        assert value(attempt, "append.rows") == 10 * value(attempt, "transactions") > 0


def test_a_background_checkpoint_is_seen_at_its_second_and_no_other(run_recipe: Callable[..., Attempts]) -> None:
    small = {"parameters": TPCC | {"background_at_s": 2}, "duration_s": 5, "warmup_s": 0}
    kept = {"background": ["none", "checkpoint"], "setting.autovacuum": ["off"]}
    run = run_recipe("wg1-background-work", "16", 1, kept, **small)
    assert [measured(run[name], "checkpoints")["requested"] for name in ("none, off", "checkpoint, off")] == [0, 1]
    [began] = moments(run["checkpoint, off"], "checkpoint", "checkpoint starting")
    assert 1.9 < began < 4
    assert moments(run["none, off"], "checkpoint", "checkpoint") == []


def test_updates_meet_neither_checkpoint_nor_autovacuum(run_recipe: Callable[..., Attempts]) -> None:
    for attempt in run_recipe("wg1-update-scaleup", "16", 1, {"clients": [1, 8]}).values():
        assert set(measured(attempt, "checkpoints").values()) == {0}
        assert [event for event in attempt.events if event["kind"] in ("checkpoint", "autovacuum")] == []


def test_reads_find_all_data_in_shared_buffers(run_recipe: Callable[..., Attempts]) -> None:
    """15 has pg_prewarm here."""
    for attempt in run_recipe("wg1-read-scaleup", "15", 1, {"clients": [1, 4]}).values():
        assert value(attempt, "buffers.hit_ratio", node="primary") > 99.9


def test_heap_keeps_dead_rows_and_reads_every_column_alike(run_recipe: Callable[..., Attempts]) -> None:
    [attempt] = run_recipe("wg1-access-methods-zheap", "16", 2000, {}, parameters=SMALL_PROFILE).values()
    assert value(attempt, "dead_tuples", label="foo") > 0
    assert value(attempt, "growth.bytes", label="grown") > 0
    blocks = measured(attempt, "scan.blocks")
    assert blocks["id"] == blocks["val10"] == blocks["val20"] > 0


def test_clients_compete_for_nine_workers_and_not_for_a_hundred(run_recipe: Callable[..., Attempts]) -> None:
    trials = run_recipe("wg1-ssb-parallel", "18", 0.05, {"clients": [4], "workers": ["none", "9", "100"]})
    planned, launched = (
        {label: value(attempt, f"ssb.explained.{name}") for label, attempt in trials.items()}
        for name in ("planned", "launched")
    )
    assert planned["4, none"] == 0
    assert 0 < launched["4, 9"] < planned["4, 9"] == planned["4, 100"] == launched["4, 100"]
    assert len(measured(trials["4, 9"], "ssb.explained.share")) > 1


def test_jit_compiles_where_it_is_on(run_recipe: Callable[..., Attempts]) -> None:
    """15 is built with LLVM here."""
    trials = run_recipe("wg1-ssb-jit", "15", 0.05, {"clients": [2], "setting.jit": ["off", "on"], "workers": ["9"]})
    assert value(trials["2, off, 9"], "ssb.jit.functions") == 0
    assert value(trials["2, on, 9"], "ssb.jit.functions") > 0
    steps = measured(trials["2, on, 9"], "ssb.jit.seconds")
    assert min(steps["inlining"], steps["optimization"], steps["emission"]) > 0


def test_the_primary_of_a_cascade_sends_to_one_standby_alone(run_recipe: Callable[..., Attempts]) -> None:
    few = {"parameters": {"clients": 4}, "threads": "2"}
    trials = run_recipe("wg1-cascading", "16", 1, {"standbys": ["0", "2"]}, **few)
    assert trials["0"].trial.configuration.spec["topology"] == "single"
    assert checks(trials["2"], "cascade")["stream from primary"] == "streaming"
    for standby in ("standby1", "standby2"):
        assert checks(trials["2"], standby)["stream from cascade"] == "streaming"


def test_every_server_behind_pgpool_gets_every_write(run_recipe: Callable[..., Attempts]) -> None:
    few = {"parameters": {"clients": 2}, "threads": "2"}
    [attempt] = run_recipe("wg1-pgpool-update", "16", 1, {"servers": ["2"], "way": ["pgpool-II"]}, **few).values()
    writes = [value(attempt, "pgpool.writes", node=node) for node in ("primary", "node2")]
    assert writes == pytest.approx([4 * value(attempt, "transactions")] * 2, rel=0.02)  # it counts without locks


def test_every_server_behind_pgpool_is_read(run_recipe: Callable[..., Attempts]) -> None:
    many = {"parameters": {"clients": 16}, "threads": "2"}  # each is sent to one of the two by chance
    [attempt] = run_recipe("wg1-pgpool-read", "16", 1, {"servers": ["2"], "way": ["pgpool-II"]}, **many).values()
    assert min(value(attempt, "pgpool.selects", node=node) for node in ("primary", "node2")) > 0


def test_shards_are_asked_at_once_or_one_after_the_other(run_recipe: Callable[..., Attempts]) -> None:
    trials = run_recipe(
        "fdw-shards", "15", 1, {"topology.shards": [2], "topology.async_capable": [False, True], "clients": [1]}
    )
    scans = [checks(attempt)["foreign scans of a range of pgbench_accounts"] for attempt in trials.values()]
    assert sorted(scans) == ["2, 0 of them at once", "2, 2 of them at once"]


def test_commits_wait_for_a_subscriber_or_not(run_recipe: Callable[..., Attempts]) -> None:
    levels = {"topology.subscribers": [1], "topology.synchronous": ["off", "remote_apply"]}
    trials = run_recipe("logical-subscribers", "16", 1, levels, parameters={"clients": 2})
    states = [checks(attempt, "subscriber1")["synchronous state"] for attempt in trials.values()]
    assert sorted(states) == ["async", "sync"]
