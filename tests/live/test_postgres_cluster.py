"""Clusters and servers on a real agent."""

from __future__ import annotations

import asyncio
import dataclasses
import posixpath
from pathlib import Path

import pytest

from results.domain.errors import AgentError, CommandError, TrialError
from results.domain.matrix import InstallationRef
from workers.postgres import cluster
from workers.postgres.server import Server
from workers.remote.address import Address, Layout
from workers.remote.connection import Remote, connected
from workers.remote.job import Job, sweep


async def running(server: Server) -> bool:
    pid = await server.remote.run("head", "-n", "1", f"{server.data_dir}/postmaster.pid", check=False)
    if not pid.stdout:
        return False
    alive = await server.remote.run("readlink", f"/proc/{pid.stdout.strip()}/cwd", check=False)
    return alive.stdout.strip() == server.data_dir


@pytest.mark.parametrize("major", ["16", "18"])
async def test_a_server_is_made_then_reused_in_one_command(
    remote: Remote, postgres_16: InstallationRef, postgres_18: InstallationRef, major: str
):
    installation = {"16": postgres_16, "18": postgres_18}[major]
    first = await cluster.ensure(remote, installation, settings={"work_mem": "5MB"})
    await remote.run("true")
    before = len(remote.log)
    again = await cluster.ensure(remote, installation, settings={"work_mem": "5MB"})
    assert again.how == "reused"
    assert len(remote.log) == before + 1
    assert (again.port, again.data_dir) == (first.port, first.data_dir)
    assert await again.query("SELECT current_setting('work_mem') AS it") == [{"it": "5MB"}]
    version = await again.query("SELECT current_setting('server_version_num')::int AS it")
    assert version == [{"it": installation.version_num}]


async def test_other_settings_restart_the_server_and_none_stay_behind(remote: Remote, postgres_16: InstallationRef):
    server = await cluster.ensure(remote, postgres_16, settings={"shared_buffers": "32MB", "work_mem": "5MB"})
    await server.execute("ALTER SYSTEM SET maintenance_work_mem = '99MB'")
    server = await cluster.ensure(remote, postgres_16, settings={"shared_buffers": "48MB"})
    assert server.how == "restarted"
    rows = await server.query("SELECT name, setting FROM pg_settings WHERE name ~ '^(work|maintenance_work)_mem$'")
    assert {row["name"]: row["setting"] for row in rows} == {"work_mem": "4096", "maintenance_work_mem": "65536"}


async def test_a_socket_folder_that_is_not_the_accounts_is_named(
    remote: Remote, address: Address, postgres_16: InstallationRef
):
    """Where the data directory's path is too long for a socket, it is a folder in /tmp, which everybody may make."""
    far = remote.laid_out(Layout(data=f"{address.data_dir}/{'far' * 30}"))
    sockets = cluster.socket_dir(far, cluster.directory_of(far, postgres_16, ()))
    other = dataclasses.replace(address, user="other")
    assert sockets != cluster.socket_dir(Remote(other), cluster.directory_of(far, postgres_16, ()))
    Path(sockets).symlink_to("/")
    try:
        with pytest.raises(AgentError, match=f"The folder {sockets}, .* is refused") as raised:
            await cluster.ensure(far, postgres_16)
    finally:
        Path(sockets).unlink()
    assert sockets in raised.value.why
    assert "shorter path" in raised.value.todo


async def test_a_settings_value_reaches_the_server_unchanged(remote: Remote, postgres_16: InstallationRef):
    value = 'it\'s "quoted" \\ $(id) `id` #'
    server = await cluster.ensure(remote, postgres_16, settings={"my.value": value})
    assert await server.query("SELECT current_setting('my.value') AS it") == [{"it": value}]


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"shared_bufers": "1MB"}, "unrecognized configuration parameter"),
        ({"shared_buffers": "many"}, "invalid value for parameter"),
        ({"shared_preload_libraries": "no_such_library"}, "could not access file"),
        ({"shared_buffers": "4TB"}, "FATAL"),
    ],
)
async def test_settings_that_keep_a_server_from_starting_give_its_own_message(
    remote: Remote, postgres_16: InstallationRef, settings: dict[str, str], message: str
):
    good = await cluster.ensure(remote, postgres_16)
    with pytest.raises(TrialError, match=f"{postgres_16.name} did not start") as raised:
        await cluster.ensure(remote, postgres_16, settings=settings)
    assert message in raised.value.why
    assert not await running(good)
    assert (await cluster.ensure(remote, postgres_16)).how == "started"


