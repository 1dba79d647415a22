"""Nothing is removed behind a link: what a trial ran may have put one where Teiten had made a folder."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from dataclasses import replace

import pytest

from results.domain.errors import AgentError, CommandError
from results.domain.matrix import InstallationRef
from workers.postgres import cluster, cluster_inventory
from workers.remote.address import Address
from workers.remote.connection import Remote, connected
from workers.remote.job import sweep
from workers.replication.standby import _CLONE
from workers.workloads.capabilities.scratch import _DROP

_SETTING = """
rm -rf -- "$1" && mkdir -p "$1/precious/inner" "$1/data" "$1/work" "$1/place" && : >"$1/precious/inner/file"
"""
_LINK = 'mkdir -p -- "${1%/*}" && rm -rf -- "$1" && ln -s -- "$2" "$1"'
_SWAP = 'cd "$1" && mv data moved && mkdir -p data && ln -s ../moved/clusters data/clusters'


def home_of(remote: Remote) -> str:
    return remote.address.work_dir.removesuffix("/work")


@pytest.fixture
async def hostile(address: Address) -> AsyncIterator[Remote]:
    """An agent with folders of its own, beside which lies a folder of somebody: `precious/inner/file`."""
    home = f"{address.work_dir}/hostile"
    own = replace(address, data_dir=f"{home}/data", work_dir=f"{home}/work", places=(f"{home}/place",))
    async with connected(own) as remote:
        await remote.script(_SETTING, home)
        yield remote
        await remote.run("rm", "-rf", "--", home)


async def link(remote: Remote, path: str, target: str = "precious") -> str:
    """Make the path, below the agent's home, a link; return the path."""
    made = f"{home_of(remote)}/{path}"
    await remote.script(_LINK, made, f"{home_of(remote)}/{target}")
    return made


async def precious(remote: Remote) -> list[str]:
    home = home_of(remote)
    return (await remote.script('cd "$1/precious" && find . | sort', home)).stdout.split()


_WHOLE = [".", "./inner", "./inner/file"]


@pytest.mark.parametrize("at", ["work/jobs", "data/clusters", "place/wal", "work/jobs/attempt"])
async def test_a_folder_on_the_way_that_became_a_link_is_not_followed(hostile: Remote, at: str) -> None:
    path = await link(hostile, at)
    with pytest.raises(AgentError, match="Refused to remove") as raised:
        await hostile.remove(f"{path}/inner")
    assert f"{at} is a link" in raised.value.why
    assert await precious(hostile) == _WHOLE


async def test_a_link_itself_is_removed_and_not_what_it_leads_to(hostile: Remote) -> None:
    path = await link(hostile, "work/jobs/attempt")
    await hostile.remove(path)
    assert (await hostile.run("test", "-L", path, check=False)).exit_status == 1
    assert await precious(hostile) == _WHOLE


async def test_the_folder_that_the_operator_named_may_be_a_link(hostile: Remote) -> None:
    await hostile.script('cd "$1" && mkdir -p disk/clusters/x && rmdir place && ln -s disk place', home_of(hostile))
    await hostile.remove(f"{hostile.address.places[0]}/clusters/x")
    listing = await hostile.script('ls -A "$1/disk/clusters"', home_of(hostile))
    assert listing.stdout == ""


async def test_a_place_inside_of_the_data_directory_may_lie_behind_a_link_too(hostile: Remote) -> None:
    await hostile.script('cd "$1" && mkdir -p disk/place/clusters/x && ln -s ../disk data/disk', home_of(hostile))
    hostile.address = replace(hostile.address, places=(f"{hostile.address.data_dir}/disk/place",))
    await hostile.remove(f"{hostile.address.places[0]}/clusters/x")
    listing = await hostile.script('ls -A "$1/disk/place/clusters"', home_of(hostile))
    assert listing.stdout == ""


async def test_what_is_not_there_is_removed_already(hostile: Remote) -> None:
    await hostile.remove(f"{hostile.address.data_dir}/clusters/no/such")


async def test_a_folder_that_cannot_be_changed_is_an_error(hostile: Remote) -> None:
    folder = f"{hostile.address.data_dir}/clusters/x"
    await hostile.script('mkdir -p "$1/y" && chmod 500 "$1"', folder)
    with pytest.raises(CommandError, match="Permission denied"):
        await hostile.remove(f"{folder}/y")
    await hostile.run("chmod", "700", folder)


async def test_a_sweep_follows_no_link(hostile: Remote) -> None:
    path = await link(hostile, "work/jobs/attempt")
    assert await sweep(hostile) == ["attempt"]
    assert (await hostile.run("test", "-L", path, check=False)).exit_status == 1
    await link(hostile, "work/jobs")
    with pytest.raises(AgentError, match="Refused to remove") as raised:
        await sweep(hostile)
    assert "work/jobs is a link" in raised.value.why
    assert await precious(hostile) == _WHOLE


