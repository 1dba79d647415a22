"""What one worker process takes while it runs 10, 50, 100 and 200 trials at once on loopback agents: memory, processor
time, threads, connections to the warehouse; while all of them measure, and at most while they begin and end.

The trials wait for a lock instead of loading a server, which all of them share, and end at the same moment."""

from __future__ import annotations

import asyncio
import fcntl
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path
from urllib.parse import urlsplit, urlunsplit

from django.conf import settings
from django.db import connection
from django.utils import timezone
from rich.console import Console

from bench import agent as bench_agent
from bench.comparison import own_database
from bench.figures import Figure
from results import agents, models, runs, sql
from results.domain import plan as plans
from results.domain.matrix import InstallationRef, find_installation
from workers import contact, registry, tasks
from workers.app import app
from workers.orders import address_of
from workers.postgres import cluster
from workers.remote.address import Address
from workers.remote.connection import connected

TOGETHER = tuple(int(n) for n in os.environ.get("BENCH_FLEET", "10,50,100,200").split(","))
LIMITS = {"MB": 600.0, "cores": 1.0, "connections": 20.0}
_TICKS = os.sysconf("SC_CLK_TCK")


@dataclass
class _Use:
    """What the worker took, at each look."""

    mb: list[float] = field(default_factory=list)
    threads: list[float] = field(default_factory=list)
    connections: list[float] = field(default_factory=list)

    def look(self, pid: int) -> None:
        status = dict(line.split(":", 1) for line in Path(f"/proc/{pid}/status").read_text().splitlines())
        self.mb.append(int(status["VmRSS"].split()[0]) / 1024)
        self.threads.append(float(status["Threads"]))
        [row] = sql.rows(
            _Count,
            "SELECT count(*) AS of FROM pg_stat_activity"
            " WHERE datname = current_database() AND pid <> pg_backend_pid()"
            " AND backend_type = 'client backend'",
        )
        self.connections.append(row.of)


@dataclass(frozen=True)
class _Count:
    of: int


def measure(rounds: int, seconds: float, console: Console) -> list[Figure]:
    figures = []
    for together in TOGETHER:
        with (
            own_database(),
            tempfile.TemporaryDirectory() as bundles,
            tempfile.NamedTemporaryFile(dir="/var/tmp") as lock,
        ):
            os.chmod(lock.name, 0o644)
            names = _agents(together)
            with _server() as port, _worker(together, bundles) as worker:
                figures += _run(worker.pid, names, port, lock.name, seconds, console)
    return figures


def _run(pid: int, names: list[str], port: int, lock: str, seconds: float, console: Console) -> list[Figure]:
    most, during, count = _Use(), _Use(), len(names)
    kinds = registry.kinds()
    with Path(lock).open() as held:
        fcntl.flock(held, fcntl.LOCK_EX)
        began_s, began_cpu_s = time.monotonic(), _cpu_s(pid)
        for name in names:
            runs.create_run(plans.from_mapping(_plan(name, port, lock), kinds), kinds, actor="bench", as_admin=True)
            if name == names[0]:
                tasks.dispatch()
                _wait(most, pid, lambda: _measuring() == 1)  # it makes the database
        tasks.dispatch()
        _wait(most, pid, lambda: _measuring() == count)
        begun_s, begun_cpu_s = time.monotonic() - began_s, _cpu_s(pid) - began_cpu_s
        time.sleep(5)
        since_s, since_cpu_s = time.monotonic(), _cpu_s(pid)
        while time.monotonic() - since_s < seconds:
            during.look(pid)
            time.sleep(0.5)
        cores = (_cpu_s(pid) - since_cpu_s) / (time.monotonic() - since_s)
    ends_s, ends_cpu_s = time.monotonic(), _cpu_s(pid)
    _wait(most, pid, lambda: not models.Trial.objects.filter(state="running").exists())
    ended_s, ended_cpu_s = time.monotonic() - ends_s, _cpu_s(pid) - ends_cpu_s
    failed = models.Trial.objects.exclude(state="done").count()
    attempts = models.Attempt.objects.count()
    console.print(
        f"  {count} trials, {attempts} attempts, {failed} not done: begun in {begun_s:.0f} s with "
        f"{begun_cpu_s / begun_s:.2f} cores, ended in {ended_s:.0f} s with {ended_cpu_s / ended_s:.2f} cores; "
        f"{1000 * (begun_cpu_s + ended_cpu_s) / count:.0f} ms of CPU a trial; threads {max(during.threads):.0f} while "
        f"they measure, at most {max(most.threads):.0f}"
    )
    return [
        Figure(f"{count} trials measure: memory", "MB", LIMITS["MB"], (max(during.mb),)),
        Figure(f"{count} trials measure: processor", "cores", LIMITS["cores"], (cores,)),
        Figure(f"{count} trials measure: connections", "", LIMITS["connections"], (max(during.connections),)),
        Figure(f"{count} trials begin and end: memory", "MB", LIMITS["MB"], (max(most.mb),)),
        Figure(f"{count} trials begin and end: connections", "", LIMITS["connections"], (max(most.connections),)),
    ]


