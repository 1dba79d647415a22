"""The scale-up workloads on the oldest server that they must serve, step by step as the executor takes them."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from results.domain.kinds.specs import Reading
from results.domain.matrix import InstallationRef, TrialSpec, find_installation
from results.domain.measurement.parsed_trial import Part
from workers import registry
from workers.bundle.writer import BundleWriter
from workers.interfaces import AuditingWorkload, DetachedWorkload, Stage
from workers.postgres import cluster, database
from workers.remote import job
from workers.remote.connection import Remote

OLD = "11"


async def lived(stage: Stage) -> None:
    """A trial's life, without collectors."""
    workload = registry.workload(stage.spec.workload)

    async def load(name: str) -> None:
        await workload.load(stage, name)

    await database.ensure_database(stage.primary, "fresh", "0", load)
    await workload.warm_up(stage)
    await workload.verify(stage)
    assert isinstance(workload, DetachedWorkload)
    await workload.start(stage)
    await workload.finish(stage)
    if isinstance(workload, AuditingWorkload):
        await workload.audit(stage)


def read(stage: Stage, writer: BundleWriter) -> Part:
    folder = writer.directory / "workload"
    files = {path.relative_to(folder).as_posix(): path.read_text() for path in folder.rglob("*") if path.is_file()}
    start_s, end_s = writer.notes["window"]
    reading = Reading("client", files, stage.spec.parameters, (start_s, end_s))
    return registry.workload_parser(stage.spec.workload)(reading)


@pytest.mark.parametrize(
    ("workload", "changes"),
    [
        ("read_scaleup", {"variant": "index-only", "row_count": 100, "protocol": "prepared"}),
        ("update_scaleup", {"background": "vacuum", "background_at_s": 0.3}),
        ("append", {"clients": 2, "background": "checkpoint", "background_at_s": 0.3}),
    ],
)
async def test_a_trial_passes_its_checks_and_gives_its_numbers(
    tmp_path: Path, remote: Remote, installations: list[InstallationRef], workload: str, changes: dict[str, Any]
) -> None:
    installation = find_installation(OLD, installations)
    assert installation is not None
    declared = registry.kinds().workloads[workload]
    spec = TrialSpec(
        workload=workload,
        parameters={**{p.name: p.default for p in declared.parameters}, **changes},
        topology="single",
        topology_parameters={},
        installation=installation,
        agents={"client": "live", "primary": "live"},
        settings={},
        access_method="heap",
        duration_s=4,
    )
    writer = BundleWriter(tmp_path, "1/1", 1)
    server = await cluster.ensure(remote, installation)
    stage = Stage(spec, {"client": remote, "primary": remote}, {"primary": server}, writer, "old-1", measured_s=4)
    try:
        await lived(stage)
    finally:
        await job.sweep(remote, only="old-1")
    assert [check for check in writer.checks if not check.passed] == []
    part = read(stage, writer)
    assert part.failure == ""
    values = {one.metric: one.value for one in part.measurements if not one.label}
    assert values["tps"] > 0
    if workload == "append":
        assert values["append.rows"] == 10 * values["transactions"]
    if "background" in changes:
        assert part.events[0].text == f"{str(changes['background']).upper()} starting"
