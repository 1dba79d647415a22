"""What is known of the agents' clocks at a trial's end."""

from __future__ import annotations

import os
from collections.abc import Iterator
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import cast

import pytest

from bootstrap import places, system
from results.domain.errors import TrialError
from tests.faults.processes import Program, free_port, listens
from workers import clocks
from workers.bundle.writer import BundleWriter
from workers.execution import Execution
from workers.remote.address import Address
from workers.remote.clock import PRINT_BOOT, Boot, parse_boot
from workers.remote.connection import Remote, connected


@dataclass
class Attempt:
    """As much of one as clocks are compared with."""

    remotes: list[Remote]
    writer: BundleWriter


def attempt(remote: Remote, boot: Boot, folder: Path) -> Execution:
    writer = BundleWriter(folder, "1/1", 1)
    writer.note("boots", {remote.address.name: asdict(boot)})
    return cast("Execution", Attempt([remote], writer))


async def boot_of(remote: Remote) -> Boot:
    return parse_boot((await remote.script(PRINT_BOOT)).stdout)


async def test_a_clock_that_ran_on_is_no_gap(remote: Remote, tmp_path: Path) -> None:
    began = attempt(remote, await boot_of(remote), tmp_path)
    await clocks.require(began)
    assert began.writer.gaps == []


async def test_a_clock_that_was_set_fails_the_trial_which_is_tried_again(remote: Remote, tmp_path: Path) -> None:
    before = await boot_of(remote)
    with pytest.raises(TrialError, match=r"agent live was set.*forward by 3600\.0 s") as raised:
        await clocks.require(attempt(remote, replace(before, at_s=before.at_s - 3600), tmp_path))
    assert raised.value.as_dict()["retryable"]


@pytest.fixture
def sshd(tmp_path: Path) -> Iterator[Program]:
    """One more, which a test may end."""
    known, port = places.known(places.state_folder()), free_port()
    assert known is not None
    config = str(known.sshd / "sshd_config")
    argv = [system.program("sshd") or "sshd", "-D", "-e", "-f", config, "-p", str(port)]
    server = Program(str(port), argv, os.environ, lambda _: listens(port), tmp_path / "sshd.log", str(tmp_path))
    server.start()
    yield server
    server.stop()


async def test_a_clock_that_cannot_be_read_is_a_gap(sshd: Program, address: Address, tmp_path: Path) -> None:
    async with connected(replace(address, port=int(sshd.name))) as remote:
        began = attempt(remote, await boot_of(remote), tmp_path)
    sshd.stop()
    await clocks.require(began)
    (gap,) = began.writer.gaps
    assert (gap.source, gap.reason.partition(".")[0]) == ("clock", "Whether it was set is not known")
