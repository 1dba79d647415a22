"""How pages and answers grow with the warehouse: p50 in ms of one client, and kB before compression, by its size.

Each warehouse is made up by `manage.py synthesize` and served by one gunicorn process."""

from __future__ import annotations

import http.client
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from http import HTTPStatus
from statistics import median
from urllib.parse import quote, urlencode

from django.core.management import call_command
from django.utils import timezone
from rich.console import Console
from rich.table import Table

from bench.comparison import own_database, served
from bench.figures import Figure
from results import models, sql
from results.synthesis.writing import Size, synthesize
from workers.lease import expired
from workers.registry import kinds

SIZES = (10_000, 100_000, 1_000_000)
MOST_MS, MOST_GROWTH, MOST_KB = 60.0, 1.5, 1000.0
SLOW_ENOUGH_MS = 10.0  # of what takes less, growth says nothing
MEASUREMENTS_A_SECOND = 20_000
REAPER = "the reaper's query"
KEPT = ("comparison of two runs", "why", "comparison (API)")  # answers that a process gives again while they hold


@dataclass(frozen=True)
class Answer:
    """rounds_ms: how long each request took."""

    rounds_ms: tuple[float, ...]
    kb: float = 0.0

    @property
    def ms(self) -> float:
        return median(self.rounds_ms)


def measure(rounds: int, seconds: float, console: Console) -> list[Figure]:
    call_command("collectstatic", interactive=False, verbosity=0)
    answers: dict[int, dict[str, Answer]] = {}
    made_a_second: tuple[float, ...] = ()
    for size in SIZES:
        with own_database():
            made_a_second = (_fill(size, console),)
            answers[size] = _answers(rounds)
    console.print(_table(answers))
    return [
        Figure("made up", "measurements/s", MEASUREMENTS_A_SECOND, made_a_second, at_least=True),
        *_figures(answers),
    ]


def _fill(trials: int, console: Console) -> float:
    """Make a warehouse; return measurements a second."""
    begun = time.perf_counter()
    made = synthesize(Size(trials), kinds(), timezone.now())
    took_s = time.perf_counter() - begun
    sql.execute("VACUUM ANALYZE")
    console.print(f"  {made.trials:,} trials with {made.measurements:,} measurements made up in {took_s:.0f} s")
    return made.measurements / took_s


def addresses() -> Mapping[str, str]:
    """Return what is asked, by name: of the newest kept runs, so that the amount of what is shown is the same in a
    warehouse of any size."""
    kept = models.Run.objects.filter(standing="kept").order_by("-pk")
    run = kept.filter(workload="pgbench").latest("pk")
    plan = run.plan
    assert plan is not None
    trial = run.trials.filter(state="done").latest("pk")
    two = "run=" + ",".join(map(str, kept.filter(plan=plan).values_list("pk", flat=True)[:2]))
    agent = models.Agent.objects.earliest("pk").name
    of_plan = urlencode({"plan": plan.name})
    pages = {
        "home": "/",
        "runs": "/runs/",
        "runs found by name": "/runs/?name=tpcc",
        "a run": f"/runs/{run.pk}/",
        "its live part": f"/runs/{run.pk}/live/",
        "a trial": f"/trials/{trial.pk}/",
        "comparison of two runs": f"/compare/?{two}",
        "why": f"/compare/why/?{two}",
        "trends of a plan": f"/trends/?{of_plan}",
        "two of their lines": f"/trends/?{of_plan}&filter.installation=17,18",
        "trends of a workload": f"/trends/?workload={run.workload}",
        "versions": "/versions/",
        "topologies": "/topologies/",
        "access methods": "/access-methods/",
        "capabilities": "/capabilities/",
        "flame": "/flame/",
        "plans": "/plans/",
        "a plan": f"/plans/{plan.pk}/",
        "agents": "/agents/",
        "an agent": f"/agents/{quote(agent)}/",
        "citations": "/c/",
        "reports": "/reports/",
        "scrape": "/metrics",
    }
    api = {
        "runs": "runs/",
        "a run": f"runs/{run.pk}/",
        "medians of a run": f"runs/{run.pk}/medians/",
        "trials": "trials/",
        "trials of a block": "trials/?block=1",
        "trials of a run": f"trials/?run={run.pk}",
        "a trial": f"trials/{trial.pk}/",
        "measurements": "measurements/",
        "measurements of a metric": "measurements/?metric=tps",
        "measurements of a node": "measurements/?node=primary",
        "measurements of a run": f"measurements/?run={run.pk}",
        "comparison": f"comparison/?{two}",
        "trends of a plan": f"trends/?{of_plan}",
        "trends of a workload": f"trends/?workload={run.workload}",
        "versions": "versions/",
        "topologies": "topologies/",
        "access methods": "access-methods/",
        "capabilities": "capabilities/",
        "metrics": "metrics/",
        "noise": "noise/",
        "plans": "plans/",
        "agents": "agents/",
        "installations": "installations/",
    }
    return pages | {f"{name} (API)": f"/api/v1/{path}" for name, path in api.items()}