def _wait(use: _Use, pid: int, condition: Callable[[], bool]) -> None:
    asked_s = time.monotonic()
    while not condition():
        use.look(pid)
        time.sleep(0.2)
        if time.monotonic() - asked_s > 2:  # as beat does
            tasks.dispatch()
            asked_s = time.monotonic()
        if failed := models.Trial.objects.filter(state="failed").first():
            raise RuntimeError(failed.error)


def _measuring() -> int:
    return models.Trial.objects.filter(state="running", phase="measure").count()


def _plan(name: str, port: int, lock: str) -> dict[str, object]:
    return {
        "name": name,
        "workload": "script",
        "topology": "endpoints",
        "topology_parameters": {"endpoints": f"127.0.0.1:{port}", "user": "teiten"},
        "installation": "16",
        "agents": {"client": name},
        "collectors": [],
        "data": "reuse",
        "cache": "as-found",
        "replicates": 1,
        "parameters": {"form": "command", "text": f"flock -s {lock} echo waited 1", "deadline_s": 3600},
    }


def _agents(count: int) -> list[str]:
    first = bench_agent.ready()
    what = asyncio.run(contact.discover_agent(address_of(first)))
    names = [bench_agent.NAME]
    for number in range(2, count + 1):
        row = models.Agent.objects.get(pk=first.pk)
        row.pk, row.name, row.work_dir = None, f"bench{number}", f"{first.work_dir}{number}"
        row.data_dir = f"{first.data_dir}{number}"
        row.save()
        agents.record_contact(row.pk, what, timezone.now())
        names.append(row.name)
    return names


@contextmanager
def _server() -> Iterator[int]:
    """A server that no agent of the bench knows; gives its port."""
    row = models.Agent.objects.get(name=bench_agent.NAME)
    address = replace(address_of(row), name="elsewhere", data_dir=f"{row.data_dir}-elsewhere")
    references = [
        InstallationRef(each.name, each.bin_dir, each.client_bin, each.version, each.version_num)
        for each in models.Installation.objects.filter(agent=row)
    ]
    if (installation := find_installation("16", references)) is None:
        raise RuntimeError("The agent of the bench has no PostgreSQL 16.")
    port = asyncio.run(_started(address, installation))
    try:
        yield port
    finally:
        asyncio.run(_stopped(address))


async def _started(address: Address, installation: InstallationRef) -> int:
    trust = ["host all all 127.0.0.1/32 trust"]
    async with connected(address) as remote:
        changes = {"max_connections": "400"}
        server = await cluster.ensure(remote, installation, settings=changes, listen="127.0.0.1", hba=trust)
        return server.port


async def _stopped(address: Address) -> None:
    async with connected(address) as remote:
        await cluster.stop_others(remote)


@contextmanager
def _worker(threads: int, bundles: str) -> Iterator[subprocess.Popen[bytes]]:
    url = urlsplit(os.environ["TEITEN_DATABASE_URL"])._replace(path=f"/{connection.settings_dict['NAME']}")
    command = [sys.executable, "-m", "celery", "--quiet", "-A", "workers.app", "worker", "-Q", "trials"]
    command += ["--pool", "threads", "--concurrency", str(threads), "-n", "bench@%h"]
    app.control.purge()
    environment = os.environ | {"TEITEN_DATABASE_URL": urlunsplit(url), "TEITEN_BUNDLE_DIR": bundles}
    with subprocess.Popen(command, env=environment, cwd=settings.BASE_DIR) as process:
        try:
            while not tasks.answering_workers(0.5):
                if process.poll() is not None:
                    raise RuntimeError("The worker has ended.")
            yield process
        finally:
            process.terminate()


def _cpu_s(pid: int) -> float:
    fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / _TICKS
