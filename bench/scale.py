"""How pages and answers grow with the warehouse: p50 in ms of one client, and kB before compression, by its size.

Each warehouse is made up by `manage.py synthesize` and served by a gunicorn process of its own. They are asked in turn,
so that a machine whose speed changes meanwhile does not pass for growth."""

from __future__ import annotations

import http.client
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from functools import partial
from http import HTTPStatus
from statistics import median
from urllib.parse import quote, urlencode

from django.conf import settings
from django.core.management import call_command
from django.db import connection
from django.middleware.csrf import CSRF_SECRET_LENGTH
from django.utils import timezone
from django.utils.crypto import get_random_string
from rich.console import Console
from rich.table import Table

from bench.comparison import PORT, gunicorn, own_database
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
# How an answer that a process keeps is asked for: again by the same visitor, by one who asks for the first time what
# others have seen, and by a browser that has everything computed anew.
WAYS = AGAIN, BY_ANOTHER, ANEW = ("again", "by another visitor", "made anew")
KEPT = (  # answers that a process gives again while they hold
    "comparison of two runs",
    "why",
    "trends of a plan",
    "two of their lines",
    "trends of a workload",
    "comparison (API)",
    "trends of a plan (API)",
    "trends of a workload (API)",
)


@dataclass(frozen=True)
class Answer:
    """rounds_ms: how long each request took. The first was made of each warehouse, then the second, and so on."""

    rounds_ms: tuple[float, ...]
    kb: float = 0.0

    @property
    def ms(self) -> float:
        return median(self.rounds_ms)

    def growth(self, smaller: Answer) -> tuple[float, ...]:
        return tuple(ms / of_smaller for ms, of_smaller in zip(self.rounds_ms, smaller.rounds_ms, strict=True))


@dataclass(frozen=True)
class _Served:
    """A warehouse and the connection to its gunicorn. addresses: what is asked, by name, as a page writes its query.
    visitor: the header by which a visitor is known."""

    database: str
    ask: http.client.HTTPConnection
    addresses: Mapping[str, str]
    visitor: Mapping[str, str]


def measure(rounds: int, seconds: float, console: Console) -> list[Figure]:
    call_command("collectstatic", interactive=False, verbosity=0)
    with ExitStack() as stack:
        warehouses = {}
        for port, size in enumerate(SIZES, start=PORT):
            stack.enter_context(own_database(f"bench_{size}"))
            made_a_second = (_fill(size, console),)
            warehouses[size] = stack.enter_context(_served(port))
        answers = _asked_in_turn(warehouses, rounds)
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


@contextmanager
def _served(port: int) -> Iterator[_Served]:
    """The warehouse that Django is connected to, by a gunicorn of one process."""
    with gunicorn(workers=1, port=port):
        ask = http.client.HTTPConnection("127.0.0.1", port, timeout=60)
        canonical = {name: _canonical(ask, path) for name, path in addresses().items()}
        yield _Served(connection.settings_dict["NAME"], ask, canonical, _visitor(ask))


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


def _asked_in_turn(warehouses: Mapping[int, _Served], rounds: int) -> dict[int, dict[str, Answer]]:
    """Return the answers by the warehouse's size and by name."""
    answers: dict[int, dict[str, Answer]] = {size: {} for size in warehouses}
    for name in next(iter(warehouses.values())).addresses:
        for way in WAYS if name in KEPT else ("",):
            for size, answer in _in_turn(warehouses, name, rounds, way).items():
                answers[size][f"{name}, {way}" if way else name] = answer
    reaped: dict[int, list[float]] = {size: [] for size in warehouses}
    for _ in range(rounds):
        for size, warehouse in warehouses.items():
            with _connected(warehouse.database):
                expired(timezone.now())  # a new connection looks tables up first
                reaped[size].append(_timed(lambda: expired(timezone.now())))
    for size, took_ms in reaped.items():
        answers[size][REAPER] = Answer(tuple(took_ms))
    return answers


def _in_turn(warehouses: Mapping[int, _Served], name: str, rounds: int, way: str) -> dict[int, Answer]:
    """way: of WAYS, or '' for an answer that is not kept."""
    requests = {size: partial(_size, warehouse, name, way) for size, warehouse in warehouses.items()}
    kb = {size: request() / 1000 for size, request in requests.items()}
    took_ms: dict[int, list[float]] = {size: [] for size in requests}
    for turn in range(rounds):
        for size in sorted(requests, reverse=turn % 2 == 1):
            took_ms[size].append(_timed(requests[size]))
    return {size: Answer(tuple(took_ms[size]), kb[size]) for size in requests}


@contextmanager
def _connected(database: str) -> Iterator[None]:
    """Django's connection is to that database meanwhile."""
    usual = connection.settings_dict["NAME"]
    connection.close()
    connection.settings_dict["NAME"] = database
    try:
        yield
    finally:
        connection.close()
        connection.settings_dict["NAME"] = usual


def _visitor(ask: http.client.HTTPConnection) -> dict[str, str]:
    """Return the header by which a visitor is known from their second page on: the cookie of forms."""
    ask.request("GET", "/compare/")
    answer = ask.getresponse()
    answer.read()
    return {"Cookie": answer.headers["Set-Cookie"].partition(";")[0]}


def _canonical(ask: http.client.HTTPConnection, path: str) -> str:
    """Return the address that a page leads to, which writes its query as Teiten does."""
    ask.request("GET", path)
    answer = ask.getresponse()
    answer.read()
    return answer.headers["Location"] if answer.status == HTTPStatus.FOUND else path


def _size(warehouse: _Served, name: str, way: str) -> int:
    """Return the bytes of an answer."""
    headers = dict(warehouse.visitor)
    if way == ANEW:
        headers["Cache-Control"] = "no-cache"
    elif way == BY_ANOTHER:
        headers["Cookie"] = f"{settings.CSRF_COOKIE_NAME}={get_random_string(CSRF_SECRET_LENGTH)}"
    path, ask = warehouse.addresses[name], warehouse.ask
    ask.request("GET", path, headers=headers)
    answer = ask.getresponse()
    body = answer.read()
    if answer.status != HTTPStatus.OK:
        raise SystemExit(f"{path}: {answer.status} {body[:300]!r}")
    return len(body)


def _timed(what: Callable[[], object]) -> float:
    """Return how long it took, in ms."""
    begun = time.perf_counter()
    what()
    return 1000 * (time.perf_counter() - begun)


def _table(answers: Mapping[int, Mapping[str, Answer]]) -> Table:
    rows = Table("p50, ms", *(f"{size:,} trials" for size in answers), "growth", "kB", title="Growth")
    first, last = min(answers), max(answers)
    for name, answer in answers[last].items():
        smaller = answers[first][name]
        p50 = (f"{of_size[name].ms:.1f}" for of_size in answers.values())
        rows.add_row(name, *p50, f"{median(answer.growth(smaller)):.2f}", f"{smaller.kb:.0f} → {answer.kb:.0f}")
    return rows


def _figures(answers: Mapping[int, Mapping[str, Answer]]) -> list[Figure]:
    first, last = answers[min(answers)], answers[max(answers)]
    figures = []
    for name, answer in last.items():
        figures.append(Figure(name, "ms", MOST_MS, answer.rounds_ms))
        figures.append(Figure(f"… uncompressed, {name}", "kB", MOST_KB, (answer.kb,)))
        if answer.ms >= SLOW_ENOUGH_MS:
            figures.append(Figure(f"… growth, {name}", "×", MOST_GROWTH, answer.growth(first[name])))
    return figures
