"""Detached jobs on a real agent."""

from __future__ import annotations

import asyncio
import os
from collections.abc import AsyncIterator

import pytest

from results.domain.errors import AgentError, CommandError
from tests.live.test_remote_connection import cut
from workers.remote.address import Address
from workers.remote.connection import Remote, connected
from workers.remote.job import Job, sweep


@pytest.fixture
async def directory(remote: Remote, address: Address) -> AsyncIterator[str]:
    attempt = f"test-{os.getpid()}"
    yield f"{address.work_dir}/jobs/{attempt}/job"
    await sweep(remote)


async def living(remote: Remote, directory: str) -> list[str]:
    """The command lines of every process that a job in this directory has brought forth."""
    script = """
    for environment in $(grep -lzxF -e "TEITEN_JOB=$1" /proc/[0-9]*/environ 2>/dev/null); do
        tr '\\0' ' ' <"${environment%environ}cmdline"; echo
    done"""
    return (await remote.script(script, directory)).stdout.split("\n")[:-1]


async def until_running(remote: Remote, directory: str, command: str) -> None:
    async with asyncio.timeout(60):
        while not any(line.startswith(command) for line in await living(remote, directory)):
            await asyncio.sleep(0.02)


async def test_a_job_killed_at_once_still_says_how_it_ended(remote: Remote, directory: str):
    for _ in range(5):
        job = await Job.start(remote, directory, "sleep 61", deadline_s=90)
        await job.kill()
        result = await job.wait()
        assert result.exit_status in (124, 137, 143)
        assert result.ended_s >= result.started_s


async def test_a_job_leaves_its_output_status_and_times(remote: Remote, directory: str):
    job = await Job.start(remote, directory, ["sh", "-c", "echo out; echo err >&2; sleep 0.1; exit 3"], deadline_s=20)
    result = await job.wait()
    assert (result.exit_status, result.timed_out) == (3, False)
    assert 0.1 <= result.ended_s - result.started_s < 19
    assert (await job.stdout(), await job.stderr()) == ("out\n", "err\n")
    listing = (await remote.run("ls", directory)).stdout.split()
    assert {"script", "pid", "stdout", "stderr", "exit", "started", "ended"} <= set(listing)


async def test_the_start_of_a_job_waits_until_it_has_begun_its_work(remote: Remote, directory: str):
    job = await Job.start(remote, directory, "sleep 0.3; echo 1 >first; sleep 60", deadline_s=90, begins="first")
    written = await remote.get(f"{directory}/first")
    await job.kill()
    assert written == b"1\n"


async def test_the_start_of_a_job_that_ends_before_it_has_begun_its_work_returns(remote: Remote, directory: str):
    job = await Job.start(remote, directory, "sleep 0.3; exit 3", deadline_s=90, begins="first")
    assert (await job.wait()).exit_status == 3


async def test_words_and_variables_reach_a_job_unchanged(remote: Remote, directory: str, address: Address):
    value = f"a'b $(touch {address.work_dir}/pwned)"
    job = await Job.start(remote, directory, ["sh", "-c", 'echo "$1|$V"', "sh", value], deadline_s=20, env={"V": value})
    await job.wait()
    assert await job.stdout() == f"{value}|{value}\n"
    assert (await remote.run("test", "-e", f"{address.work_dir}/pwned", check=False)).exit_status == 1


async def test_a_job_finishes_though_the_connection_drops(remote: Remote, directory: str):
    job = await Job.start(remote, directory, "sleep 1; echo done", deadline_s=20)
    waiting = asyncio.create_task(job.wait())
    await cut(remote)
    assert (await waiting).exit_status == 0
    assert await job.stdout() == "done\n"


async def test_another_connection_finds_the_job_again(remote: Remote, directory: str):
    await Job.start(remote, directory, "sleep 0.5; exit 4", deadline_s=20)
    await remote.close()
    async with connected(remote.address) as other:
        assert (await Job.attach(other, directory).wait()).exit_status == 4
        assert (await Job.attach(other, directory).wait()).exit_status == 4


