"""What lies on a real agent, and the removal of clusters there: with all their parts, and of nothing else."""

from __future__ import annotations

import asyncio
import posixpath
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from dataclasses import replace
from pathlib import PurePosixPath

import pytest

from results.domain.errors import AgentError, CommandError
from results.domain.matrix import InstallationRef
from results.domain.matrix.clusters import AgentCluster, ClusterState
from workers.host import places
from workers.postgres import cluster
from workers.postgres.cluster_inventory import inventory, remove
from workers.postgres.server import Server, unique_name
from workers.remote.address import Address, Layout
from workers.remote.connection import Remote, connected

Stopped = Callable[[], Awaitable[str]]
INITDB = ("--no-sync",)
FILES = ("made", "initdb.log", "data/global/pg_control")  # by which its last use is told


@pytest.fixture(scope="module")
def template(address: Address, postgres_16: InstallationRef) -> Iterator[str]:
    """A cluster that was made and stopped, to be copied."""
    aside = replace(address, data_dir=f"{address.data_dir}-template")

    async def make() -> str:
        async with connected(aside) as remote:
            return directory(await made(remote, postgres_16))

    async def drop() -> None:
        async with connected(aside) as remote:
            await remote.run("rm", "-rf", "--", aside.data_dir)

    yield asyncio.run(make())
    asyncio.run(drop())


@pytest.fixture
async def home(address: Address) -> AsyncIterator[Remote]:
    """The agent with directories of this test's own: its data directory and two storage places."""
    base = f"{address.data_dir}-inventory"
    folders = tuple(f"{base}/{name}" for name in ("fast", "slow"))
    async with connected(replace(address, data_dir=f"{base}/data", places=folders)) as remote:
        await remote.run("mkdir", "-p", f"{base}/data/clusters", *folders)
        yield remote
        await cluster.stop_others(remote)
        await remote.run("chmod", "-R", "u+w", base)
        await remote.run("rm", "-rf", "--", base)


@pytest.fixture
def stopped(home: Remote, template: str) -> Stopped:
    """A cluster in the data directory, as a trial leaves it; its directory."""

    async def one() -> str:
        path = f"{home.address.data_dir}/clusters/{PurePosixPath(template).name}"
        await home.run("cp", "-a", template, path)
        return path

    return one


def laid_out(remote: Remote, **parts: str) -> Remote:
    """Data, WAL or tablespace in these storage places."""
    base = remote.address.data_dir.rpartition("/")[0]
    return remote.laid_out(Layout(**{part: f"{base}/{place}" for part, place in parts.items()}))


async def made(remote: Remote, installation: InstallationRef, name: str = "", *, stopped: bool = True) -> Server:
    server = await cluster.ensure(remote, installation, name=name, initdb=INITDB)
    if remote.address.layout.tablespace:
        await places.make_tablespace(server, remote.address.layout.tablespace)
        await server.execute("CREATE TABLE t AS SELECT i FROM generate_series(1, 100000) AS i; CHECKPOINT;")
    if stopped:
        await server.stop()
    return server


def directory(server: Server) -> str:
    return server.data_dir.removesuffix("/data")


async def du(remote: Remote, *paths: str) -> int:
    lines = (await remote.run("du", "-sk", "--", *paths)).stdout.splitlines()
    return sum(int(line.split()[0]) * 1024 for line in lines)


async def there(remote: Remote, path: str) -> bool:
    return (await remote.run("test", "-e", path, check=False)).exit_status == 0


async def the_only(remote: Remote) -> AgentCluster:
    [clusters] = await inventory(remote)
    return clusters


async def test_an_agent_without_clusters_has_none(address: Address) -> None:
    async with connected(replace(address, data_dir="/nowhere/at all", places=("/var/lib/dpkg/status",))) as remote:
        assert await inventory(remote) == []


async def test_a_cluster_is_told_with_its_size_its_use_and_its_installation(
    home: Remote, stopped: Stopped, postgres_16: InstallationRef
) -> None:
    path = await stopped()
    await home.run("touch", "-d", "3 days ago", *(f"{path}/{file}" for file in FILES))
    only_cluster = await the_only(home)
    assert (only_cluster.directory, only_cluster.state, only_cluster.running, only_cluster.parts) == (
        path,
        ClusterState.WHOLE,
        False,
        (),
    )
    assert only_cluster.bin_dir == postgres_16.bin_dir
    assert 3 * 86400 - 60 < only_cluster.idle_s < 3 * 86400 + 60
    assert only_cluster.size_bytes == await du(home, path) > 20_000_000
    server = await made(home, postgres_16, stopped=False)  # which it was
    only_cluster = await the_only(home)
    assert (server.how, only_cluster.directory, only_cluster.running) == ("started", path, True)
    assert only_cluster.idle_s < 60


