"""Thousands of short trials while things fail at random: none is lost, none is stored twice, and no process grows."""

from __future__ import annotations

import sys
import threading
import time
import urllib.error
import urllib.request
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from random import Random

import pytest
from django.db.models import Count

from results import models, warehouse
from results.domain.states import AttemptState, TrialState
from tests.conftest import surrounding
from tests.faults import trials as stored
from tests.faults import watching
from tests.faults.conftest import require_nothing_left
from tests.faults.fleet import Fleet
from tests.run_counts import kept_counts, right_counts
from tests.soak.memory import SETTLED, Memory
from tests.soak.strikes import strikes
from workers.remote.address import Address

_EACH = 25  # trials of a run
_FIRST_S, _BETWEEN_S = 5.0, (15.0, 45.0)  # until the first fault, and from one to the next
_EARLY = 0.2  # of the trials: the part of a run in which every process may be killed
_PATHS = ("/api/v1/runs/", "/api/v1/agents/", "/metrics", "/readyz")
_ENDED = (TrialState.DONE, TrialState.FAILED, TrialState.CANCELLED)
_FLAT = 0.1
_STUCK_S = 300


@dataclass
class Soak:
    """One run of it.

    wanted: how many trials.
    struck: how often each fault happened."""

    fleet: Fleet
    agents: Sequence[Address]
    wanted: int
    random: Random
    memory: Memory = field(default_factory=Memory)
    struck: Counter[str] = field(default_factory=Counter)
    began: float = field(default_factory=time.monotonic)

    def queue(self) -> None:
        """All trials, in runs that take the agents in turn."""
        for number, first in enumerate(range(0, self.wanted, _EACH)):
            agent = self.agents[number % len(self.agents)].name
            self.fleet.ask("POST", "runs/", _plan(agent, min(_EACH, self.wanted - first)))

    def go_on(self) -> None:
        """Until all trials have ended: a fault now and then, and looks at the API and the processes all the time."""
        last, ended, at = time.monotonic(), 0, time.monotonic() + _FIRST_S
        while ended < self.wanted:
            threading.Event().wait(1)
            self._read(self.random.choice(_PATHS))
            now, before = time.monotonic(), ended
            ended = _ended()
            self.memory.look(self.fleet.parts, ended)
            if ended > before:
                last = now
            assert now - last < _STUCK_S, f"no trial has ended for {now - last:.0f} s: {_states()}"
            if now >= at:
                self._strike(ended)
                at = time.monotonic() + self.random.uniform(*_BETWEEN_S)

    def _strike(self, ended: int) -> None:
        early = ended < _EARLY * self.wanted
        strike = self.random.choice([one for one in strikes() if early or not one.early])
        self._tell(f"{ended} trials have ended; {strike.name}")
        strike.happens(self.fleet, self.random)
        self.struck[strike.name] += 1

    def _read(self, path: str) -> None:
        request = urllib.request.Request(
            f"{self.fleet.url}{path}", headers={"Authorization": f"Bearer {self.fleet.token}"}
        )
        try:
            urllib.request.urlopen(request, timeout=60).read()
        except urllib.error.HTTPError as error:
            if error.code != 503:  # which says that the warehouse is away
                error.add_note(f"{path}: {error.read().decode()[:1000]}\n{self.fleet.web.printed()[-5000:]}")
                raise

    def _tell(self, words: str) -> None:
        print(f"{time.monotonic() - self.began:6.0f} s  {words}", file=sys.__stderr__, flush=True)

    def report(self) -> str:
        """What docs/reliability.md tells, as Markdown."""
        seconds = time.monotonic() - self.began
        lines = [f"{self.wanted} trials in {seconds / 60:.0f} min; {sum(self.struck.values())} faults:"]
        lines += [f"- {name}: {times}" for name, times in sorted(self.struck.items())]
        lines += [f"attempts: {dict(_attempts())}", f"trials: {_states()}", f"picked up: {_picked_up()}"]
        lines += ["", "| process | trials | MiB | lowest | highest | threads | files |", f"|{'---|' * 7}"]
        lines += [
            f"| {one.process} | {one.trials} | {one.kb / 1024:.0f} | {one.lowest:.1%} | {one.highest:.1%} "
            f"| {one.threads} | {one.files} |"
            for one in self.memory.growths()
        ]
        return "\n".join(lines)


def test_no_trial_is_lost_or_doubled(fleet: Fleet, agents: list[Address], request: pytest.FixtureRequest) -> None:
    seed = request.config.getoption("--soak-seed")
    soak = Soak(fleet, agents, request.config.getoption("--soak"), Random(seed))
    with watching.watched(agents) as seen:
        soak.queue()
        soak.go_on()
    print(report := soak.report(), file=sys.__stderr__, flush=True)
    folder = Path(surrounding("TEITEN_STATE"))
    (folder / "soak.md").write_text(report)
    (folder / "soak.csv").write_text(soak.memory.csv())
    assert _states() == {TrialState.DONE: soak.wanted}, _failures()
    assert _not_stored_once() == []
    assert _bundles(fleet) == []
    assert stored.overlaps() == []
    assert kept_counts() == right_counts()
    assert {agent: moments for agent, moments in seen.items() if any(len(one) > 1 for one in moments)} == {}
    require_nothing_left(fleet, agents)
    growths = soak.memory.growths()
    assert len(growths) >= (0 if soak.wanted < 3 * SETTLED else len(fleet.parts) // 2)
    assert [one for one in growths if one.lowest < 1 - _FLAT or one.highest > 1 + _FLAT] == []


def _plan(agent: str, replicates: int) -> dict[str, object]:
    return {
        "name": f"soak on {agent}",
        "workload": "pgbench",
        "replicates": replicates,
        "duration_s": 1,
        "installation": "16",
        "agents": {"primary": agent},
        "collectors": ["latency_log"],
        "parameters": {"scale": 1, "script": "select-only"},
    }


def _ended() -> int:
    return int(warehouse.retry(models.Trial.objects.filter(state__in=_ENDED).count))


def _states() -> dict[str, int]:
    return dict(models.Trial.objects.values_list("state").annotate(Count("pk")).order_by())


def _attempts() -> Counter[str]:
    return Counter(models.Attempt.objects.values_list("state", flat=True))


def _picked_up() -> int:
    return models.Attempt.objects.filter(picked_up=True).count()


def _failures() -> list[object]:
    return list(models.Trial.objects.filter(state=TrialState.FAILED).values("pk", "error", "attempts__error"))


def _not_stored_once() -> list[int]:
    """Trials whose numbers are not those of one finished attempt."""
    done = models.Attempt.objects.filter(state=AttemptState.DONE)
    several = done.values("trial").annotate(times=Count("pk")).exclude(times=1).values_list("trial", flat=True)
    counted = models.Measurement.objects.filter(metric_id="transactions", node="", label="", value__gt=0)
    of_one = counted.values("attempt").annotate(times=Count("pk")).filter(times=1).values("attempt")
    without = models.Trial.objects.filter(state=TrialState.DONE).exclude(attempt__in=of_one)
    return [*several, *without.values_list("pk", flat=True)]


def _bundles(fleet: Fleet) -> list[str]:
    """Bundles that should be there and are not, and those of no attempt."""
    wanted = set(models.Attempt.objects.exclude(bundle="").values_list("bundle", flat=True))
    there = {str(path.relative_to(fleet.bundles)) for path in fleet.bundles.rglob("*.tar*")}
    return sorted(wanted ^ there)