async def test_a_job_past_its_deadline_ends_with_its_children(remote: Remote, directory: str):
    family = "sleep 61 & (sleep 62 & sleep 63) & setsid sleep 64 & sleep 65"
    job = await Job.start(remote, directory, family, deadline_s=0.5)
    result = await job.wait()
    assert result.timed_out
    assert 0.5 <= result.ended_s - result.started_s < 60
    assert await living(remote, directory) == []


async def test_what_a_finished_job_left_running_is_ended(remote: Remote, directory: str):
    job = await Job.start(remote, directory, "sleep 61 & setsid sleep 62 & exit 0", deadline_s=20)
    assert (await job.wait()).exit_status == 0
    assert await living(remote, directory) == []


async def test_an_interrupt_reaches_a_jobs_program(remote: Remote, directory: str):
    once = "trap \"trap '' INT; echo interrupted; exit 9\" INT; sleep 60 & wait"  # timeout(1) passes on what it got
    job = await Job.start(remote, directory, once, deadline_s=90)
    await until_running(remote, directory, "sleep 60")
    await job.signal("INT")
    assert (await job.wait()).exit_status == 9
    assert await job.stdout() == "interrupted\n"
    await job.signal("INT")


async def test_a_job_that_ignores_terminate_is_killed(remote: Remote, directory: str):
    job = await Job.start(remote, directory, "trap '' TERM; sleep 61; sleep 62", deadline_s=90)
    await until_running(remote, directory, "sleep 61")
    await job.kill()
    assert (await job.wait()).exit_status == 137
    assert await living(remote, directory) == []
    await job.kill()


async def test_a_job_whose_supervisor_was_killed_is_reported(remote: Remote, directory: str):
    job = await Job.start(remote, directory, "sleep 61", deadline_s=90)
    await remote.script('pid=$(pgrep -f "^sh -c .*teiten-job $1 ") && kill -s KILL $pid', directory)
    with pytest.raises(AgentError, match="without leaving its exit status") as raised:
        await job.wait()
    assert raised.value.retryable
    await sweep(remote)
    assert await living(remote, directory) == []


async def test_a_job_that_is_started_once_more_while_it_runs_goes_on(remote: Remote, directory: str):
    script = "echo begun; read line <pipe"
    await remote.run("sh", "-c", 'mkdir -p "$1" && mkfifo "$1/pipe"', "sh", directory)
    await Job.start(remote, directory, script, deadline_s=90)
    job = await Job.start(remote, directory, script, deadline_s=90)
    await remote.run("sh", "-c", 'echo >"$1/pipe"', "sh", directory)
    finished = await job.finished()
    assert (finished.ok, finished.stdout) == (True, "begun\n")


async def test_two_jobs_do_not_share_a_directory(remote: Remote, directory: str):
    await Job.start(remote, directory, "sleep 61", deadline_s=90)
    with pytest.raises(CommandError, match="still running"):
        await Job.start(remote, directory, "true", deadline_s=90)


async def test_sweep_ends_and_removes_all_jobs_but_those_to_keep(remote: Remote, directory: str, address: Address):
    kept = f"{address.work_dir}/jobs/kept/job"
    await Job.start(remote, directory, "setsid sleep 61 & sleep 62", deadline_s=90)
    await Job.start(remote, kept, "sleep 63", deadline_s=90)
    await until_running(remote, directory, "sleep 61")
    await until_running(remote, kept, "sleep 63")
    assert await sweep(remote, keep=["kept"]) == [f"test-{os.getpid()}"]
    assert await living(remote, directory) == []
    assert any(line.startswith("sleep 63") for line in await living(remote, kept))
    assert await sweep(remote) == ["kept"]
    assert await living(remote, kept) == []
    assert await sweep(remote) == []