async def test_a_wrong_initdb_option_gives_initdbs_message_and_leaves_no_cluster(
    remote: Remote, postgres_16: InstallationRef
):
    options = ("--wal-segsize=3",)
    with pytest.raises(TrialError, match="initdb") as raised:
        await cluster.ensure(remote, postgres_16, initdb=options)
    assert "wal-segsize" in raised.value.why
    directory = cluster.directory_of(remote, postgres_16, options)
    assert (await remote.run("test", "-e", directory, check=False)).exit_status == 1


async def test_initdb_options_have_a_cluster_of_their_own(remote: Remote, postgres_16: InstallationRef):
    plain = await cluster.ensure(remote, postgres_16)
    other = await cluster.ensure(remote, postgres_16, initdb=("--data-checksums",))
    assert plain.data_dir != other.data_dir
    assert plain.port != other.port
    assert await other.query("SELECT current_setting('data_checksums') AS it") == [{"it": "on"}]
    assert plain.data_dir in [server.data_dir for server in await cluster.stop_others(remote, keep=other)]
    assert not await running(plain)
    assert await running(other)
    await cluster.drop(remote, other)
    assert (await remote.run("test", "-e", posixpath.dirname(other.data_dir), check=False)).exit_status == 1


async def test_a_plan_without_checksums_has_none_in_any_version(
    remote: Remote, postgres_16: InstallationRef, postgres_18: InstallationRef
):
    """Before 18 initdb knows no option against them, and makes none: that is the cluster without options."""
    for installation in (postgres_16, postgres_18):
        server = await cluster.ensure(remote, installation, initdb=("--no-data-checksums",))
        assert await server.query("SELECT current_setting('data_checksums') AS it") == [{"it": "off"}]
    assert cluster.directory_of(remote, postgres_16, ("--no-data-checksums",)) == cluster.directory_of(
        remote, postgres_16, ()
    )
    await cluster.drop(remote, server)


async def test_a_half_made_cluster_is_made_anew(remote: Remote, postgres_16: InstallationRef):
    server = await cluster.ensure(remote, postgres_16, name="half")
    await server.stop()
    directory = posixpath.dirname(server.data_dir)
    await remote.remove(f"{directory}/made")
    await remote.remove(f"{server.data_dir}/global")
    again = await cluster.ensure(remote, postgres_16, name="half")
    assert again.how == "created"
    await cluster.drop(remote, again)


async def test_a_killed_server_is_started_again(remote: Remote, postgres_16: InstallationRef):
    server = await cluster.ensure(remote, postgres_16)
    await remote.script('kill -s KILL $(head -n 1 "$1/postmaster.pid")', server.data_dir)
    async with asyncio.timeout(60):
        while await running(server):
            await asyncio.sleep(0.02)
    with pytest.raises(CommandError, match="connection to PostgreSQL failed"):
        await server.query("SELECT 1 AS one")
    assert (await cluster.ensure(remote, postgres_16)).how == "started"


async def test_a_listening_server_is_reached_by_its_host(remote: Remote, postgres_16: InstallationRef):
    server = await cluster.ensure(
        remote, postgres_16, listen="127.0.0.1", hba=["host all all 127.0.0.1/32 trust"], name="listening"
    )
    assert server.host == "127.0.0.1"
    program = f"{postgres_16.client_bin}/psql"
    answer = await remote.run(program, "-XAtc", "SELECT inet_server_port()", "postgres", env=server.environment())
    assert answer.stdout.strip() == str(server.port)
    await cluster.drop(remote, server)


async def test_values_reach_sql_as_values(remote: Remote, postgres_16: InstallationRef):
    server = await cluster.ensure(remote, postgres_16)
    value = 'it\'s "quoted" \\ $(id); DROP TABLE x; --\né'
    assert await server.query("SELECT :'value' AS it, 1 AS one", variables={"value": value}) == [
        {"it": value, "one": 1}
    ]
    assert await server.query("SELECT 1 AS one WHERE false") == []


async def test_a_statement_that_fails_gives_the_servers_message(remote: Remote, postgres_16: InstallationRef):
    server = await cluster.ensure(remote, postgres_16)
    with pytest.raises(CommandError, match="refused a statement") as raised:
        await server.execute("SELECT 1;\nSELECT 1/0;\nSELECT 2;")
    assert "division by zero" in raised.value.why
    assert raised.value.stdout == "1\n"


