"""Installations found on a real agent."""

from __future__ import annotations

import asyncio
from dataclasses import replace

import pytest

from results.domain.kinds import server_settings
from workers.postgres.installation import Installation, discover, discover_installations
from workers.remote.address import Address
from workers.remote.connection import Remote, connected


@pytest.fixture(scope="module")
def installations(address: Address) -> list[Installation]:
    async def ask() -> list[Installation]:
        async with connected(address) as remote:
            return await discover_installations(remote, ["pgbench"])

    return asyncio.run(ask())


def of(major: str, installations: list[Installation]) -> Installation:
    return next(i for i in installations if i.version.startswith(f"{major}."))


async def test_16_and_18_are_found_with_what_they_really_have(installations: list[Installation]):
    for major in ("16", "18"):
        installation = of(major, installations)
        assert installation.version_num // 10000 == int(major)
        assert installation.access_methods == ("heap",)
        assert "plpgsql" in installation.extensions
        assert any(option.startswith("--prefix") for option in installation.configure)
        assert installation.client_bin == installation.bin_dir
        assert installation.layer.content["version"] == installation.version
        known = server_settings.read(installation.settings)
        assert (known["shared_buffers"].unit, known["shared_buffers"].least) == ("8kB", 16)
        assert ("io_method" in known) == (major == "18")


async def test_names_are_unique_and_versions_in_order(installations: list[Installation]):
    assert len({i.name for i in installations}) == len(installations)
    assert [i.version_num for i in installations] == sorted(i.version_num for i in installations)


async def test_asking_leaves_nothing_behind(remote: Remote, address: Address, installations: list[Installation]):
    left = await remote.run("find", f"{address.work_dir}/probes", "-mindepth", "1")
    assert left.stdout == ""


async def test_a_link_to_a_server_is_the_installation_that_it_leads_to(
    remote: Remote, address: Address, installations: list[Installation]
):
    links = f"{address.work_dir}/links/bin"
    await remote.script('mkdir -p "$1" && ln -sf "$2/postgres" "$1/postgres"', links, of("16", installations).bin_dir)
    async with connected(replace(address, search=(f"{address.work_dir}/li*",))) as other:
        again = await discover_installations(other, ["pgbench"])
    await remote.remove(f"{address.work_dir}/links")
    assert of("16", installations).bin_dir in [i.bin_dir for i in again]
    assert links not in [i.bin_dir for i in again]


async def test_what_cannot_be_used_is_named_with_the_reason(remote: Remote, address: Address):
    odd = f"{address.work_dir}/it's $(odd)/bin"
    await remote.put(f"{odd}/postgres", "#!/bin/sh\necho 'no such library' >&2\nexit 127\n", 0o755)
    async with connected(replace(address, search=(odd,))) as other:
        usable, unusable = await discover(other, ["pgbench"])
    await remote.remove(f"{address.work_dir}/it's $(odd)")
    assert odd not in [i.bin_dir for i in usable]
    assert (odd, "no such library") in [(u.bin_dir, u.reason) for u in unusable]


async def test_an_installation_without_clients_borrows_the_newest(
    remote: Remote, address: Address, installations: list[Installation]
):
    newest = installations[-1]
    bare = f"{address.work_dir}/bare/bin"
    for program in ("postgres", "initdb", "pg_ctl"):
        wrapper = f'#!/bin/sh\nexec {of("16", installations).bin_dir}/{program} "$@"\n'
        await remote.put(f"{bare}/{program}", wrapper, 0o755)
    async with connected(replace(address, search=(bare, newest.bin_dir))) as other:
        again, _ = await discover(other, ["pgbench"])
    await remote.remove(f"{address.work_dir}/bare")
    borrowed = next(i for i in again if i.bin_dir == bare)
    assert borrowed.client_bin == newest.bin_dir
    assert borrowed.version == of("16", installations).version
