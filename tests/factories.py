"""Things for tests: agents, plans, runs with finished trials. Made by the very functions that Teiten uses."""

from __future__ import annotations

import hashlib
import math
import random
from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from types import MappingProxyType
from typing import Any

from django.contrib.auth.models import User
from django.utils import timezone
from django_celery_beat.models import PeriodicTask

from results import ingest, models, reports, runs, snapshots
from results.agents import Contact, DiscoveredInstallation, record_contact
from results.checked_builds import store_checked_builds
from results.cron import crontab
from results.domain import plan
from results.domain.environment.layers import Layer, LayerKind
from results.domain.kinds.host_factors import Change, HostFactor
from results.domain.kinds.host_factors import read as read_host_factors
from results.domain.matrix.clusters import AgentCluster, ClusterState
from results.domain.measurement.histogram import HeatMap, Histogram
from results.domain.measurement.metrics import Better, Metric
from results.domain.measurement.parsed_trial import (
    Check,
    CommandRun,
    Document,
    Event,
    Gap,
    Latencies,
    LayerUse,
    Measurement,
    ParsedTrial,
    PhaseTiming,
    RawFile,
)
from results.domain.measurement.series import Series
from results.domain.packing import pack
from results.domain.plan import Plan
from results.domain.states import Standing
from results.hostfactors import define, note_changes
from results.models.audit import Role, Scope
from results.pruning import record_inventory
from results.reports import Text
from results.runs import create_run
from results.stored_plans import save_plan, schedule_plan
from webapp import citations
from webapp.access import new_token
from webapp.reports.blocks import Shelf
from webapp.reports.publishing import publish
from webapp.reports.source import block
from workers.registry import kinds

NO_ID = 2**50  # of no row: no sequence of a test's database comes so far

HOST_FACTOR = """
[cpu_governor]
help = "How the kernel sets the clock of the processors."
show = "cat /sys/governor"
revert = 'echo "$1" >/sys/governor'
needs_stopped_servers = true
[cpu_governor.levels.performance]
apply = "echo performance >/sys/governor"
check = "cat /sys/governor"
expected = "performance"
[cpu_governor.levels.powersave]
apply = "echo powersave >/sys/governor"
check = "grep -qx powersave /sys/governor"
"""
TWINS: list[dict[str, Any]] = [{"label": label, "values": {}} for label in ("A", "A again")]
DATA = Path(__file__).parent / "data"
STARTED = datetime(2026, 1, 1, 12, tzinfo=UTC)
RAW_FILES = {"workload/stdout.txt": b"tps = 1000.0 (without initial connection time)\n", "server/log.txt": b"ready\n"}
METRICS = (
    Metric("tps", "tps", Better.HIGHER, "Transactions per second", "From pgbench.", client_overhead=True),
    Metric("latency.p99", "us", Better.LOWER, "p99 latency", "From the exact histogram.", client_overhead=True),
    Metric("cpu.user", "%", Better.NEITHER, "CPU in user mode (nice included)", "From sar."),
)


def member(name: str = "member", role: Role = Role.PUBLISHER, *, staff: bool = False) -> User:
    """An account. staff: an administrator's."""
    user = User.objects.create_user(name, password="a long password of the tests")
    models.Member.objects.create(user=user, role=Role.ADMINISTRATOR if staff else role)
    return user


def agent(name: str = "db1", versions: Mapping[str, int] | None = None) -> models.Agent:
    """A ready agent with one installation a version."""
    made = models.Agent.objects.create(
        name=name, host="127.0.0.1", port=2222, user="bench", data_dir="/srv/data", work_dir="/srv/work"
    )
    server_versions = versions or {"16.9": 160009, "18.1": 180001}
    record_contact(made.pk, contact(server_versions), timezone.now())
    made.refresh_from_db()
    return made


def lies(
    directory: str, gb: float = 1, days: float = 0, state: ClusterState = ClusterState.WHOLE, **rest: Any
) -> AgentCluster:
    """A cluster of so many GB that was last used so many days ago, by db1's 16.9."""
    words = {"bin_dir": "/opt/postgresql-16.9/bin"} | rest
    return AgentCluster(directory, state, int(gb * 1024**3), days * 86400, **words)


def clusters(*agent_clusters: AgentCluster, name: str = "db1") -> None:
    """What lies on the agent, as looked at now."""
    record_inventory(models.Agent.objects.get(name=name).pk, agent_clusters, timezone.now())


def host_factor() -> HostFactor:
    return read_host_factors(HOST_FACTOR)[0]


def define_host_factor(name: str = "db1") -> None:
    """`cpu_governor`, with levels performance and powersave."""
    define(models.Agent.objects.get(name=name), [host_factor()], "tests")


