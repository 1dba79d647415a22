"""What an attempt has come to, on the worker's disk: from there another worker goes on where this one died.

It is written once the measurement runs by itself on the agents, and again after each step that must not be done twice.
It lies beside the attempt's raw files, below the bundle folder, which all workers see. What is on the agents and in the
raw files is not in it."""

from __future__ import annotations

import dataclasses
import json
import os
from collections.abc import Mapping
from dataclasses import asdict, dataclass, fields, replace
from enum import StrEnum
from importlib import import_module
from pathlib import Path
from typing import Any

from results.bundle_storage import UNFINISHED
from results.domain.dataclass_json import ShapeError, from_json
from results.domain.errors import TrialError
from results.domain.matrix import InstallationRef
from results.domain.measurement.parsed_trial import Check, CommandRun, Gap, LayerUse, PhaseTiming
from results.domain.measurement.record_texts import holder_to_json, holder_with_messages
from results.domain.messages import gettext_lazy as _
from workers.bundle.manifest import Node
from workers.bundle.writer import BundleWriter, folder_name
from workers.interfaces import Stage
from workers.postgres.server import Server
from workers.remote.address import Layout
from workers.remote.connection import Remote

FORMAT = 1
MOST_PICK_UPS = 3  # an attempt that ends its workers is not picked up for ever


class Step(StrEnum):
    """What is to be done next."""

    FINISH = "finish"  # wait for the measurement
    COLLECT = "collect"
    AUDIT = "audit"
    CLEAN = "clean"
    STORE = "store"  # the bundle is archived


@dataclass(frozen=True)
class _Server:
    """A `Server`, with the role of the agent that it is reached by."""

    role: str
    installation: InstallationRef
    data_dir: str
    port: int
    socket_dir: str
    host: str
    how: str
    forced: str
    password_file: str
    user: str
    outside: bool
    options: Mapping[str, str]


@dataclass(frozen=True)
class _Kept:
    """A value that a kind keeps from phase to phase.

    kind: 'module:name' of its class
    """

    kind: str
    node: str
    value: Mapping[str, Any]


@dataclass(frozen=True)
class SavedStage:
    """What is known of a stage beyond its order.

    layouts: role → layout of the attempt
    commands: agent → every command as run
    """

    layouts: Mapping[str, Layout]
    commands: Mapping[str, tuple[CommandRun, ...]]
    servers: Mapping[str, _Server]
    poolers: Mapping[str, _Server]
    kept: tuple[_Kept, ...]
    database: str
    window_s: tuple[float, float] | None
    serving: str
    logs_transactions: bool
    script_names: tuple[str, ...]
    clock_offsets_s: Mapping[str, float]


@dataclass(frozen=True)
class SavedBundle:
    """What a bundle's writer holds beside files.

    folder: name of the folder with the raw files
    long_files: paths of files in which secrets are still to be hidden
    """

    folder: str
    notes: Mapping[str, Any]
    checks: tuple[Check, ...]
    gaps: tuple[Gap, ...]
    long_files: tuple[str, ...]


@dataclass(frozen=True)
class Checkpoint:
    """See the module.

    step: what is to be done next
    worker: who has the attempt, or had it last
    pick_ups: how often another worker took it
    started_s: start of the attempt, epoch seconds
    measuring_s: start of the phase `measure`, seconds since then
    collected: those of `watching` that are stopped and recorded
    error: `TeitenError.as_dict()`
    unreachable_since_s: since when an agent could not be reached to pick the attempt up, epoch seconds
    """

    step: Step
    worker: str
    pick_ups: int
    started_s: float
    measuring_s: float = 0.0
    phases: tuple[PhaseTiming, ...] = ()
    nodes: tuple[Node, ...] = ()
    layers: tuple[LayerUse, ...] = ()
    watching: tuple[tuple[str, str], ...] = ()
    collected: tuple[tuple[str, str], ...] = ()
    stage: SavedStage | None = None  # None where nothing is left to be done on the agents
    bundle: SavedBundle | None = None
    error: Mapping[str, Any] | None = None
    unreachable_since_s: float | None = None
    format: int = FORMAT


class UnsavableError(Exception):
    """A stage holds what no other process can have."""


def path_of(root: Path, trial_key: str, attempt: int) -> Path:
    """Return where the checkpoint of an attempt lies below the bundle folder."""
    return root / UNFINISHED / f"{folder_name(trial_key, attempt)}.checkpoint"


