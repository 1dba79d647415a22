"""Faults, each of them met by a trial in every phase at once: what becomes of the six, and what is left of them."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from contextlib import AbstractContextManager
from dataclasses import dataclass, field
from typing import Any

import pytest

from tests.conftest import ROW
from tests.faults import agent_strikes, clocks, disks, strikes, trials
from tests.faults.conftest import Held, Hold, require_nothing_left
from tests.faults.fleet import Fleet
from tests.faults.trials import PHASES
from workers.remote.address import Address

AGAIN, PICKED_UP = "done, at attempt 2", "done, picked up"
_OF_A_LOST_WORKER = {
    "prepare": AGAIN,
    "load": AGAIN,
    "measure": PICKED_UP,
    "collect": PICKED_UP,
    "ingest": PICKED_UP,
}
_OF_LOST_LOGINS = {"prepare": AGAIN, "load": f"done|{AGAIN}", "collect": "done(, gap of (gated|clean))?"}
_GONE = r"failed: The server primary on agent {} had ended, and not by Teiten. Its log ends with: .+"
_OF_KILLED_SERVERS = {phase: _GONE.format(phase) for phase in ("load", "measure")}
_CRASHED = r"failed: server process \(PID [0-9]+\) was terminated by signal 9: Killed"
_IMPATIENT = {"measure": {"patience": 0.1}}
_IMPATIENT_LOADS = {**_IMPATIENT, "load": {"patience": 0.015, "parameters": {"deadline_s": 60}}}
_LATE = r"failed: The phase measure did not end by its deadline of 16\.5 s\. .*{}.*"
_OF_LOCKS = {"measure": _LATE.format("primary: 1 session active, waiting for Lock: relation")}
_OF_HANGING_SERVERS = {
    "load": r"failed: The phase load did not end by its deadline of 54\.9 s\. .*primary: it does not answer: .*",
    "measure": _LATE.format("Its servers have not said for [0-9]+ s what their sessions wait for"),
    "collect": "done, gap of server",
}
_COLLECTED = ("measure", "collect", "ingest")
_HANGING = {"collect": {"collectors": ["hanging"], "patience": 0.02}}
_GARBLED = {phase: {"collectors": ["garbled"]} for phase in _COLLECTED}
_GARBLED_GAPS = dict.fromkeys(_COLLECTED, "done, gap of garbled")
_OF_FULL_AGENTS = dict.fromkeys(("load", "measure"), "failed: .*No space left on device.*")
_OF_FULL_BUNDLES = dict.fromkeys(("load", "measure"), AGAIN)
# what is collected last is short, and may find the room that the stored trial's checkpoint leaves
_OF_FULL_BUNDLES |= dict.fromkeys(("prepare", "collect"), f"done|{AGAIN}")
_OF_SET_CLOCKS = dict.fromkeys(("measure", "collect"), AGAIN)


@dataclass(frozen=True)
class Fault:
    """One row of the table.

    strike: what happens while the six trials are held.
    expected: phase → what becomes of the trial (a pattern), where it is not simply done.
    plans: phase → what differs in the plan of its trial.
    around: what is arranged before the trials start, and removed after their end."""

    name: str
    strike: Callable[[Held], None]
    expected: Mapping[str, str] = field(default_factory=dict)
    plans: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)
    around: Callable[[Fleet, list[Address]], AbstractContextManager[None]] = disks.as_it_is


FAULTS = (
    Fault("none", strikes.nothing),
    Fault("both workers killed (kill −9)", strikes.worker_killed, _OF_A_LOST_WORKER),
    Fault("workers replaced by newer ones", strikes.worker_replaced, _OF_A_LOST_WORKER),
    Fault("the control worker killed", strikes.control_killed),
    Fault("beat killed", strikes.beat_killed),
    Fault("the web server killed", strikes.web_killed),
    Fault("Redis restarted", strikes.redis_restarted),
    Fault("Redis away for 15 s", strikes.redis_away),
    Fault("Redis flushed", strikes.redis_flushed),
    Fault("the warehouse restarted", strikes.warehouse_restarted),
    Fault("the warehouse away for 60 s", strikes.warehouse_away),
    Fault("all SSH logins cut", agent_strikes.ssh_cut, _OF_LOST_LOGINS),
    Fault("sshd restarted", agent_strikes.sshd_restarted, _OF_LOST_LOGINS),
    Fault("the measured servers killed", agent_strikes.servers_killed, _OF_KILLED_SERVERS),
    Fault("a session of the measured server killed", agent_strikes.session_killed, {"measure": _CRASHED}),
    Fault("pgbench killed", agent_strikes.pgbench_killed, {"measure": r"failed: pgbench was ended by SIGKILL .*"}),
    Fault("all trials cancelled", strikes.cancelled, dict.fromkeys(PHASES, "cancelled")),
    Fault("each message some times more", strikes.messages_doubled),
    Fault("a second beat, and second workers of the same names", strikes.two_of_each),
    Fault("the agents rebooted", agent_strikes.rebooted, {**_OF_LOST_LOGINS, "measure": AGAIN}),
    Fault("a lock that is never released", agent_strikes.locked, _OF_LOCKS, _IMPATIENT),
    Fault("the servers hang", agent_strikes.servers_stopped, _OF_HANGING_SERVERS, _IMPATIENT_LOADS),
    Fault("a collector that hangs", strikes.nothing, {"collect": "done, gap of hanging"}, _HANGING),
    Fault("a collector that writes garbage", strikes.nothing, _GARBLED_GAPS, _GARBLED),
    Fault("the agents' clocks set forward by an hour", clocks.set_forward, _OF_SET_CLOCKS, around=clocks.own_clocks),
    Fault("the disk of the measured servers full", disks.agents_full, _OF_FULL_AGENTS, around=disks.small_agents),
    Fault("the disk of the bundles full for a while", disks.bundles_full, _OF_FULL_BUNDLES, around=disks.small_bundles),
    Fault("the disk of the warehouse full for a while", disks.warehouse_full, around=disks.small_warehouse),
)


@pytest.mark.parametrize("fault", FAULTS, ids=lambda fault: fault.name)
def test_a_fault(
    fleet: Fleet,
    agents: list[Address],
    hold: Hold,
    fault: Fault,
    record_property: Callable[[str, object], None],
) -> None:
    with fault.around(fleet, agents):
        held = hold(fault.plans)
        fault.strike(held)
        held.let_go()
        outcomes = held.outcomes()
        record_property(ROW, (fault.name, {phase: outcomes[phase] for phase in PHASES}))
        unexpected = {
            phase: (outcome, trials.story(held.trials[phase]))
            for phase, outcome in outcomes.items()
            if not re.fullmatch(fault.expected.get(phase, "done"), outcome)
        }
        assert unexpected == {}
        for trial in held.trials.values():
            trials.require_right(fleet, trial)
        assert trials.overlaps() == []
        require_nothing_left(fleet, agents)