def not_back(name: str, trial: models.Trial | None = None, error: str = "") -> None:
    """The agent's governor is at performance, and was powersave."""
    key = f"{trial.run_id}/{trial.pk}" if trial else "1/999999"
    change = Change("cpu_governor", "performance", "powersave", "cat", "echo", key, STARTED.timestamp(), error=error)
    note_changes(name, [change], STARTED + timedelta(minutes=1))


def contact(versions: Mapping[str, int], kernel: str = "6.1.0") -> Contact:
    """What a contact with a small machine finds."""
    layers = (
        Layer(LayerKind.HARDWARE, {"cpu": {"model": "Test CPU", "cores": 2}, "memory_bytes": 8 * 1024**3}),
        Layer(LayerKind.KERNEL, {"release": kernel, "sysctl": {"vm.swappiness": "60"}}),
    )
    return Contact(
        layers=layers,
        installations=[installation(version, number) for version, number in versions.items()],
        tools={"sar": "/usr/bin/sar", "sadf": "/usr/bin/sadf", "awk": "/usr/bin/awk", "perf": ""},
        disk={"free_bytes": 50 * 1024**3, "total_bytes": 100 * 1024**3},
        cores=2,
        memory_bytes=8 * 1024**3,
        clock_offset_s=0.001,
    )


def installation(version: str, number: int) -> DiscoveredInstallation:
    home = f"/opt/postgresql-{version}/bin"
    return DiscoveredInstallation(
        f"postgresql-{version}", home, home, version, number, (), ("heap",), ("plpgsql",), False
    )


def settings_known(agent_name: str = "db1") -> None:
    """What 16.14 and 18.4 said of their settings, for the installations of the agent that are 16 and 18."""
    for row in models.Installation.objects.filter(agent__name=agent_name):
        text = (DATA / "settings" / f"{row.version_num // 10000}-probe.txt").read_text()
        lines = [line.removeprefix("setting ") for line in text.splitlines() if line.startswith("setting ")]
        models.InstallationSettings.objects.create(installation=row, lines=lines)


def mapping(**changes: Any) -> dict[str, Any]:
    """A plan as its TOML's structure: two installations, two numbers of clients, two blocks."""
    return {
        "name": "16 against 18",
        "workload": "pgbench",
        "replicates": 2,
        "seed": 7,
        "duration_s": 5,
        "agents": {"primary": "db1"},
        "parameters": {"scale": 5},
        "factors": {"installation": ["16", "18"], "clients": [1, 4]},
    } | changes


def a_plan(**changes: Any) -> Plan:
    return plan.from_mapping(mapping(**changes), kinds())


def stored_plan(user: User | None = None, **changes: Any) -> models.Plan:
    return save_plan(a_plan(**changes), kinds(), user=user, actor="tests")


def fall_due(stored: models.Plan) -> None:
    """A plan has a schedule for every minute, of which one time is not dealt with."""
    stored.refresh_from_db()
    if stored.schedule is None:
        schedule_plan(stored, "* * * * *", "tests")
    PeriodicTask.objects.filter(plan=stored).update(crontab=crontab("* * * * *"))
    models.Plan.objects.filter(pk=stored.pk).update(schedule_checked_at=timezone.now() - timedelta(minutes=1))


def run(
    user: User | None = None, stored: models.Plan | None = None, *, private: bool = False, **changes: Any
) -> models.Run:
    """A run whose trials all wait, and which is kept, so that every view shows it, where it is not private. Makes agent
    db1 where it is missing."""
    if not models.Agent.objects.filter(name="db1").exists():
        agent()
    plan_to_run = a_plan(**({} if private else {"standing": Standing.KEPT.value}) | changes)
    return create_run(plan_to_run, kinds(), actor="tests", user=user, stored=stored, private=private, as_admin=True)


def finished_run(user: User | None = None, *, bundles: Path | None = None, **changes: Any) -> models.Run:
    """A run whose trials are all done. tps: 1000 × clients × major version / 16 + block.

    bundles: as of `finish`."""
    made = run(user, **changes)
    for trial in made.trials.select_related("configuration"):
        finish(trial, bundles=bundles)
    runs.close_finished(made.pk)
    made.refresh_from_db()
    return made


def aa_run(noise: float, *, blocks: int = 5, seed: int = 1) -> models.Run:
    """A finished run of 1 and 4 clients, each configuration twice."""
    made = run(factors={"installation": ["16"], "clients": [1, 4], "twin": TWINS}, replicates=blocks, seed=seed)
    finish_noisily(made, noise)
    made.refresh_from_db()
    return made


def finish_noisily(made: models.Run, noise: float) -> None:
    """Every trial that waits; tps has this coefficient of variation."""
    chance = random.Random(made.seed)
    for trial in made.trials.filter(state="waiting").select_related("configuration").order_by("position"):
        finish(trial, usual_tps(trial) * math.exp(chance.gauss(0, noise)))
    runs.close_finished(made.pk)


