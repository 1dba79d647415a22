"""Whatever an agent says is bounded: a worker outlives an agent that never stops talking."""

from __future__ import annotations

import asyncio
import json
import subprocess
import sys
from collections.abc import AsyncIterator
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

import pytest

from results.domain.errors import AgentError, CommandError
from tests.live.peak import MIB
from workers.postgres import cluster_inventory
from workers.postgres.installation import discover_installations
from workers.remote import clock, facts, limits
from workers.remote.address import Address
from workers.remote.connection import Remote
from workers.remote.job import Job, sweep

_FLOOD = "exec yes 'tps = 1 (not a word of this is true)'"
_GROWTH_BYTES = 100 * MIB  # twice what a command may print, once in chunks and once whole, and some


@pytest.fixture
async def folder(remote: Remote, address: Address) -> AsyncIterator[str]:
    """A folder on the agent."""
    jobs = f"{address.work_dir}/jobs"
    await remote.run("mkdir", "-p", jobs)
    before = (await remote.run("ls", jobs)).stdout.splitlines()
    await remote.run("mkdir", "-p", f"{jobs}/limits")
    yield f"{jobs}/limits"
    await sweep(remote)
    assert set((await remote.run("ls", jobs)).stdout.splitlines()) <= set(before)


async def peak(address: Address, tmp_path: Path, method: str, *words: str) -> dict[str, Any]:
    """Run a method of Remote in a process of its own; return its error, and by how much the process grew."""
    fields = {k: v for k, v in asdict(address).items() if k not in ("jump", "layout")}
    request = {"address": fields, "method": method, "words": words, "folder": str(tmp_path)}
    process = await asyncio.create_subprocess_exec(
        sys.executable, "-m", "tests.live.peak", json.dumps(request), stdout=subprocess.PIPE
    )
    stdout, _ = await process.communicate()
    assert process.returncode == 0
    answer: dict[str, Any] = json.loads(stdout)
    return answer


async def test_a_command_that_prints_for_ever_is_ended_with_its_name_and_the_limit(
    remote: Remote, address: Address, tmp_path: Path
):
    answer = await peak(address, tmp_path, "script", _FLOOD)
    assert answer["error"]["kind"] == "command"
    assert answer["error"]["what"] == "sh printed more than 32 MiB to standard output and was ended."
    assert "yes" in answer["error"]["command"]
    assert "docs/operations.md" in answer["error"]["todo"]
    assert answer["grown_bytes"] < _GROWTH_BYTES
    async with asyncio.timeout(60):
        while (await remote.run("pgrep", "-f", "^yes tps = 1", check=False)).exit_status == 0:
            await asyncio.sleep(0.05)


async def test_endless_errors_are_bounded_even_where_the_output_goes_to_a_file(remote: Remote, tmp_path: Path):
    with pytest.raises(CommandError, match="more than 32 MiB to standard error"):
        await remote.script(f"{_FLOOD} >&2", into=tmp_path / "output")
    assert not (tmp_path / "output").exists()


async def test_a_long_file_goes_to_the_disk_and_not_into_memory(
    remote: Remote, address: Address, folder: str, tmp_path: Path
):
    await remote.script('head -c "$1" /dev/zero >"$2/long"', str(limits.FILE_BYTES), folder)
    answer = await peak(address, tmp_path, "fetch", f"{folder}/long")
    assert answer["error"] == {}
    assert (tmp_path / "fetched").stat().st_size == limits.FILE_BYTES
    assert answer["grown_bytes"] < 30 * MIB


async def test_a_file_over_the_limit_is_a_named_error_and_leaves_no_part(remote: Remote, folder: str, tmp_path: Path):
    await remote.script('truncate -s 1T "$1/endless"', folder)
    with pytest.raises(CommandError, match=r"/endless is longer than 256 MiB, and was not copied"):
        await remote.fetch(f"{folder}/endless", tmp_path / "fetched")
    assert list(tmp_path.iterdir()) == []
    with pytest.raises(CommandError, match=r"/endless is longer than 32 MiB"):
        await remote.get(f"{folder}/endless")


async def test_a_jobs_endless_output_is_a_named_error(remote: Remote, folder: str):
    job = await Job.start(remote, f"{folder}/job", 'head -c 40000000 /dev/zero | tr "\\0" x', deadline_s=60)
    with pytest.raises(CommandError, match="job/stdout is longer than 32 MiB"):
        await job.finished()


async def test_the_names_of_a_million_files_are_not_taken(
    remote: Remote, address: Address, folder: str, tmp_path: Path
):
    """A program that says find, but prints names for ever."""
    await remote.script('mkdir -p "$1/full" && cd "$1/full" && seq -f "%06.0f" 10001 | xargs touch', folder)
    answer = await peak(address, tmp_path, "fetch_folder", f"{folder}/full")
    assert answer["error"]["what"] == f"There are too many files below {folder}/full."
    assert "10001" in answer["error"]["why"]
    assert answer["grown_bytes"] < 30 * MIB
    assert list(tmp_path.iterdir()) == []


