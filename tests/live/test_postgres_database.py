"""Databases by policy, caches, and what is verified, on real servers."""

from __future__ import annotations

import asyncio
import os
import pwd
import re
import subprocess
from collections.abc import Iterator
from dataclasses import replace

import pytest

from results.domain.errors import CommandError, TrialError
from results.domain.matrix import InstallationRef
from workers.postgres import cluster, database, settings, verify
from workers.postgres.server import Server
from workers.remote.address import Address
from workers.remote.connection import Remote, connected

FILL = (
    "CREATE TABLE t AS SELECT g AS a, repeat('x', 100) AS b FROM generate_series(1, :rows) AS g; CREATE INDEX ON t (a);"
)


@pytest.fixture(params=["16", "18"])
async def server(
    remote: Remote, postgres_16: InstallationRef, postgres_18: InstallationRef, request: pytest.FixtureRequest
) -> Server:
    made = await cluster.ensure(remote, {"16": postgres_16, "18": postgres_18}[request.param], name="databases")
    for name in await databases(made):
        await made.execute('DROP DATABASE :"name"', variables={"name": name})
    return made


class Loader:
    """Fills a database and counts how often."""

    def __init__(self, server: Server, rows: int = 1000) -> None:
        self.server, self.rows, self.loaded = server, rows, 0

    async def __call__(self, name: str) -> None:
        self.loaded += 1
        await self.server.execute(FILL, database=name, variables={"rows": str(self.rows)})


async def databases(server: Server) -> set[str]:
    rows = await server.query("SELECT datname FROM pg_database WHERE datname !~ '^template' AND datname <> 'postgres'")
    return {row["datname"] for row in rows}


async def count(server: Server, name: str) -> int:
    return int((await server.execute("SELECT count(*) FROM t", database=name)).strip())


async def test_fresh_data_is_loaded_for_every_trial(server: Server):
    load = Loader(server)
    for _ in range(2):
        prepared = await database.ensure_database(server, "fresh", "abc", load)
        assert (prepared.name, prepared.how) == ("bench", "loaded")
        await server.execute("DELETE FROM t", database="bench")
    assert load.loaded == 2


async def test_a_template_is_loaded_once_and_copied_for_every_trial(server: Server):
    load = Loader(server)
    for _ in range(2):
        prepared = await database.ensure_database(server, "template", "abc", load)
        assert (prepared.name, prepared.how) == ("bench", "copied")
        assert await count(server, "bench") == 1000
        await server.execute("DELETE FROM t", database="bench")
    assert load.loaded == 1


async def test_reused_data_is_loaded_once_and_kept(server: Server):
    load = Loader(server)
    hows = [(await database.ensure_database(server, "reuse", "abc", load)).how for _ in range(2)]
    assert hows == ["loaded", "reused"]
    other = await database.ensure_database(server, "reuse", "def", load)
    assert (other.name, load.loaded) == ("reuse_def", 2)


async def test_a_session_left_open_does_not_stop_the_next_trial(server: Server):
    load = Loader(server)
    await database.ensure_database(server, "fresh", "abc", load)
    idle = asyncio.create_task(server.execute("SELECT pg_sleep(60)", database="bench"))
    async with asyncio.timeout(60):
        while not await server.query("SELECT pid FROM pg_stat_activity WHERE query = 'SELECT pg_sleep(60)'"):
            await asyncio.sleep(0.02)
    await database.ensure_database(server, "fresh", "abc", load)
    with pytest.raises(CommandError):
        await idle


@pytest.mark.parametrize("policy", ["fresh", "template", "reuse"])
async def test_a_load_that_fails_leaves_no_database(server: Server, policy: str):
    async def fail(name: str) -> None:
        await server.execute("CREATE TABLE t (a int); SELECT 1/0;", database=name)

    with pytest.raises(CommandError, match="division by zero"):
        await database.ensure_database(server, policy, "abc", fail)
    assert await databases(server) == set()


