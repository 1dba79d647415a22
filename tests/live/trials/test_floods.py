"""Programs that print more than any measurement: the worker stays small, and the trial says what it was."""

from __future__ import annotations

import asyncio
import re
from collections.abc import Callable
from pathlib import Path

import pytest

from results import models
from results.domain.matrix import InstallationRef
from results.domain.states import AttemptState
from tests.live.peak import MIB
from workers.bundle import reader
from workers.remote.address import Address
from workers.remote.connection import connected

Measure = Callable[..., models.Attempt]
_FLOOD_BYTES = 400 * MIB
_GROWTH_BYTES = 150 * MIB
_PROGRAM = """#!/bin/sh
case " $* " in *" -P 1 "*) yes 'tps = 1 (not a word of this is true)' | head -c {size} ;; esac
exec {program} "$@"
"""


def _memory_bytes(name: str) -> int:
    match = re.search(rf"^{name}:\s+(\d+) kB", Path("/proc/self/status").read_text(), re.MULTILINE)
    assert match is not None
    return int(match[1]) * 1024


async def _plant(address: Address, installation: InstallationRef, size_bytes: int) -> str:
    """Put a pgbench on the agent that prints so much before its work; return its folder."""
    folder = f"{address.work_dir}/flood"
    async with connected(address) as remote:
        for name in ("psql", "pgbench"):
            program = _PROGRAM.format(
                size=size_bytes if name == "pgbench" else 0, program=f"{installation.client_bin}/{name}"
            )
            await remote.put(f"{folder}/{name}", program, 0o755)
    return folder


def test_a_pgbench_that_prints_400_mb_fails_its_trial_and_not_the_worker(
    measure: Measure, address: Address, postgres_16: InstallationRef, bundles: Path
) -> None:
    assert measure().error is None  # whatever is loaded once is loaded now
    models.Installation.objects.update(client_bin=asyncio.run(_plant(address, postgres_16, _FLOOD_BYTES)))
    Path("/proc/self/clear_refs").write_text("5")  # forget the highest use of memory so far
    before = _memory_bytes("VmRSS")
    attempt = measure()
    grown = _memory_bytes("VmHWM") - before
    assert attempt.state == AttemptState.FAILED
    assert attempt.error["kind"] == "command"
    assert re.search(r"/measure/stdout is longer than 32 MiB, and was not copied\.$", attempt.error["what"])
    assert attempt.error["phase"] == "measure"
    assert grown < _GROWTH_BYTES
    assert reader.read(bundles / attempt.bundle).succeeded is False
    models.Installation.objects.update(client_bin=postgres_16.client_bin)
    assert measure().error is None


@pytest.mark.parametrize("collector", ["sar", "latency_log", "pg_stat"])
def test_a_collectors_file_over_the_limit_is_a_gap(
    measure: Measure, monkeypatch: pytest.MonkeyPatch, collector: str
) -> None:
    monkeypatch.setattr("workers.remote.connection.FILE_BYTES", 100)
    monkeypatch.setattr("workers.remote.connection.Remote.fetch.__defaults__", (100,))
    attempt = measure(collectors=[collector], parameters={"clients": 2})
    assert (attempt.error, attempt.state) == (None, AttemptState.DONE)
    [gap] = [gap for gap in attempt.gaps if gap["source"] == collector]
    assert re.search(r"(printed more|is longer) than 0\.09\d+ KiB", gap["reason"])
    assert not [file for file in attempt.files if re.search(r"sadf|folded|samples", file["path"])]


def test_a_bundle_that_grows_too_large_leaves_out_its_longest_file(
    measure: Measure, monkeypatch: pytest.MonkeyPatch, bundles: Path
) -> None:
    monkeypatch.setattr("workers.bundle.writer.LARGEST_BUNDLE_BYTES", 20_000)
    attempt = measure(collectors=["pg_stat"])
    gaps = [gap for gap in attempt.gaps if "was left out: a bundle holds" in gap["reason"]]
    assert gaps
    assert all(gap["source"] == "pg_stat" for gap in gaps if "collectors/pg_stat/" in gap["reason"])
    files = reader.open_files(bundles / attempt.bundle)
    assert sum(len(content) for name, content in files.items() if name != "manifest.json") <= 20_000
