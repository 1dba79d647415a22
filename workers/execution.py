"""The state of one attempt while it runs, kept whatever happens."""

from __future__ import annotations

import logging
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from enum import Enum
from pathlib import Path
from typing import Any

from results import VERSION
from results.domain.errors import is_full
from results.domain.kinds.host_factors import Change
from results.domain.measurement.activity import ActivitySample
from results.domain.measurement.parsed_trial import CommandRun, LayerUse
from workers import checkpoint
from workers.bundle.manifest import Manifest, Node
from workers.bundle.writer import BundleWriter
from workers.checkpoint import Checkpoint, Step
from workers.host.use import HostUse
from workers.interfaces import Stage
from workers.orders import Order
from workers.phases import Phases
from workers.remote.connection import Remote

log = logging.getLogger(__name__)


class Hold(Enum):
    """Whose an attempt's agents are."""

    OWN = "own"
    LOST = "lost"  # the attempt has ended, and another one may use them
    TAKEN = "taken"  # another worker goes on with this very attempt


class Reporter:
    """What an attempt reports while it runs, and what it must ask.

    This one has nobody to report to or to ask: it is for attempts without a warehouse.

    idle: names of the agents that no other trial waits for when the attempt ends; their servers stop
    worker: who runs the attempt; '' where nobody is to go on with it if this process dies
    """

    def __init__(self, idle: Collection[str] = (), worker: str = "") -> None:
        self.idle, self.worker = idle, worker

    async def progress(self, phase: str, expected_s: float | None) -> None:
        """Take note of a phase that begins, and of its expected seconds."""

    async def idle_agents(self) -> Collection[str]:
        """Return, at the end, the agents that no other trial waits for."""
        return self.idle

    async def store_changes(self, agent: str, changes: Sequence[Change]) -> None:
        """Take note of an agent's host factors that are not at their own value, whenever these change."""

    async def store_sample(self, look: ActivitySample | None) -> None:
        """Take note of what sessions wait for where a phase takes longer than expected; of None once it has ended."""

    async def hold(self) -> Hold:
        """Return whose the agents are, as far as it is known."""
        return Hold.OWN

    async def certain_hold(self) -> Hold:
        """Return whose the agents are, once that is certain."""
        return Hold.OWN


@dataclass
class Execution:
    """One attempt.

    nodes: the trial's roles, with the clocks of their agents
    watching: (collector, node) of each that was started
    collected: those of them that are stopped and recorded
    error: why the attempt failed, `TeitenError.as_dict()`
    measuring_s: start of the phase `measure`, seconds since the attempt's start; None before it
    pick_ups: how often a worker was gone, and another one went on
    """

    order: Order
    writer: BundleWriter
    phases: Phases
    stage: Stage
    host: HostUse
    reporter: Reporter
    nodes: list[Node] = field(default_factory=list)
    layers: list[LayerUse] = field(default_factory=list)
    watching: list[tuple[str, str]] = field(default_factory=list)
    collected: list[tuple[str, str]] = field(default_factory=list)
    error: dict[str, Any] | None = None
    measuring_s: float | None = None
    pick_ups: int = 0

    @property
    def remotes(self) -> list[Remote]:
        """Each agent once."""
        return list({remote.address.name: remote for remote in self.stage.agents.values()}.values())

    @property
    def last_phase(self) -> str:
        return self.phases.done[-1].name if self.phases.done else "prepare"

    @property
    def checkpoint_path(self) -> Path:
        return checkpoint.path_of(self.writer.root, self.order.trial_key, self.order.attempt)

    @property
    def is_saved(self) -> bool:
        """Whether another worker could go on with it."""
        return self.checkpoint_path.exists()

    def save(self, step: Step) -> None:
        """Write what another worker needs to go on at this step, where one is to. Where the attempt cannot be picked
        up, nothing is written, and it is repeated where this worker dies."""
        if not self.reporter.worker or self.measuring_s is None:
            return
        try:
            stage = checkpoint.saved_stage(self.stage)
        except checkpoint.UnsavableError as error:
            log.warning("%s could not be picked up by another worker: %s", self.stage.job_name, error)
            return
        self.write(
            Checkpoint(
                step=step,
                worker=self.reporter.worker,
                pick_ups=self.pick_ups,
                started_s=self.phases.started_s,
                measuring_s=self.measuring_s,
                phases=tuple(self.phases.done),
                nodes=tuple(self.nodes),
                layers=tuple(self.layers),
                watching=tuple(self.watching),
                collected=tuple(self.collected),
                stage=stage,
                bundle=checkpoint.saved_bundle(self.writer),
                error=self.error,
            ),
        )

    def save_archived(self) -> None:
        """Write that the bundle is archived, and is only to be stored."""
        if self.reporter.worker:
            saved = Checkpoint(Step.STORE, self.reporter.worker, self.pick_ups, self.phases.started_s)
            self.write(saved)

    def write(self, saved: Checkpoint) -> None:
        """Write a checkpoint. Where the disk is full, the one before stays: another worker can go on from it too, but
        not from one of a worker that this one followed."""
        try:
            checkpoint.write(self.checkpoint_path, saved)
        except OSError as error:
            if not is_full(error):
                raise
            log.warning("%s has no new checkpoint: %s", self.stage.job_name, error)

    def manifest(self) -> Manifest:
        window = self.writer.notes.get("window")
        commands: list[CommandRun] = [command for remote in self.remotes for command in remote.log]
        return Manifest(
            trial_key=self.order.trial_key,
            attempt=self.order.attempt,
            teiten=VERSION,
            started_s=self.phases.started_s,
            ended_s=self.phases.started_s + self.phases.elapsed_s,
            spec=self.order.spec.to_json(),
            window=(window[0], window[1]) if window else None,
            error=self.error,
            nodes=tuple(self.nodes),
            collectors=tuple(sorted(self.watching)),
            phases=tuple(self.phases.done),
            commands=tuple(commands),
            layers=tuple(self.layers),
        )


def machines_by_role(stage: Stage) -> Mapping[str, Remote]:
    """Return each machine once, under the first server role that it plays, else under its client role."""
    first_roles: dict[str, tuple[str, Remote]] = {}
    nodes = [node for node in stage.spec.nodes if node not in stage.spec.outside]
    for role in (*nodes, *stage.spec.clients):
        remote = stage.agents[role]
        first_roles.setdefault(remote.address.name, (role, remote))
    return dict(first_roles.values())
