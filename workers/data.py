"""The data of a trial and the caches above them, by the plan's policies."""

from __future__ import annotations

import hashlib
import json
from typing import Any

from results.domain.environment.layers import Layer, LayerKind
from results.domain.errors import CommandError
from results.domain.kinds.specs import role_of
from results.domain.matrix import TrialSpec
from results.domain.measurement.parsed_trial import LayerUse
from workers import registry
from workers.interfaces import Stage
from workers.postgres import database, verify
from workers.servers.nodes import all_of

# Settings that decide what a load leaves behind: data loaded under others are others.
_SHAPING = ("default_statistics_target", "default_toast_compression")


def data_key(spec: TrialSpec) -> tuple[dict[str, Any], str]:
    """What decides the data that a trial works on, and its hash, by which loaded data are found again."""
    key = {
        "workload": spec.workload,
        "access_method": spec.access_method,
        **{f"setting.{name}": spec.settings[name] for name in _SHAPING if name in spec.settings},
        **registry.kinds().workloads[spec.workload].data_key(spec.parameters),
    }
    if spec.data == "reuse":  # what an arrangement does to the data stays in them; the other policies begin anew
        key |= registry.kinds().topologies[spec.topology].data_key(spec.topology_parameters)
    return key, hashlib.sha256(json.dumps(key, sort_keys=True).encode()).hexdigest()[:12]


async def load(stage: Stage) -> LayerUse:
    """Has the data ready in `stage.database`, by the plan's policy; the layer that describes it."""
    spec = stage.spec
    workload = registry.workload(spec.workload)
    key, key_hash = data_key(spec)

    async def fill(name: str) -> None:
        await workload.load(stage, name)

    prepared = await database.ensure_database(stage.primary, spec.data, key_hash, fill)
    stage.database = prepared.name
    stage.recorder.note("data", {"policy": spec.data, "how": prepared.how, "database": prepared.name})
    return LayerUse("primary", Layer(LayerKind.DATA, {"policy": spec.data, **key}))


async def warm(stage: Stage) -> None:
    """Caches by the plan's policy, the workload's own warm-up, a checkpoint, and autovacuum come to rest, so that none
    of them falls into the measured window."""
    if stage.spec.cache == "prewarm":
        warmed = {node: await database.prewarm(stage.servers[node], stage.database) for node in _read(stage)}
        for node, said in warmed.items():
            if said["how"] == "nothing":
                stage.recorder.gap("prewarm", node, said["why"])
        stage.recorder.note("cache", warmed if len(warmed) > 1 else next(iter(warmed.values())))
    await registry.workload(stage.spec.workload).warm_up(stage)
    if stage.spec.cache == "cold":  # last of all: whatever ran before has warmed it
        for node in _read(stage):
            await database.cold(stage.servers[node])
    nodes = _read(stage)
    states = await all_of(_settled(stage, node) for node in nodes)
    for node, state in zip(nodes, states, strict=True):
        if state and state.busy:
            stage.recorder.gap("autovacuum", node, f"still at work when the clock started: {'; '.join(state.busy)}")


async def _settled(stage: Stage, node: str) -> verify.State | None:
    """None where a server that is not Teiten's refuses to be asked."""
    server = stage.servers[node]
    try:
        return await verify.settle(server, stage.database)
    except CommandError as error:
        if not server.outside:
            raise
        stage.recorder.gap("checkpoint", node, error.why or str(error))
        return None


def _read(stage: Stage) -> list[str]:
    """The nodes whose caches count: those that hold the data, the primary first, and those that take load; behind a
    pooler all."""
    holders = registry.kinds().topologies[stage.spec.topology].holders
    holding = [node for node in stage.spec.servers if role_of(node) in holders]
    taking = [[load.server] if load.server in stage.servers else stage.servers for load in stage.loads]
    return list(dict.fromkeys([*holding, *(node for nodes in taking for node in nodes)]))