async def test_files_of_a_folder_are_bounded_together(remote: Remote, folder: str, tmp_path: Path):
    await remote.script('mkdir "$1/many" && for n in 1 2 3; do truncate -s 9M "$1/many/$n"; done', folder)
    with pytest.raises(CommandError, match=f"{folder}/many/[123] is longer than 2 MiB"):
        await remote.fetch_folder(f"{folder}/many", lambda path: tmp_path / path, 20 * MIB)


@pytest.mark.parametrize("name", [r"..\057..\057etc\057passwd", r"\057etc\057passwd", r"a\057\057b", r"\377"])
async def test_a_name_that_leads_out_of_a_folder_is_refused(
    remote: Remote, folder: str, tmp_path: Path, name: str, monkeypatch: pytest.MonkeyPatch
):
    """As a hostile find(1) prints it. The folder is removed with the usual one."""
    await remote.put(f"{folder}/find", f"#!/bin/sh\nprintf '{name}\\0'\n", 0o755)
    path = (await remote.script("echo $PATH")).stdout.strip()
    with monkeypatch.context() as with_hostile_find:
        with_hostile_find.setattr("workers.remote.connection._LOCALE", f"PATH={folder}:{path}")
        with pytest.raises(AgentError, match="cannot be copied"):
            await remote.fetch_folder(folder, lambda path: tmp_path / path)
    assert list(tmp_path.iterdir()) == []


async def test_a_link_among_files_is_no_file(remote: Remote, folder: str, tmp_path: Path):
    await remote.script('mkdir "$1/links" && ln -s /etc/passwd "$1/links/a" && ln -s /etc "$1/links/b"', folder)
    await remote.fetch_folder(f"{folder}/links", lambda path: tmp_path / path)
    assert list(tmp_path.iterdir()) == []


async def test_endless_facts_and_lists_are_named_errors(remote: Remote, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(facts, "_SCRIPT", _FLOOD)
    with pytest.raises(CommandError, match="more than 1 MiB"):
        await facts.discover(remote, "/")
    monkeypatch.setattr("workers.postgres.installation._FIND", _FLOOD)
    with pytest.raises(CommandError, match="more than 4 MiB"):
        await discover_installations(remote, [])
    monkeypatch.setattr("workers.postgres.installation._FIND", "seq -f 'bin /opt/%.0f' 201")
    with pytest.raises(AgentError, match="There are 201 PostgreSQL installations"):
        await discover_installations(remote, [])
    entries = "seq -f 'entry\tclusters\t/data/%.0f\t1\twhole\t' 10002"
    monkeypatch.setattr(cluster_inventory, "_INVENTORY", entries)
    with pytest.raises(AgentError, match="more than 10000"):
        await cluster_inventory.inventory(remote)


@pytest.mark.parametrize(
    ("script", "words"),
    [
        ("cat >/dev/null", "did not answer within 0.3 s"),
        ("while read -r _; do echo nan; done", "is no time"),
        ("while read -r _; do echo 1e300; done", "is no time"),
        ("while read -r _; do echo noon; done", "noon"),
        ("exec tr '\\0' 1 </dev/zero", ""),
    ],
)
async def test_a_clock_that_never_answers_or_tells_no_time_is_a_named_error(
    remote: Remote, monkeypatch: pytest.MonkeyPatch, script: str, words: str
):
    monkeypatch.setattr(clock, "_PRINT_TIME", script)
    monkeypatch.setattr(clock, "_TIMEOUT_S", 0.3 if "cat" in script else 10)
    with pytest.raises(AgentError, match="clock could not be read") as raised:
        await remote.clock_offset()
    assert words in raised.value.why
    assert raised.value.retryable


@pytest.mark.parametrize("answer", ["nan 1 2 3", "0 nan 2 3", "0 1e400 2 3", "-1 1 2 3", "0 1 2", "4000 1 2 3"])
async def test_a_forged_end_of_a_job_is_a_named_error(remote: Remote, folder: str, answer: str):
    job = await Job.start(remote, f"{folder}/job", "true", deadline_s=20)
    await job.wait()
    status, started, *rest = answer.split()
    forged = {"exit": status, "started": started, "ended": rest[0], "deadline": " ".join(rest[1:])}
    for name, text in forged.items():
        await remote.put(f"{folder}/job/{name}", f"{text}\n")
    with pytest.raises(AgentError, match="without leaving its exit status"):
        await job.wait()


async def test_a_text_of_an_agent_holds_no_nul(remote: Remote):
    """No text of the warehouse may hold one."""
    answer = await remote.script(r"printf 'a\000b'; printf 'c\000d' >&2")
    assert (answer.stdout, answer.stderr) == ("a\ufffdb", "c\ufffdd")


async def test_a_limit_of_one_layout_is_the_limit_of_all(remote: Remote):
    other = remote.laid_out(replace(remote.address.layout, cpus="0"))
    with pytest.raises(CommandError, match="more than 64 KiB"):
        await other.run("yes", limit_bytes=limits.ANSWER_BYTES)