def _answers(rounds: int) -> dict[str, Answer]:
    paths = addresses()
    with served() as ask:
        visitor = _visitor(ask)
        answers = {name: _ask(ask, path, rounds, visitor) for name, path in paths.items()}
        for name in KEPT:
            anew = visitor | {"Cache-Control": "no-cache"}
            answers[f"{name}, made anew"] = _ask(ask, paths[name], rounds, anew)
    return answers | {REAPER: Answer(_timed(lambda: expired(timezone.now()), rounds))}


def _visitor(ask: http.client.HTTPConnection) -> dict[str, str]:
    """Return the header by which a visitor is known from their second page on: the cookie of forms."""
    ask.request("GET", "/compare/")
    answer = ask.getresponse()
    answer.read()
    return {"Cookie": answer.headers["Set-Cookie"].partition(";")[0]}


def _ask(ask: http.client.HTTPConnection, path: str, rounds: int, headers: Mapping[str, str]) -> Answer:
    path = _canonical(ask, path)
    size = _size(ask, path, headers)
    return Answer(_timed(lambda: _size(ask, path, headers), rounds), size / 1000)


def _canonical(ask: http.client.HTTPConnection, path: str) -> str:
    """Return the address that a page leads to, which writes its query as Teiten does."""
    ask.request("GET", path)
    answer = ask.getresponse()
    answer.read()
    return answer.headers["Location"] if answer.status == HTTPStatus.FOUND else path


def _size(ask: http.client.HTTPConnection, path: str, headers: Mapping[str, str]) -> int:
    """Return the bytes of an answer."""
    ask.request("GET", path, headers=dict(headers))
    answer = ask.getresponse()
    body = answer.read()
    if answer.status != HTTPStatus.OK:
        raise SystemExit(f"{path}: {answer.status} {body[:300]!r}")
    return len(body)


def _timed(what: Callable[[], object], rounds: int) -> tuple[float, ...]:
    took_ms = []
    for _ in range(rounds):
        begun = time.perf_counter()
        what()
        took_ms.append(1000 * (time.perf_counter() - begun))
    return tuple(took_ms)


def _table(answers: Mapping[int, Mapping[str, Answer]]) -> Table:
    table = Table("p50, ms", *(f"{size:,} trials" for size in answers), "growth", "kB", title="Growth")
    first, last = min(answers), max(answers)
    for name, answer in answers[last].items():
        growth = f"{answer.ms / answers[first][name].ms:.2f}"
        table.add_row(name, *(f"{of_size[name].ms:.1f}" for of_size in answers.values()), growth, f"{answer.kb:.0f}")
    return table


def _figures(answers: Mapping[int, Mapping[str, Answer]]) -> list[Figure]:
    first, last = answers[min(answers)], answers[max(answers)]
    figures = []
    for name, answer in last.items():
        figures.append(Figure(name, "ms", MOST_MS, answer.rounds_ms))
        figures.append(Figure(f"… uncompressed, {name}", "kB", MOST_KB, (answer.kb,)))
        if answer.ms >= SLOW_ENOUGH_MS:
            figures.append(Figure(f"… growth, {name}", "×", MOST_GROWTH, (answer.ms / first[name].ms,)))
    return figures