async def test_the_log_is_read_from_where_one_left_it(remote: Remote, postgres_16: InstallationRef):
    server = await cluster.ensure(remote, postgres_16)
    size = await server.log_size()
    with pytest.raises(CommandError):
        await server.execute("SELECT no_such_thing")
    since = await server.log_tail(size)
    assert "no_such_thing" in since
    assert "starting PostgreSQL" not in since
    assert since in await server.log_tail()


async def test_a_stopped_server_starts_again_as_it_was(remote: Remote, postgres_16: InstallationRef):
    server = await cluster.ensure(remote, postgres_16, settings={"work_mem": "7MB"})
    await server.stop()
    assert not await running(server)
    await server.stop()
    await server.start()
    assert await server.query("SELECT current_setting('work_mem') AS it") == [{"it": "7MB"}]


async def test_a_server_is_kept_on_its_own_machine_alone(
    remote: Remote, address: Address, postgres_16: InstallationRef
) -> None:
    kept = await cluster.ensure(remote, postgres_16, name="kept")
    async with connected(dataclasses.replace(address, name="live2")) as same:
        await cluster.stop_all_but([remote, same], [(remote, kept.data_dir)])
        assert await running(kept)
        same.address = dataclasses.replace(address, name="other", host_key="another machine's")
        await cluster.stop_all_but([same], [(remote, kept.data_dir)])
        assert not await running(kept)
    await cluster.drop(remote, kept)


async def test_a_server_that_does_not_end_for_other_settings_is_forced_and_named(
    remote: Remote, address: Address, postgres_16: InstallationRef, monkeypatch: pytest.MonkeyPatch
) -> None:
    server = await cluster.ensure(remote, postgres_16, name="frozen")
    assert server.forced == ""
    env = server.environment(local=True)
    query = [*server.psql("postgres"), "-c", "SELECT pg_sleep(600)"]
    await Job.start(remote, f"{address.work_dir}/jobs/frozen/query", query, deadline_s=600, env=env)
    await remote.script(FREEZE, server.data_dir, "session")
    monkeypatch.setattr(cluster, "STOP_S", 1.0)
    again = await cluster.ensure(remote, postgres_16, name="frozen", settings={"work_mem": "8MB"})
    assert again.how == "restarted"
    assert again.forced == f"The server in {server.data_dir} did not end within 1 s and was stopped at once."
    await cluster.drop(remote, again)


FREEZE = """
read -r postmaster <"$1/postmaster.pid"
[ "$2" = postmaster ] && exec kill -s STOP "$postmaster"
until session=$(pgrep -P "$postmaster" -f 'postgres: teiten .*SELECT'); do sleep 0.02; done
kill -s STOP "$session"
"""
AT_WORK_IN = """find /proc -maxdepth 2 -path '/proc/[0-9]*/cwd' -lname "$1" 2>/dev/null || true"""


@pytest.mark.parametrize(("frozen", "how"), [("session", "immediate"), ("postmaster", "killed")])
async def test_a_server_that_does_not_end_in_its_time_is_forced_and_named(
    remote: Remote, address: Address, postgres_16: InstallationRef, frozen: str, how: str
) -> None:
    server = await cluster.ensure(remote, postgres_16, name="frozen")
    other = await cluster.ensure(remote, postgres_16, name="other")
    env = server.environment(local=True)
    query = [*server.psql("postgres"), "-c", "SELECT pg_sleep(600)"]
    await Job.start(remote, f"{address.work_dir}/jobs/frozen/query", query, deadline_s=600, env=env)
    await remote.script(FREEZE, server.data_dir, frozen)
    stopped = await cluster.stop(server, patience_s=1)
    assert stopped is not None
    assert (stopped.data_dir, stopped.how) == (server.data_dir, how)
    assert f"The server in {server.data_dir} did not end within 1 s and was" in stopped.forced
    assert (await remote.script(AT_WORK_IN, server.data_dir)).stdout == ""
    assert await running(other)
    assert await cluster.stop(server) is None
    ended = await cluster.stop(other)
    assert ended is not None
    assert (ended.how, ended.forced) == ("fast", "")
    assert (await cluster.ensure(remote, postgres_16, name="frozen")).how == "started"
    await sweep(remote)
    await cluster.drop(remote, server)
    await cluster.drop(remote, other)
