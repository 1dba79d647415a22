"""Answers of gunicorn as the demo starts it, with two workers, among 200,000 trials: the first one, those to four
clients against those to one, and what the processes keep of the largest comparison."""

from __future__ import annotations

import http.client
import time
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from statistics import median

from django.core.management import call_command
from rich.console import Console

from bench.comparison import ANSWERS, PORT, gunicorn, warehouse
from bench.figures import Figure

CLIENTS = 4
REQUESTS = 12  # of each client, a round
LIMITS = {"first s": 0.5, "four to one": 2.5, "MB": 300}
LARGEST = f"/api/v1/comparison/?run={','.join(map(str, range(1, 11)))}&x=clients&series=installation&panel=scale,script"


def measure(rounds: int, seconds: float, console: Console) -> list[Figure]:
    call_command("collectstatic", interactive=False, verbosity=0)
    with warehouse(console):
        return [*_first_answers(min(rounds, 5)), *_by_clients(min(rounds, 7), console), _kept(console)]


def _first_answers(rounds: int) -> list[Figure]:
    took: dict[str, list[float]] = {"home": [], "the JSON": []}
    for _ in range(rounds):
        for name, path in (("home", "/"), ("the JSON", ANSWERS["the JSON"])):
            with gunicorn(workers=2):
                took[name].append(_ask(http.client.HTTPConnection("127.0.0.1", PORT, timeout=60), path))
    return [
        Figure(f"first answer of a process, {name}", "s", LIMITS["first s"], tuple(times))
        for name, times in took.items()
    ]


def _by_clients(rounds: int, console: Console) -> list[Figure]:
    figures = []
    with gunicorn(workers=2):
        for name, path in {"home": "/", **ANSWERS}.items():
            _p50(path, 2 * CLIENTS, 2)  # both processes have answered once
            ratios = []
            for _ in range(rounds):
                one, four = _p50(path, 1, REQUESTS), _p50(path, CLIENTS, REQUESTS)
                ratios.append(four / one)
                console.print(f"  {name}: p50 {1000 * one:.1f} ms with one client, {1000 * four:.1f} with {CLIENTS}")
            title = f"{name}, p50 at {CLIENTS} clients ÷ at one"
            figures.append(Figure(title, "", LIMITS["four to one"], tuple(ratios)))
    return figures


def _kept(console: Console) -> Figure:
    """What a worker that answered the largest comparison, more than once, keeps of it."""
    with gunicorn(workers=2) as server:
        took = [_ask(http.client.HTTPConnection("127.0.0.1", PORT, timeout=120), LARGEST) for _ in range(6)]
        kept = _settled_mb(_workers(server.pid))
    largest, all_kept = max(took), ", ".join(f"{size:.0f}" for size in kept)
    console.print(
        f"  194,000 replicates: p50 {median(took):.2f} s, slowest {largest:.2f} s; workers keep {all_kept} MB"
    )
    return Figure("memory of a worker after comparisons of 194,000 replicates", "MB", LIMITS["MB"], (max(kept),))


def _p50(path: str, clients: int, requests: int) -> float:
    """Return the median time of an answer, in seconds."""
    with ThreadPoolExecutor(clients) as pool:
        return median(second for times in pool.map(_asked, [path] * clients, [requests] * clients) for second in times)


def _asked(path: str, requests: int) -> Sequence[float]:
    connection = http.client.HTTPConnection("127.0.0.1", PORT, timeout=60)
    return [_ask(connection, path) for _ in range(requests)]


def _ask(connection: http.client.HTTPConnection, path: str) -> float:
    begun = time.perf_counter()
    connection.request("GET", path)
    answer = connection.getresponse()
    body = answer.read()
    assert answer.status == 200, body[:500]
    return time.perf_counter() - begun


def _workers(master: int) -> list[int]:
    return [int(child) for child in Path(f"/proc/{master}/task/{master}/children").read_text().split()]


def _settled_mb(processes: Sequence[int]) -> list[float]:
    """Return what they have in memory, once it is the same for half a second: the last answer is let go after it was
    sent."""
    before: list[float] = []
    for _ in range(20):
        now = [_resident_mb(process) for process in processes]
        if now == before:
            break
        before = now
        time.sleep(0.5)
    return now


def _resident_mb(process: int) -> float:
    status = Path(f"/proc/{process}/status").read_text().splitlines()
    return next(int(line.split()[1]) / 1000 for line in status if line.startswith("VmRSS"))
