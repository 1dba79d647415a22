"""Trials that are each held in one phase, for a fault to meet them there; and what has become of them."""

from __future__ import annotations

import uuid
from collections import defaultdict
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from typing import Any

from results import models, warehouse
from results.domain.failure_cause import cause
from results.domain.states import AttemptState, TrialState
from tests.faults.fleet import Fleet

PHASES = ("queued", "prepare", "load", "measure", "collect", "ingest")
MEASURED_S, SHORT_S = 10, 3
GATES = ("prepare", "load", "collect")
_SETUP = """
DO $$ BEGIN
    WHILE (pg_stat_file('GATE', true)).size IS NOT NULL LOOP PERFORM pg_sleep(0.05); END LOOP;
END $$;
CREATE TABLE t AS SELECT 1 AS one;
"""
_DEFINITION = """
[gate]
show = '''cat "MARK" 2>/dev/null || echo own'''
revert = '''while [ -e "REVERT" ]; do sleep 0.1; done; [ "$1" = own ] && rm -f "MARK" || echo "$1" >"MARK"'''
[gate.levels.open]
apply = '''echo open >"MARK"'''
check = '''cat "MARK"'''
expected = "open"
[gate.levels.held]
apply = '''echo held >"MARK"; while [ -e "GATE" ]; do sleep 0.1; done'''
check = '''cat "MARK"'''
expected = "held"
"""


@dataclass(frozen=True)
class Gates:
    """Files beside the agents' folders: what finds its own waits until it is removed."""

    folder: Path

    def close(self) -> None:
        for name in GATES:
            (self.folder / name).touch()

    def open(self) -> None:
        for name in GATES:
            (self.folder / name).unlink(missing_ok=True)

    @contextmanager
    def closed(self, name: str) -> Iterator[None]:
        """One more, while the block runs."""
        (self.folder / name).touch()
        try:
            yield
        finally:
            (self.folder / name).unlink()


def definition(gates: Gates, agent: str) -> str:
    """The host factor `gate` of an agent; what it sets is a file."""
    files = {"MARK": f"set-{agent}", "GATE": "prepare", "REVERT": "revert"}
    text = _DEFINITION
    for word, name in files.items():
        text = text.replace(word, str(gates.folder / name))
    return text


def plan(phase: str, gates: Gates) -> dict[str, Any]:
    """A plan of one trial that is held in the phase, if it is one that a gate or a lock holds.

    The trial that is queued waits for the agent of the one that prepares."""
    agent = "prepare" if phase == "queued" else phase
    common = {
        "name": phase,
        "replicates": 1,
        "installation": "16",
        "agents": {"primary": agent},
        "collectors": ["latency_log", "sar"],
        "host": {"gate": "held" if phase == "prepare" else "open"},
    }
    if phase == "load":
        # never the same again, so that the data of a trial before is not used instead
        setup = _SETUP.replace("GATE", str(gates.folder / "load")) + f"-- {uuid.uuid4()}\n"
        script = "SELECT one FROM t;"
        return common | {"workload": "script", "duration_s": SHORT_S, "parameters": {"text": script, "setup": setup}}
    collectors = [*common["collectors"], *(["gated"] if phase == "collect" else [])]
    seconds = MEASURED_S if phase == "measure" else SHORT_S
    return common | {"workload": "pgbench", "duration_s": seconds, "collectors": collectors, "parameters": {"scale": 1}}


def changed(plan: Mapping[str, Any], changes: Mapping[str, Any]) -> dict[str, Any]:
    """A plan with other values of some fields; tables and lists get further ones."""
    whole = dict(plan)
    for name, value in changes.items():
        if isinstance(value, dict):
            value = {**whole.get(name, {}), **value}
        elif isinstance(value, list):
            value = [*whole.get(name, []), *value]
        whole[name] = value
    return whole


def phase_of(trial_id: int) -> str:
    """The phase in which a trial is: one whose bundle is archived and whose attempt runs is in `ingest`."""
    trial = models.Trial.objects.get(pk=trial_id)
    running = trial.attempts.filter(state=AttemptState.RUNNING).exclude(bundle="")
    return "ingest" if running.exists() else trial.phase or "queued"


def ended(trial_id: int) -> bool:
    """Whether it has, and so has its last attempt: one whose trial is cancelled is still to clean up."""
    ended_states = (TrialState.DONE, TrialState.FAILED, TrialState.CANCELLED)
    trial = models.Trial.objects.filter(pk=trial_id, state__in=ended_states)
    return bool(warehouse.retry(trial.exclude(attempts__state=AttemptState.RUNNING).exists))


def outcome(trial_id: int) -> str:
    """What became of a trial, in the words of the table."""
    trial = models.Trial.objects.get(pk=trial_id)
    attempts = list(trial.attempts.order_by("number"))
    if trial.state == TrialState.CANCELLED:
        return "cancelled"
    if trial.state == TrialState.FAILED:
        assert trial.error is not None
        return f"failed: {cause(trial.error)}"
    last = attempts[-1]
    words = ["done"]
    if last.picked_up:
        words.append("picked up")
    if len(attempts) > 1:
        words.append(f"at attempt {len(attempts)}")
    words += [f"gap of {gap['source']}" for gap in last.gaps]
    return ", ".join(words)


def story(trial_id: int) -> list[str]:
    """What a failed test says of a trial: its attempts' errors and gaps."""
    attempts = models.Attempt.objects.filter(trial=trial_id).order_by("number")
    return [f"{one.number} {one.state} {one.worker}: {one.error} {one.gaps}" for one in attempts]


def require_right(fleet: Fleet, trial_id: int) -> None:
    """What is stored of a trial is stored once, and comes from one measurement; nothing of it is left anywhere."""
    trial = models.Trial.objects.get(pk=trial_id)
    for attempt in trial.attempts.all():
        assert attempt.state != AttemptState.RUNNING
        rows = attempt.measurements.values_list("metric_id", "node", "label")
        assert len(rows) == len(set(rows))
    if trial.state != TrialState.DONE:
        assert trial.attempt_id is None
        return
    attempt = trial.attempts.get(pk=trial.attempt_id)
    assert attempt.state == AttemptState.DONE
    counted = attempt.measurements.get(metric_id="transactions", node="", label="").value
    assert counted > 0
    assert sum(attempt.histograms.get(label="").counts) == counted
    assert attempt.measured_from is not None and attempt.measured_to is not None
    seconds = (attempt.measured_to - attempt.measured_from).total_seconds()
    wanted = MEASURED_S if trial.run.name == "measure" else SHORT_S
    assert wanted - 0.1 <= seconds <= wanted + 3, f"{trial.run.name}: measured for {seconds} s"
    assert (fleet.bundles / attempt.bundle).is_file()


def overlaps() -> list[str]:
    """Attempts on one agent whose times overlap, by what the warehouse says."""
    pairs = []
    for agent, attempts in _by_agent().items():
        in_order = sorted(attempts, key=lambda attempt: attempt.started_at)
        for first, second in pairwise(in_order):
            if first.ended_at is None or first.ended_at > second.started_at:
                pairs.append(f"{agent}: {first.pk} and {second.pk}")
    return pairs


def _by_agent() -> dict[str, list[models.Attempt]]:
    names = dict(models.Agent.objects.values_list("pk", "name"))
    attempts: dict[str, list[models.Attempt]] = defaultdict(list)
    for attempt in models.Attempt.objects.select_related("trial"):
        for agent in attempt.trial.agents:
            attempts[names[agent]].append(attempt)
    return attempts