async def test_a_cluster_is_made_behind_no_link(hostile: Remote, postgres_16: InstallationRef) -> None:
    directory = cluster.directory_of(hostile, postgres_16, ())
    await hostile.script('mkdir -p "$1/precious/data" && : >"$1/precious/data/file"', home_of(hostile))
    await link(hostile, directory.removeprefix(f"{home_of(hostile)}/"))
    with pytest.raises(AgentError, match="is a link") as raised:
        await cluster.ensure(hostile, postgres_16)
    assert raised.value.what == f"Refused to work in {directory}."
    assert "name its folder as a storage place" in raised.value.todo
    assert await precious(hostile) == [".", "./data", "./data/file", "./inner", "./inner/file"]


async def test_wal_in_another_place_is_made_behind_no_link(hostile: Remote, postgres_16: InstallationRef) -> None:
    await link(hostile, "place/wal")
    placed = hostile.laid_out(replace(hostile.address.layout, wal=hostile.address.places[0]))
    with pytest.raises(AgentError, match="place/wal is a link") as raised:
        await cluster.ensure(placed, postgres_16)
    assert "name its folder as a storage place" in raised.value.todo
    assert await precious(hostile) == _WHOLE


async def test_a_copy_is_made_behind_no_link(hostile: Remote) -> None:
    await link(hostile, "data/clusters")
    words = ("/nowhere", "/nowhere", f"{hostile.address.data_dir}/clusters/16-abc", "1", "", "")
    result = await hostile.script(_CLONE, *words, check=False)
    assert result.exit_status == cluster.LINKED
    assert "data/clusters is a link" in result.stderr


async def test_clusters_behind_a_link_are_not_teitens_and_the_link_is_reported(hostile: Remote) -> None:
    await link(hostile, "data/clusters")
    await hostile.script('mkdir "$1/precious/16-abc" && : >"$1/precious/16-abc/made"', home_of(hostile))
    with pytest.raises(AgentError, match="data/clusters is a link") as raised:
        await cluster_inventory.inventory(hostile)
    assert raised.value.what.startswith("Refused to look for clusters in ")
    assert "name its folder as a storage place" in raised.value.todo


async def test_a_cluster_whose_folder_became_a_link_is_not_removed(hostile: Remote) -> None:
    """Between the look and the removal."""
    directory = f"{hostile.address.data_dir}/clusters/16-abc"
    await hostile.script('mkdir -p "$1/data" && : >"$1/made"', directory)
    [found] = await cluster_inventory.inventory(hostile)
    await hostile.script(
        _SWAP,
        home_of(hostile),
    )
    with pytest.raises(AgentError, match="not Teiten's to remove") as raised:
        await cluster_inventory.remove(hostile, found.directory, found.parts, 60)
    assert "is a link" in raised.value.why
    kept = await hostile.script('ls "$1/moved/clusters/16-abc"', home_of(hostile))
    assert kept.stdout.split() == ["data", "made"]


async def test_a_scratch_cluster_that_became_a_link_is_left_alone(hostile: Remote) -> None:
    await link(hostile, "data/clusters/16-scratch")
    await hostile.script(_DROP, f"{hostile.address.data_dir}/clusters", "scratch")
    assert await precious(hostile) == _WHOLE


async def test_no_race_for_a_folders_place_leads_out_of_it(hostile: Remote) -> None:
    """A job that swaps a folder for a link and back, as fast as it can, while it is removed again and again."""
    home = home_of(hostile)
    swap = """
    cd "$1/work/jobs" && ln -s ../../precious link && mkdir attempt
    while [ ! -e "$1/enough" ]; do
        mkdir -p attempt/inner; mv -T attempt real; mv -T link attempt; mv -T attempt link; mv -T real attempt
    done
    """
    await hostile.script('mkdir -p "$1/work/jobs"', home)
    swapping = asyncio.create_task(hostile.script(swap, home, check=False, timeout_s=120))
    refused = 0
    for _ in range(60):
        try:
            await hostile.remove(f"{hostile.address.work_dir}/jobs/attempt/inner")
        except AgentError:
            refused += 1
    await hostile.script(': >"$1/enough"', home)
    await swapping
    assert refused < 60
    assert await precious(hostile) == _WHOLE


@pytest.mark.parametrize("folder", ["/", "/etc", "/home", "/usr/lib", "/srv/../etc"])
async def test_an_agent_that_was_stored_with_a_folder_of_the_system_is_not_used(address: Address, folder: str) -> None:
    for bad in (
        replace(address, data_dir=folder),
        replace(address, work_dir=folder),
        replace(address, places=(folder,)),
    ):
        with pytest.raises(AgentError, match=f"may not be {folder}"):
            async with connected(bad):
                pass
    async with connected(address) as remote:
        remote.address = replace(address, data_dir=folder)
        with pytest.raises(AgentError, match="Refused to remove"):
            await remote.remove(f"{folder.rstrip('/')}/teiten-no-such-file")