async def test_parts_in_other_places_are_told_counted_and_removed(
    home: Remote, stopped: Stopped, postgres_16: InstallationRef
) -> None:
    server = await made(laid_out(home, data="fast", wal="slow", tablespace="slow"), postgres_16)
    await made(laid_out(home, wal="slow"), postgres_16)  # whose WAL lies beside the other's
    clusters = {one.directory: one for one in await inventory(home)}
    one = clusters.pop(directory(server))
    [other] = clusters.values()
    slow = home.address.places[1]
    assert set(one.parts) == {f"{slow}/{kind}/{unique_name(one.directory)}" for kind in ("wal", "tablespaces")}
    assert one.size_bytes == await du(home, one.directory, *one.parts) > await du(home, one.directory)
    assert await remove(home, one.directory, one.parts, 60)
    assert [await there(home, path) for path in (one.directory, *one.parts)] == [False] * 3
    left = await the_only(home)
    assert (left.directory, left.parts, left.size_bytes) == (other.directory, other.parts, other.size_bytes)


async def test_what_was_removed_is_made_anew(home: Remote, postgres_16: InstallationRef) -> None:
    apart = laid_out(home, wal="slow")
    server = await made(apart, postgres_16)
    only_cluster = await the_only(home)
    assert await remove(home, only_cluster.directory, only_cluster.parts, 60)
    again = await made(apart, postgres_16, stopped=False)
    assert (again.how, again.data_dir) == ("created", server.data_dir)


async def test_a_running_server_is_never_removed(home: Remote, stopped: Stopped, postgres_16: InstallationRef) -> None:
    path = await stopped()
    server = await made(home, postgres_16, stopped=False)
    with pytest.raises(AgentError, match="A process works in"):
        await remove(home, path, (), 60)
    assert await server.query("SELECT 1 AS it") == [{"it": 1}]


async def test_a_removal_that_takes_too_long_is_left_for_the_next_time(home: Remote, stopped: Stopped) -> None:
    path = await stopped()
    assert not await remove(home, path, (), 0)
    assert (await the_only(home)).state is ClusterState.REMOVING
    assert await remove(home, path, (), 60)
    assert await inventory(home) == []


async def test_a_cluster_whose_removal_has_begun_is_made_anew(
    home: Remote, stopped: Stopped, postgres_16: InstallationRef
) -> None:
    await remove(home, await stopped(), (), 0)
    assert (await made(home, postgres_16)).how == "created"
    assert (await the_only(home)).state is ClusterState.WHOLE


async def test_half_made_clusters_are_told_and_removed(home: Remote, stopped: Stopped) -> None:
    path = await stopped()
    await home.run("rm", f"{path}/made")
    only_cluster = await the_only(home)
    assert only_cluster.state is ClusterState.UNFINISHED
    assert await remove(home, path, (), 60)
    assert await inventory(home) == []


async def test_what_is_left_of_a_cluster_that_is_gone_is_told_and_removed(
    home: Remote, postgres_16: InstallationRef
) -> None:
    await made(laid_out(home, wal="slow"), postgres_16)
    whole = await the_only(home)
    await home.run("rm", "-rf", "--", whole.directory)
    only_cluster = await the_only(home)
    assert (only_cluster.directory, only_cluster.state, only_cluster.parts) == (
        whole.directory,
        ClusterState.REMAINS,
        whole.parts,
    )
    assert only_cluster.size_bytes == await du(home, *only_cluster.parts)
    assert await remove(home, only_cluster.directory, only_cluster.parts, 60)
    assert await inventory(home) == []
    assert not await there(home, only_cluster.parts[0])


async def test_of_a_disk_that_is_away_nothing_is_told(home: Remote, postgres_16: InstallationRef) -> None:
    """Its clusters are not gone: their WAL in another place stays."""
    await made(laid_out(home, data="fast", wal="slow"), postgres_16)
    await home.run("rm", "-rf", "--", f"{home.address.places[0]}/clusters")
    assert await inventory(home) == []


async def test_a_dropped_cluster_leaves_nothing_in_other_places(home: Remote, postgres_16: InstallationRef) -> None:
    apart = laid_out(home, data="fast", wal="slow", tablespace="slow")
    await cluster.drop(apart, await made(apart, postgres_16, stopped=False))
    assert await inventory(home) == []