def usual_tps(trial: models.Trial) -> float:
    dimensions = trial.configuration.dimensions
    return float(1000 * dimensions["clients"] * float(dimensions["major"]) / 16 + trial.block)


def held_by_contact(agent_id: int, until: datetime) -> models.Lease:
    """What a contact that has died leaves of its lease."""
    at = until - timedelta(seconds=30)
    return models.Lease.objects.create(agent_id=agent_id, acquired_at=at, heartbeat_at=at, expires_at=until)


def begin(trial: models.Trial, phase: str = "prepare", expected_s: float | None = None) -> models.Attempt:
    """An attempt that runs, with leases on its agents."""
    now = timezone.now()
    number = trial.attempts.count() + 1
    attempt = models.Attempt.objects.create(
        run_id=trial.run_id, trial=trial, number=number, worker="worker of the tests"
    )
    models.Trial.objects.filter(pk=trial.pk).update(
        state="running", state_at=now, phase=phase, phase_at=now, expected_s=expected_s, attempts_made=number
    )
    models.Lease.objects.bulk_create(
        models.Lease(
            agent_id=pk, attempt=attempt, acquired_at=now, heartbeat_at=now, expires_at=now + timedelta(seconds=30)
        )
        for pk in trial.agents
    )
    return attempt


def finish(
    trial: models.Trial, tps: float | None = None, *, bundles: Path | None = None, **changes: Any
) -> models.Attempt:
    """The trial done, its numbers stored.

    bundles: also write the archive of raw files below this folder.
    changes: of what `parsed` says."""
    return _end(trial, usual_tps(trial) if tps is None else tps, None, bundles, changes)


def fail(trial: models.Trial, what: str = "pgbench was aborted.", tps: float = 1.0, **rest: Any) -> models.Attempt:
    """The trial failed; the numbers gathered until then are stored and do not count."""
    error = {"kind": "trial", "what": what, "where": "measure", "why": "", "todo": "See the log.", "retryable": False}
    return _end(trial, tps, error | rest, None)


def parsed(trial: models.Trial, number: int, tps: float, error: Mapping[str, Any] | None = None) -> ParsedTrial:
    """All that a bundle of five measured seconds says."""
    started = STARTED + timedelta(seconds=30 * trial.position)
    return ParsedTrial(
        trial_key=f"{trial.run_id}/{trial.pk}",
        attempt=number,
        started_at=started,
        measured_from=started + timedelta(seconds=3),
        measured_to=started + timedelta(seconds=8),
        succeeded=error is None,
        error=error,
        phases=(PhaseTiming("prepare", 0, 1), PhaseTiming("load", 1, 2), PhaseTiming("measure", 3, 5.5)),
        commands=(CommandRun("client", "measure", "pgbench -c 1 -T 5 'bench'", 0, 5.1),),
        checks=(Check("version", "primary", "16", "16", True),),
        files=tuple(RawFile(path, len(data), hashlib.sha256(data).hexdigest()) for path, data in RAW_FILES.items()),
        metrics=METRICS,
        measurements=(
            Measurement("tps", tps),
            Measurement("latency.p99", 1e6 / tps, "client"),
            Measurement("cpu.user", 40.0, "primary"),
            Measurement("cpu.user", 20.0, "client"),
        ),
        series=(
            Series("tps", "client", "tps", 0, 1, (tps, tps + 1, math.nan, tps - 1, tps)),
            Series("cpu.user", "primary", "%", 0, 1, (40, 41, 42, 41, 40)),
        ),
        latencies=(
            Latencies("client", "", Histogram((400, 500, 900), (5, 90, 5)), HeatMap((0, 1), (35, 36), (50, 50))),
        ),
        events=(Event(2.5, "primary", "checkpoint", "checkpoint starting: time"),),
        layers=(
            LayerUse("primary", Layer(LayerKind.SETTINGS, {"shared_buffers": "128MB"})),
            LayerUse("primary", Layer(LayerKind.DATA, {"items": 200, "workload": "tpcc"})),
        ),
        gaps=(Gap("sar", "client", "sar is not installed"),),
        documents=(
            Document("plan", "q1", [{"Plan": {"Node Type": "Seq Scan"}}]),
            Document("stacks", "cpu-clock:u dwarf", stacks(trial), "primary"),
        ),
    )


def store(trial: models.Trial, tps: float = 100.0, **changes: Any) -> None:
    """Store what a bundle says of a new attempt at the trial, which goes on."""
    attempt = begin(trial)
    ingest.store(replace(parsed(trial, attempt.number, tps), **changes), attempt.pk, ingest.Archive("", "", 0))
    models.Lease.objects.filter(attempt=attempt).delete()