def write(path: Path, checkpoint: Checkpoint) -> None:
    """Write it so that it is there wholly or not at all; for the worker's account alone, since commands are in it."""
    partial = path.with_suffix(".partial")
    value = asdict(checkpoint) | {"bundle": holder_to_json(checkpoint.bundle) if checkpoint.bundle else None}
    descriptor = os.open(partial, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
    with os.fdopen(descriptor, "w", encoding="utf-8") as file:
        json.dump(value, file)
        file.flush()
        os.fsync(file.fileno())
    partial.replace(path)


def read(path: Path) -> Checkpoint:
    """Return a checkpoint. Raises TrialError (retryable) where it is of another Teiten, or cannot be read."""
    try:
        value = json.loads(path.read_text(encoding="utf-8"))
        if not isinstance(value, dict) or value.get("format") != FORMAT:
            raise ShapeError("format", _("it is not {format}", format=FORMAT))
        if isinstance(bundle := value.get("bundle"), dict):
            value["bundle"] = holder_with_messages(bundle)
        return from_json(Checkpoint, value)
    except (OSError, ValueError) as error:
        raise TrialError(
            _("The measurement could not be picked up."),
            where=str(path),
            why=_(
                "What its worker left cannot be read: {error}",
                error=error.args[0] if isinstance(error, ShapeError) else str(error),
            ),
            todo=_("Nothing: the trial runs again."),
            retryable=True,
        ) from error


def is_of(path: Path, worker: str) -> bool:
    """Return whether it is the checkpoint of this worker's attempt. One of an attempt of the same number in another
    warehouse, which used this folder before, is another worker's."""
    try:
        return read(path).worker == worker
    except TrialError:
        return False


def saved_stage(stage: Stage) -> SavedStage:
    """Return what another process needs to know of a stage. Raises UnsavableError."""
    if stage.services or stage.event:
        raise UnsavableError("a service, or a host factor that is set in mid-run, is this worker's own")
    return SavedStage(
        layouts={role: remote.address.layout for role, remote in stage.agents.items()},
        commands={remote.address.name: tuple(remote.log) for remote in stage.agents.values()},
        servers={node: _saved_server(stage, server) for node, server in stage.servers.items()},
        poolers={node: _saved_server(stage, server) for node, server in stage.poolers.items()},
        kept=tuple(_saved_value(value, node) for value, node in stage.all_kept()),
        database=stage.database,
        window_s=stage.window_s,
        serving=stage.serving,
        logs_transactions=stage.logs_transactions,
        script_names=stage.script_names,
        clock_offsets_s=dict(stage.clock_offsets_s),
    )


def restore_stage(saved: SavedStage, stage: Stage) -> None:
    """Give a new stage, whose agents are connected, what another one had, whose worker is gone. Raises ShapeError."""
    for role, remote in reversed(stage.agents.items()):
        remote.log[:] = saved.commands.get(remote.address.name, ())
        remote.address = replace(remote.address, layout=saved.layouts[role])
    stage.agents = {role: _laid_out(remote, saved.layouts[role]) for role, remote in stage.agents.items()}
    stage.servers = {node: _server(stage, server) for node, server in saved.servers.items()}
    stage.poolers = {node: _server(stage, server) for node, server in saved.poolers.items()}
    for kept in saved.kept:
        stage.keep(_value(kept), kept.node)
    stage.database, stage.window_s, stage.serving = saved.database, saved.window_s, saved.serving
    stage.logs_transactions, stage.script_names = saved.logs_transactions, saved.script_names
    stage.clock_offsets_s = saved.clock_offsets_s
    stage.picked_up = True


def saved_bundle(writer: BundleWriter) -> SavedBundle:
    checks, gaps = tuple(writer.checks), tuple(writer.gaps)
    return SavedBundle(writer.directory.name, dict(writer.notes), checks, gaps, writer.long_files)


def restore_bundle(saved: SavedBundle, writer: BundleWriter) -> None:
    writer.notes.update(saved.notes)
    writer.checks.extend(saved.checks)
    writer.gaps.extend(saved.gaps)
    for path in saved.long_files:
        writer.file(path)


def _laid_out(remote: Remote, layout: Layout) -> Remote:
    return remote if remote.address.layout == layout else remote.laid_out(layout)


def _saved_server(stage: Stage, server: Server) -> _Server:
    role = next((role for role, remote in stage.agents.items() if remote is server.remote), None)
    if role is None:
        raise UnsavableError(f"the server in {server.data_dir} is reached by no role's agent")
    values = {item.name: getattr(server, item.name) for item in fields(Server) if item.name != "remote"}
    return _Server(role, **{**values, "options": dict(server.options)})


def _server(stage: Stage, saved: _Server) -> Server:
    values = {item.name: getattr(saved, item.name) for item in fields(_Server) if item.name != "role"}
    return Server(remote=stage.agents[saved.role], **values)


def _saved_value(value: object, node: str) -> _Kept:
    if not dataclasses.is_dataclass(value) or isinstance(value, type):
        raise UnsavableError(f"{value!r} is kept and is no dataclass")
    return _Kept(f"{type(value).__module__}:{type(value).__qualname__}", node, asdict(value))


def _value(kept: _Kept) -> object:
    module, _colon, name = kept.kind.partition(":")
    try:
        kind = getattr(import_module(module), name, None) if module.startswith("workers.") else None
    except ImportError:
        kind = None
    if not (isinstance(kind, type) and dataclasses.is_dataclass(kind)):
        raise ShapeError("kept", _("there is no {kind} in this Teiten", kind=kept.kind))
    return from_json(kind, kept.value)