async def test_a_database_that_cannot_be_dropped_costs_no_other_data(server: Server):
    load = Loader(server)
    kept = await database.ensure_database(server, "reuse", "kept", load)

    async def fail(name: str) -> None:
        await server.execute("CREATE TABLE t (a int)", database=name)
        # A database that a subscription or a prepared transaction holds is not dropped; this one is a template.
        await server.execute('ALTER DATABASE :"name" IS_TEMPLATE true', variables={"name": name})
        await server.execute("SELECT 1/0", database=name)

    with pytest.raises(CommandError, match="refused a statement") as raised:
        await database.ensure_database(server, "reuse", "broken", fail)
    assert "division by zero" in raised.value.why
    assert await count(server, kept.name) == 1000
    await server.execute("ALTER DATABASE reuse_broken IS_TEMPLATE false")
    assert (await database.ensure_database(server, "reuse", "broken", load)).how == "loaded"


async def test_a_server_that_is_killed_while_it_loads_keeps_its_other_data(server: Server):
    kept = await database.ensure_database(server, "reuse", "kept", Loader(server))
    assert await server.gone() == ""

    async def die(name: str) -> None:
        await server.remote.script('kill -s KILL "$(head -n 1 "$1/postmaster.pid")"', server.data_dir)
        await server.execute("SELECT pg_sleep(60)", database=name)

    with pytest.raises(CommandError, match="The connection to PostgreSQL failed"):
        await database.ensure_database(server, "reuse", "broken", die)
    assert await server.gone() != ""
    await server.stop()  # there is nothing to stop, and nothing wrong with that
    again = await cluster.ensure(server.remote, server.installation, name="databases")
    assert await count(again, kept.name) == 1000
    assert (await database.ensure_database(again, "reuse", "broken", Loader(again))).how == "loaded"


KILL_ITSELF = "COPY (SELECT 'last words') TO PROGRAM 'kill -s KILL $PPID'"


async def crash(server: Server) -> None:
    with pytest.raises(CommandError, match="The connection to PostgreSQL failed"):
        await server.execute(KILL_ITSELF)


async def test_a_process_of_a_server_that_is_killed_is_told_by_its_log_with_what_it_ran(server: Server):
    before = await server.crashes()
    await crash(server)
    lines = (await server.crashes()).removeprefix(before)
    assert re.search(r" LOG:  (server process|client backend) \(PID \d+\) was terminated by signal 9: Killed\n", lines)
    assert f"DETAIL:  Failed process was running: {KILL_ITSELF}" in lines
    await server.stop()


async def test_a_server_that_recovers_from_a_crash_ends_when_it_is_asked_to(server: Server):
    """A fast shutdown that PostgreSQL is asked for meanwhile never ends."""
    again = server
    for _ in range(3):
        await crash(again)
        await again.stop()
        again = await cluster.ensure(server.remote, server.installation, name="databases")
        await crash(again)
        stopped = await cluster.stop(again, 30)
        assert stopped is not None and stopped.forced == ""
        again = await cluster.ensure(server.remote, server.installation, name="databases")
        await crash(again)
        with_others = {"cluster_name": "'another one'"}
        again = await cluster.ensure(server.remote, server.installation, settings=with_others, name="databases")
        assert (again.how, again.forced) == ("restarted", "")
        size = os.stat(again.log_path).st_size
        again = await cluster.ensure(server.remote, server.installation, name="databases")
        assert "received fast shutdown request" in await again.log_tail(size)  # it did not recover
    await again.stop()


async def test_a_server_that_recovers_from_a_crash_is_used_again_when_it_has(server: Server):
    for _ in range(3):
        await crash(server)
        again = await cluster.ensure(server.remote, server.installation, name="databases")
        assert again.how == "reused"
        assert await databases(again) == set()


async def test_a_half_loaded_database_is_loaded_again(server: Server):
    await server.execute("CREATE DATABASE reuse_abc")
    load = Loader(server)
    assert (await database.ensure_database(server, "reuse", "abc", load)).how == "loaded"
    assert await count(server, "reuse_abc") == 1000


async def test_prewarming_says_how_and_how_much(server: Server):
    prepared = await database.ensure_database(server, "reuse", "abc", Loader(server, 20_000))
    size = await server.query(
        "SELECT pg_relation_size('t') + pg_relation_size('t_a_idx') AS it", database=prepared.name
    )
    warmed = await database.prewarm(server, prepared.name)
    assert warmed["how"] in ("pg_prewarm", "sequential reads")
    assert warmed["bytes"] >= size[0]["it"]
    assert bool(warmed["why"]) == (warmed["how"] == "sequential reads")