def stacks(trial: models.Trial) -> dict[str, int]:
    """Sampled in 16: a quarter of the time in heap_getnext, an eighth in hash_search. In others: three eighths in
    heap_getnext, below a new caller, and nothing in hash_search."""
    below_main = "client backend;_start;main;PostmasterMain;ServerLoop;PostgresMain;exec_simple_query"
    if trial.configuration.dimensions["major"] == "16":
        counts = {f"{below_main};ExecScan;heap_getnext": 200, f"{below_main};ExecScan;hash_search": 100}
    else:
        counts = {f"{below_main};ExecScan;table_scan;heap_getnext": 300, f"{below_main};ExecScan": 1}
    return counts | {f"{below_main};raw_parser <x>": 500 - trial.block, "checkpointer;main;[unknown]": trial.block}


def write_bundle(folder: Path, trial: models.Trial, number: int) -> ingest.Archive:
    """The archive of raw files, at its place below the bundle folder."""
    path = f"{trial.run_id}/{trial.pk}-{number}.tar.gz"
    data = pack(RAW_FILES)
    target = folder / path
    target.parent.mkdir(parents=True, exist_ok=True)
    target.write_bytes(data)
    return ingest.Archive(path, hashlib.sha256(data).hexdigest(), len(data))


def _end(
    trial: models.Trial,
    tps: float,
    error: Mapping[str, Any] | None,
    bundles: Path | None,
    changes: Mapping[str, Any] = MappingProxyType({}),
) -> models.Attempt:
    attempt = trial.attempts.filter(state="running").first() or begin(trial)
    archive = ingest.Archive("", "", 0) if bundles is None else write_bundle(bundles, trial, attempt.number)
    value = replace(parsed(trial, attempt.number, tps, error), **changes)
    ingest.store(value, attempt.pk, archive)
    state = "failed" if error else "done"
    ended = value.started_at + timedelta(seconds=9)
    models.Attempt.objects.filter(pk=attempt.pk).update(
        state=state, error=error, started_at=value.started_at, ended_at=ended
    )
    models.Trial.objects.filter(pk=trial.pk).update(
        state=state, phase="", error=error, attempt=None if error else attempt, state_at=timezone.now()
    )
    models.Lease.objects.filter(attempt=attempt).delete()
    attempt.refresh_from_db()
    trial.refresh_from_db()
    return attempt


def citation(run: models.Run, query: str = "") -> models.Snapshot:
    """The run's first comparison, or that of a query, as it is now."""
    parameters, comparison = citations.compare_query(query or f"run={run.pk}")
    return snapshots.cite(parameters, comparison, user=None, actor="tests")


def edition(run: models.Run) -> models.Edition:
    """A published report of the run's first comparison."""
    source = f"## Results\n\n{block('comparison', query=f'run={run.pk}')}"
    report = reports.create(Text("A report", "Ada", "en", source), user=None, actor="tests")
    shelf = Shelf("http://testserver", timezone.now())
    return publish(report.drafts.get(), shelf, user=None, actor="tests")


def tokens(user: User, scopes: Sequence[str] = ("read", "run", "publish", "admin")) -> dict[str, str]:
    """Scope → the secret of a fresh token of that scope."""
    return {scope: new_token(user, f"{scope} token", Scope(scope))[1] for scope in scopes}


def capability_run(
    outcomes: Mapping[str, str], *, access_method: str = "heap", installation: str = "16", **words: str
) -> models.Trial:
    """A finished trial of the capability checks with these answers: capability → outcome.

    words: message, compared, and statement and sqlstate, which answers of older trials do not have."""
    if not models.Agent.objects.filter(name="db1").exists():
        agent()
    models.Installation.objects.update(access_methods=["heap", "zheap"])
    changes = {"workload": "capabilities", "parameters": {}, "factors": {}, "replicates": 1}
    trial = run(**changes, installation=installation, access_method=access_method).trials.get()
    attempt = finish(trial, 1.0)
    models.Document.objects.bulk_create(
        models.Document(
            run_id=trial.run_id,
            attempt=attempt,
            kind="capability",
            node="primary",
            label=name,
            content={
                "access_method": access_method,
                "title": name.upper(),
                "group": "Storage" if name == "toast" else "Maintenance",
                "order": order,
                "outcome": outcome,
                "message": words.get("message", ""),
                "compared": words.get("compared", "items: 2000 rows"),
                "seconds": 0.5,
            }
            | {name: words[name] for name in ("statement", "sqlstate") if name in words},
        )
        for order, (name, outcome) in enumerate(outcomes.items())
    )
    store_checked_builds([attempt.pk])
    return trial
