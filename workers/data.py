"""Load a trial's data and warm its caches, by the plan's policies."""

from __future__ import annotations

import hashlib
import json
from typing import Any

from results.domain.environment.layers import Layer, LayerKind
from results.domain.errors import CommandError
from results.domain.kinds.specs import role_of
from results.domain.matrix import TrialSpec
from results.domain.measurement.parsed_trial import LayerUse
from results.domain.messages import SEMICOLON, linked
from results.domain.messages import gettext_lazy as _
from workers import registry
from workers.interfaces import Stage
from workers.postgres import database, verify
from workers.servers.nodes import all_of

# Settings that change what a load leaves on disk: data loaded under other values are other data.
_SHAPING = ("default_statistics_target", "default_toast_compression")


def data_key(spec: TrialSpec) -> tuple[dict[str, Any], str]:
    """Return what decides the data that a trial works on, and its hash, by which loaded data are reused."""
    key = {
        "workload": spec.workload,
        "access_method": spec.access_method,
        **{f"setting.{name}": spec.settings[name] for name in _SHAPING if name in spec.settings},
        **registry.kinds().workloads[spec.workload].data_key(spec.parameters),
    }
    if spec.data == "reuse":  # a topology may change the data for good; the other policies load them anew
        key |= registry.kinds().topologies[spec.topology].data_key(spec.topology_parameters)
    return key, hashlib.sha256(json.dumps(key, sort_keys=True).encode()).hexdigest()[:12]


async def load(stage: Stage) -> LayerUse:
    """Load or reuse the data by the plan's policy, and set `stage.database`; return the layer that describes it."""
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
    """Bring caches into the plan's state, run the workload's warm-up and a checkpoint, and wait for autovacuum.

    So none of these falls into the measured window.
    """
    nodes = _nodes_with_load(stage)
    if stage.spec.cache == "prewarm":
        results = {node: await database.prewarm(stage.servers[node], stage.database) for node in nodes}
        for node, result in results.items():
            if result["how"] == "nothing":
                stage.recorder.gap("prewarm", node, result["why"])
        stage.recorder.note("cache", results if len(results) > 1 else next(iter(results.values())))
    await registry.workload(stage.spec.workload).warm_up(stage)
    if stage.spec.cache == "cold":  # last, since everything before warms the caches
        for node in nodes:
            await database.cold(stage.servers[node])
    states = await all_of(_settle(stage, node) for node in nodes)
    for node, state in zip(nodes, states, strict=True):
        if state and state.busy:
            stage.recorder.gap(
                "autovacuum",
                node,
                _("still at work when the clock started: {tables}", tables=linked(SEMICOLON, state.busy)),
            )


async def _settle(stage: Stage, node: str) -> verify.State | None:
    """Return the server's state after a checkpoint; None where a server that is not Teiten's refuses the queries."""
    server = stage.servers[node]
    try:
        return await verify.settle(server, stage.database)
    except CommandError as error:
        if not server.outside:
            raise
        stage.recorder.gap("checkpoint", node, error.why or error.words)
        return None


def _nodes_with_load(stage: Stage) -> list[str]:
    """Return the nodes whose caches count: those that hold the data, the primary first, then those that take load.

    Behind a pooler every server takes load.
    """
    holders = registry.kinds().topologies[stage.spec.topology].holders
    nodes = [node for node in stage.spec.servers if role_of(node) in holders]
    for load in stage.loads:
        nodes += [load.server] if load.server in stage.servers else stage.servers
    return list(dict.fromkeys(nodes))