async def test_cold_caches_are_made_or_refused_with_the_way_out(server: Server):
    may_drop = (await server.remote.run("sudo", "-n", "true", check=False)).exit_status == 0
    if may_drop:
        await database.cold(server)
    else:
        with pytest.raises(TrialError, match="cannot be dropped") as raised:
            await database.cold(server)
        assert "as-found" in raised.value.todo
    assert await server.query("SELECT 1 AS one") == [{"one": 1}]


async def test_a_server_that_fits_passes_every_check_in_one_command(server: Server):
    wanted = {"work_mem": "5MB", "random_page_cost": "1.10", "jit": "false", "checkpoint_timeout": "30min"}
    fitted = await cluster.ensure(server.remote, server.installation, settings=wanted, name="databases")
    prepared = await database.ensure_database(fitted, "reuse", "abc", Loader(fitted))
    before = len(fitted.remote.log)
    checks = await verify.server_checks(fitted, prepared.name, role="primary", settings=wanted, access_method="heap")
    assert len(fitted.remote.log) == before + 1
    assert [check for check in checks if not check.passed] == []
    assert len(checks) == 3 + len(wanted)


async def test_a_table_of_another_access_method_fails_its_check(server: Server):
    prepared = await database.ensure_database(server, "reuse", "abc", Loader(server))
    script = """CREATE ACCESS METHOD heap2 TYPE TABLE HANDLER heap_tableam_handler;
    CREATE TABLE other (a int) USING heap2;"""
    await server.execute(script, database=prepared.name)
    checks = await verify.server_checks(server, prepared.name, role="primary", settings={}, access_method="heap2")
    assert [(c.actual, c.passed) for c in checks if c.name.startswith("access method")] == [("t: heap", False)]


async def test_settings_that_differ_from_the_defaults_are_shown(server: Server):
    in_force = await settings.effective(server)
    different = settings.non_default(in_force)
    assert in_force["shared_buffers"].shown == "128MB"
    assert "port" not in different
    # on by default from 18 on, whatever the built-in default says
    assert different.get("data_checksums") == ("on" if server.installation.version_num >= 180000 else None)


async def test_a_server_settles_before_the_clock_starts(server: Server):
    prepared = await database.ensure_database(server, "reuse", "abc", Loader(server))
    assert (await verify.settle(server, prepared.name)).busy == ()


@pytest.fixture
def small_disk(address: Address) -> Iterator[str]:
    """A directory of the agent's account that holds 120 MB."""
    place = f"{os.path.dirname(address.data_dir)}/small"
    if os.geteuid() != 0:
        pytest.skip("a small file system can be mounted by root only")
    account = pwd.getpwnam(address.user)
    os.makedirs(place, exist_ok=True)
    options = f"size=120m,uid={account.pw_uid},gid={account.pw_gid},mode=700"
    mounted = subprocess.run(["mount", "-t", "tmpfs", "-o", options, "tmpfs", place], capture_output=True, text=True)
    if mounted.returncode != 0:
        pytest.skip(f"no small file system can be mounted here: {mounted.stderr.strip()}")
    yield place
    subprocess.run(["umount", place], check=True)
    os.rmdir(place)


@pytest.mark.parametrize("policy", ["reuse", "template", "fresh"])
async def test_a_disk_that_fills_up_names_the_load_and_leaves_the_agent_clean(
    address: Address, postgres_16: InstallationRef, small_disk: str, policy: str
):
    async with connected(replace(address, data_dir=small_disk)) as remote:
        server = await cluster.ensure(remote, postgres_16)
        load = Loader(server, 10_000_000)
        with pytest.raises(TrialError, match="filled up") as raised:
            await database.ensure_database(server, policy, "abc", load)
        assert raised.value.where == "load"
        assert "No space left on device" in raised.value.why
        server = await cluster.ensure(remote, postgres_16)
        assert await databases(server) == set()
        await cluster.drop(remote, server)
        assert (await remote.run("ls", f"{small_disk}/clusters")).stdout == ""