async def test_a_removal_that_outlives_its_connection_is_waited_for_and_nothing_else_is_removed_beside_it(
    home: Remote, stopped: Stopped, postgres_16: InstallationRef
) -> None:
    path = await stopped()
    clusters, go = posixpath.dirname(path), f"{home.address.data_dir}/go"
    hold = 'exec 9>"$1/.removal.lock"; flock 9; : >"$2.held"; until [ -e "$2" ]; do sleep 0.05; done; : >"$2.over"'
    holding = asyncio.create_task(home.script(hold, clusters, go))
    while not await there(home, f"{go}.held"):
        await asyncio.sleep(0.05)
    with pytest.raises(AgentError, match="works in") as refused:
        await remove(home, path, (), 60)
    assert "another removal" in refused.value.why
    making = asyncio.create_task(made(home, postgres_16, "beside"))
    while "beside" not in (await home.run("ls", clusters)).stdout:
        await asyncio.sleep(0.05)
    assert not making.done() and await there(home, f"{path}/made")
    await home.run("touch", go)
    server = await making
    assert await there(home, f"{go}.over"), "it was made after the removal"
    await holding
    assert await remove(home, path, (), 60)
    assert await there(home, f"{directory(server)}/made")


async def test_folders_that_teiten_did_not_make_are_left_alone(home: Remote) -> None:
    clusters = f"{home.address.data_dir}/clusters"
    foreign = [f"{clusters}/postgresql-16-0123abcd", f"{clusters}/of mine", f"{clusters}/mine"]
    for path in foreign:
        await home.put(f"{path}/data/base/1", "somebody's")
    await home.put(f"{foreign[2]}/made", "")  # the marker, but no name that Teiten gives
    await home.put(f"{home.address.places[1]}/wal/postgresql-16-0123abcd-89abcdef/1", "somebody's")
    state_of = {one.directory: one.state for one in await inventory(home)}
    assert state_of == {foreign[0]: ClusterState.FOREIGN, foreign[2]: ClusterState.FOREIGN}
    with pytest.raises(AgentError, match="not Teiten's to remove"):
        await remove(home, foreign[0], (), 60)
    assert await there(home, f"{foreign[0]}/data/base/1")


async def test_no_link_is_followed(home: Remote, stopped: Stopped) -> None:
    path = await stopped()
    outside = f"{home.address.places[0]}/outside"
    await home.run("mv", path, outside)
    await home.run("ln", "-s", outside, path)  # the whole of it lies elsewhere
    assert await inventory(home) == []
    with pytest.raises(AgentError, match="not Teiten's to remove"):
        await remove(home, path, (), 60)
    assert await there(home, f"{outside}/made")
    await home.run("rm", path)
    await home.run("mv", outside, path)
    await home.put(f"{outside}/PG_16/1", "a table")
    await home.run("ln", "-s", outside, f"{path}/data/pg_tblspc/12345")  # a tablespace of a user's own
    assert await remove(home, path, (), 60)
    assert (await there(home, path), await there(home, f"{outside}/PG_16/1")) == (False, True)


async def test_what_cannot_be_removed_says_why(home: Remote, stopped: Stopped) -> None:
    path = await stopped()
    await home.run("chmod", "u-w", f"{path}/data/base")
    with pytest.raises(CommandError, match="could not be removed") as raised:
        await remove(home, path, (), 60)
    assert "Permission denied" in raised.value.why
    assert (await the_only(home)).state is ClusterState.REMOVING
    await home.run("chmod", "u+w", f"{path}/data/base")
    assert await remove(home, path, (), 60)


async def test_two_ways_to_one_folder_count_once(home: Remote, postgres_16: InstallationRef) -> None:
    await made(laid_out(home, wal="slow"), postgres_16)
    fast, slow = home.address.places
    await home.run("ln", "-s", home.address.data_dir, f"{fast}/link")
    async with connected(replace(home.address, places=(fast, slow, f"{fast}/link", f"{slow}/"))) as remote:
        only_cluster = await the_only(remote)
    assert only_cluster == replace(await the_only(home), idle_s=only_cluster.idle_s)
    assert len(only_cluster.parts) == 1


async def test_a_socket_elsewhere_goes_with_its_cluster(address: Address, postgres_16: InstallationRef) -> None:
    long = f"{address.data_dir}-inventory/{'x' * 90}"
    async with connected(replace(address, data_dir=long)) as remote:
        server = await made(remote, postgres_16)
        assert server.socket_dir.startswith("/tmp/teiten-") and await there(remote, server.socket_dir)
        assert await remove(remote, directory(server), (), 60)
        assert not await there(remote, server.socket_dir)
        await remote.run("rm", "-rf", "--", f"{address.data_dir}-inventory")


async def test_an_answer_that_the_agent_should_not_give_is_refused(home: Remote) -> None:
    long = "/".join(["x" * 200] * 5)
    await home.run("mkdir", "-p", f"{home.address.data_dir}/{long}/clusters/postgresql-16-0123abcd")
    async with connected(replace(home.address, data_dir=f"{home.address.data_dir}/{long}")) as remote:
        with pytest.raises(AgentError, match="cannot be read"):
            await inventory(remote)
