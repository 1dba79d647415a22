"""Several servers that are arranged at once, one of which cannot be."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import pytest

from results.domain.errors import TrialError
from results.domain.kinds.parameters import Scalar
from results.domain.matrix import InstallationRef, TrialSpec
from workers import registry
from workers.bundle.writer import BundleWriter
from workers.interfaces import Stage
from workers.remote import job
from workers.remote.connection import Remote
from workers.servers import nodes


@pytest.mark.parametrize(
    ("topology", "parameters"),
    [
        ("streaming", {"standbys": 2}),
        ("cascading", {"standbys": 2}),
        ("pgpool", {"servers": 3, "through": "direct"}),
    ],
)
async def test_a_standby_that_still_starts_is_waited_for_when_another_one_cannot(
    tmp_path: Path, remote: Remote, postgres_16: InstallationRef, topology: str, parameters: Mapping[str, Scalar]
) -> None:
    declared, built = registry.kinds().topologies[topology], registry.topology(topology)
    arranged = declared.complete(parameters)
    spec = TrialSpec(
        workload="pgbench",
        parameters={},
        topology=topology,
        topology_parameters=arranged,
        installation=postgres_16,
        agents=dict.fromkeys(("client", *declared.nodes_of(arranged)), "live"),
        settings={},
    )
    stage = Stage(spec, dict.fromkeys(spec.agents, remote), {}, BundleWriter(tmp_path, "1/1", 1), "1-1", "postgres")
    unfit, slow = (nodes.directory_of(stage, node) for node in ("standby1", "standby2"))
    try:
        await built.build(stage)
        await remote.remove(slow)  # to be copied, which takes its time
        await remote.remove(unfit)
        await remote.put(unfit, "no folder")
        with pytest.raises(TrialError, match="standby1 could not be copied"):
            await built.arrange(stage)  # type: ignore[attr-defined]
        assert await stage.servers["standby2"].query("SELECT pg_is_in_recovery() AS it") == [{"it": True}]
    finally:
        await built.tear_down(stage)
        await remote.remove(unfit)
        await job.sweep(remote)
