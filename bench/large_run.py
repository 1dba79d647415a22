"""What large runs cost the web server.

Of 100,000 trials: seconds and memory of the requests that preview the run, start it, add replicates to it, and ask for
what is new on its page. Of 20,000 that go on (large_run.sql): how long its page takes to open, and its size; the same
of what the page asks for again, where nothing and where four trials have changed; and of a page of its medians."""

from __future__ import annotations

import re
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from django.conf import settings
from django.contrib.auth.models import User
from django.core.management import call_command
from django.test import Client
from django.utils import timezone
from rich.console import Console

from bench.comparison import own_database
from bench.figures import Figure
from results import models, sql
from results.agents import Contact, DiscoveredInstallation, record_contact
from results.models.audit import Role
from webapp.pages.run_live import HEADER
from workers import tasks

LIMIT_S, LIMIT_MB = 2.0, 200.0
GOING = 20_000  # id of the run of large_run.sql, and its trials
POLLS = 20  # a round
LIMITS = {"opened": (500.0, 1000.0), "asked again": (60.0, 10.0), "medians": (60.0, 1000.0)}  # ms, kB
MARK = re.compile(r'data-mark="([^"]*)"')
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
    with own_database():
        figures += _of_a_run_that_goes_on(rounds)
    return figures


def _of_a_run_that_goes_on(rounds: int) -> list[Figure]:
    for statement in Path(__file__).with_suffix(".sql").read_text(encoding="utf-8").split(";\n"):
        sql.execute(statement)
    settings.TEITEN_OPEN_READING = True
    call_command("collectstatic", interactive=False, verbosity=0)
    client, address = Client(), f"/runs/{GOING}/"
    _timed(client, address)  # the first answer
    took: dict[str, list[tuple[float, float]]] = {
        "opened": [],
        "asked again, nothing changed": [],
        "asked again, four trials ended": [],
        "medians, a page": [],
    }
    for _ in range(rounds):
        text, *cost = _timed(client, address)
        took["opened"].append((cost[0], cost[1]))
        mark = _mark(text)
        for number in range(POLLS):
            ended = number % 2 == 1
            if ended:
                _end_trials(4)
            text, *cost = _timed(client, f"{address}live/", mark)
            mark = _mark(text)
            took[f"asked again, {'four trials ended' if ended else 'nothing changed'}"].append((cost[0], cost[1]))
        _, *cost = _timed(client, f"/api/v1/runs/{GOING}/medians/")
        took["medians, a page"].append((cost[0], cost[1]))
    figures = []
    for name, costs in took.items():
        limit_ms, limit_kb = LIMITS[name.partition(",")[0]]
        figures.append(Figure(f"a run of 20,000 trials: {name}", "ms", limit_ms, tuple(cost[0] for cost in costs)))
        figures.append(Figure(f"… its size, {name}", "kB", limit_kb, tuple(cost[1] for cost in costs)))
    return figures


def _timed(client: Client, path: str, mark: str = "") -> tuple[str, float, float]:
    """Return (text, ms, kB before compression) of an answer."""
    begun = time.perf_counter()
    answer = client.get(path, headers={HEADER: mark} if mark else {})
    text = answer.content.decode()
    assert answer.status_code == 200, text[:500]
    return text, 1000 * (time.perf_counter() - begun), len(answer.content) / 1000


def _mark(text: str) -> str:
    mark = MARK.search(text)
    assert mark
    return mark.group(1)


def _end_trials(count: int) -> None:
    """Let trials that run be done, and as many others begin."""
    trials = models.Trial.objects.filter(run=GOING)
    for trial in trials.filter(state="running").order_by("position")[:count]:
        attempt = models.Attempt.objects.get(trial=trial)
        models.Measurement.objects.create(
            run_id=GOING, attempt=attempt, metric_id="tps", node="", label="", value=20_000 + trial.position / 10
        )
        trials.filter(pk=trial.pk).update(state="done", phase="", attempt=attempt)
    now = timezone.now()
    for trial in list(trials.filter(state="waiting").order_by("position")[:count]):
        models.Attempt.objects.create(run_id=GOING, trial=trial, number=1)
        trials.filter(pk=trial.pk).update(state="running", phase="measure", phase_at=now, expected_s=60)


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
