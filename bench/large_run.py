"""What a run of 100,000 trials costs the web server: seconds and memory of the requests that preview it, start it, add
replicates to it, and ask for what is new on its page."""

from __future__ import annotations

import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from django.conf import settings
from django.contrib.auth.models import User
from django.test import Client
from django.utils import timezone
from rich.console import Console

from bench.comparison import own_database
from bench.figures import Figure
from results import models
from results.agents import Contact, DiscoveredInstallation, record_contact
from results.models.audit import Role
from workers import tasks

LIMIT_S, LIMIT_MB = 2.0, 200.0
FACTORS = {"clients": list(range(1, 101)), "scale": list(range(1, 26))}  # 2,500 configurations


def measure(rounds: int, seconds: float, console: Console) -> list[Figure]:
    settings.ALLOWED_HOSTS = [*settings.ALLOWED_HOSTS, "testserver"]
    with own_database():
        _agent()
        client = Client()
        user = User.objects.create_user("bench")
        models.Member.objects.create(user=user, role=Role.OPERATOR)
        client.force_login(user)
        _send(client, "plans/preview/", _plan(1))  # the first answer
        took: dict[str, list[tuple[float, float]]] = {"previewed": [], "started": [], "extended": [], "shown": []}
        for _ in range(min(rounds, 5)):
            took["previewed"].append(_cost(lambda: _send(client, "plans/preview/", _plan(40))))
            took["started"].append(_cost(lambda: _send(client, "runs/", _plan(1))))
            run = models.Run.objects.latest("pk")
            took["extended"].append(_cost(lambda run=run: _send(client, f"runs/{run.pk}/blocks/", {"blocks": 39})))
            begun = time.perf_counter()
            tasks.make_trials(run.pk)
            console.print(
                f"  {run.trials.count():,} trials; a worker made the rest in {time.perf_counter() - begun:.1f} s"
            )
            took["shown"].append(_cost(lambda run=run: _get(client, f"/runs/{run.pk}/live/")))
        figures = []
        for name, costs in took.items():
            figures.append(Figure(f"a run of 100,000 trials {name}", "s", LIMIT_S, tuple(cost[0] for cost in costs)))
            figures.append(Figure(f"… its memory, {name}", "MB", LIMIT_MB, tuple(cost[1] for cost in costs)))
        return figures


def _agent() -> None:
    agent = models.Agent.objects.create(
        name="db1", host="127.0.0.1", user="bench", data_dir="/srv/d", work_dir="/srv/w"
    )
    home = "/opt/postgresql-18.1/bin"
    found = DiscoveredInstallation("postgresql-18.1", home, home, "18.1", 180001, (), ("heap",), ("plpgsql",), False)
    record_contact(agent.pk, Contact((), [found], {}, {}, 2, 8 * 1024**3, 0.0), timezone.now())


def _plan(replicates: int) -> dict[str, Any]:
    return {
        "name": "large",
        "workload": "pgbench",
        "installation": "18",
        "agents": {"client": "db1", "primary": "db1"},
        "replicates": replicates,
        "collectors": [],
        "factors": FACTORS,
    }


def _send(client: Client, path: str, body: dict[str, Any]) -> None:
    answer = client.post(f"/api/v1/{path}", body, content_type="application/json")
    assert answer.status_code in (200, 201), answer.content[:500]


def _get(client: Client, path: str) -> None:
    answer = client.get(path)
    assert answer.status_code == 200, answer.content[:500]


def _cost(request: Callable[[], None]) -> tuple[float, float]:
    """(seconds, MB by which the process grew meanwhile, at the peak)."""
    Path("/proc/self/clear_refs").write_text("5", encoding="ascii")  # the peak begins anew
    before_kb, begun = _status_kb("VmRSS"), time.perf_counter()
    request()
    return time.perf_counter() - begun, max(0, _status_kb("VmHWM") - before_kb) / 1024


def _status_kb(name: str) -> int:
    lines = Path("/proc/self/status").read_text(encoding="ascii").splitlines()
    return next(int(line.split()[1]) for line in lines if line.startswith(f"{name}:"))
