"""Load on servers that Teiten did not build, from several agents at once."""

from __future__ import annotations

import asyncio
import re
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest
from django.utils import timezone

from results import agents, models
from results.agents import Contact
from results.domain.matrix import InstallationRef
from tests.live.trials.conftest import value
from tests.live.trials.endpoints import plan, prepare
from tests.live.trials.killing import on_agent
from workers.bundle import reader
from workers.pgbench.several import TOGETHER_S
from workers.postgres import cluster
from workers.postgres.server import Server
from workers.remote.address import Address
from workers.remote.connection import connected

Measure = Callable[..., models.Attempt]


def test_every_endpoint_has_clients_of_its_own_that_begin_together(
    measure: Measure, two: list[Server], bundles: Path
) -> None:
    # two servers without a cluster's common catalog: each needs the database that the trial loads through the first
    prepare(two[1:], "CREATE DATABASE bench;")
    attempt = measure(**plan(two) | {"data": "fresh", "collectors": ["latency_log"]})
    assert attempt.error is None, attempt.error
    one, other = (value(attempt, "tps", node=node) for node in ("primary", "endpoint2"))
    assert value(attempt, "tps") == pytest.approx(one + other)
    assert value(attempt, "tps.per_node") == pytest.approx((one + other) / 2)
    files = reader.open_files(bundles / attempt.bundle)
    began = [float(files[f"workload/{node}/began"]) for node in ("primary", "endpoint2")]
    # on a machine that is busy with other things they may begin apart: then the trial says so
    assert any(gap["source"] == "loads" for gap in attempt.gaps) == (abs(began[0] - began[1]) > TOGETHER_S)
    assert {use.node for use in attempt.layer_uses.filter(layer__kind="hardware")} == {"client"}


def test_a_database_that_teiten_did_not_make_is_never_dropped(measure: Measure, two: list[Server]) -> None:
    prepare(two[:1], "CREATE DATABASE bench;")
    attempt = measure(**plan(two[:1]) | {"data": "fresh"})
    assert attempt.error is not None
    assert attempt.error["what"] == "The server has a database 'bench' that Teiten did not make."


@pytest.mark.smoke
def test_an_endpoint_that_does_not_answer_fails_before_the_clock(measure: Measure, two: list[Server]) -> None:
    silent = replace(two[1], port=1)
    attempt = measure(**plan([two[0], silent]))
    assert attempt.error is not None
    assert (attempt.error["what"], attempt.error["phase"]) == (
        "The endpoint 127.0.0.1:1 does not answer.",
        "prepare",
    )


def test_endpoints_that_have_nothing_in_common_fail_with_the_cause(measure: Measure, two: list[Server]) -> None:
    attempt = measure(**plan(two) | {"data": "fresh"})
    assert attempt.error is not None
    database = models.Attempt.objects.get(pk=attempt.pk).notes["data"]["database"]
    expected = f"The endpoint 127.0.0.1:{two[1].port} has no database {database}."
    assert (attempt.error["what"], attempt.error["phase"]) == (expected, "arrange")
    assert "of one cluster only" in attempt.error["todo"]


def test_commands_run_before_and_after_and_a_failing_one_says_so(
    measure: Measure, two: list[Server], bundles: Path, address: Address
) -> None:
    attempt = measure(**plan(two[:1], before="echo readied", after="echo tidied; exit 3") | {"data": "fresh"})
    assert attempt.error is None, attempt.error
    files = reader.open_files(bundles / attempt.bundle)
    assert (files["topology/before.txt"], files["topology/after.txt"]) == (b"readied\n", b"tidied\n")
    assert any("ended with exit status 3" in gap["reason"] for gap in attempt.gaps)
    assert on_agent(address, 'ls "$1/jobs"', address.work_dir) == ""


def test_a_server_of_teiten_on_an_agent_named_for_an_endpoint_is_stopped(
    measure: Measure, two: list[Server], far: Address, postgres_16: InstallationRef
) -> None:
    async def left() -> Server:
        async with connected(far) as remote:
            return await cluster.ensure(remote, postgres_16)

    server = asyncio.run(left())
    attempt = measure(**plan(two[:1]) | {"agents": {"client": "live", "primary": "far"}, "data": "fresh"})
    assert attempt.error is None, attempt.error
    assert on_agent(far, '[ ! -e "$1/postmaster.pid" ] && echo stopped', server.data_dir) == "stopped\n"


@pytest.mark.usefixtures("far")
def test_several_agents_drive_one_server_together(measure: Measure) -> None:
    attempt = measure(
        duration_s=6,
        agents={"primary": "live", "client2": "far"},
        parameters={"script": "custom", "custom_script": "SELECT :scale;", "clients": 3, "rate": 300},
    )
    assert attempt.error is None, attempt.error
    one, other = (value(attempt, "transactions", node=node) for node in ("client", "client2"))
    assert value(attempt, "transactions") == one + other
    assert one == pytest.approx(2 * other, rel=0.35)
    assert sorted(sum(row.counts) for row in attempt.histograms.all()) == sorted([one, other])
    assert [gap for gap in attempt.gaps if gap["source"] == "latency_log"] == []


@pytest.mark.parametrize("workload", ["pgbench", "update_scaleup", "read_scaleup", "append"])
def test_clients_of_several_major_versions_of_pgbench_are_refused_before_the_clock(
    measure: Measure, far: Address, agent_contact: Contact, workload: str
) -> None:
    newest = [
        one for one in agent_contact.installations if one.version_num // 10000 == 18 and one.client_bin == one.bin_dir
    ]
    pk = models.Agent.objects.get(name=far.name).pk
    agents.record_contact(pk, replace(agent_contact, installations=newest), timezone.now())
    attempt = measure(workload=workload, agents={"primary": "live", "client2": "far"}, parameters={"clients": 2})
    assert attempt.error is not None
    assert attempt.error["where"] == "agents.client2"
    assert attempt.error["phase"] in ("load", "warm", "verify")
    assert re.fullmatch(
        r"The clients' pgbench is of several major versions: 16\.\d+ on agent live, 18\.\d+ on agent far\.",
        attempt.error["what"],
    )
    assert attempt.measured_from is None
