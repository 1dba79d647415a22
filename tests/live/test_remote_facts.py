"""What a real agent tells of itself."""

from __future__ import annotations

import os
from dataclasses import replace

from results.domain.environment.layers import LayerKind, flatten
from workers.remote.address import Address
from workers.remote.connection import Remote, connected
from workers.remote.facts import discover


async def test_an_agent_is_discovered_without_privileges(remote: Remote, address: Address):
    facts = await discover(remote, address.data_dir)
    layers = {layer.kind: flatten(layer.content) for layer in facts.layers}
    assert facts.cores == len(os.sched_getaffinity(0))
    assert facts.memory_bytes == os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
    assert layers[LayerKind.KERNEL]["release"] == os.uname().release
    assert layers[LayerKind.HARDWARE]["cpu.model"]
    assert facts.disk["total_bytes"] > facts.disk["free_bytes"] > 0
    assert facts.disk["filesystem"]
    assert "awk" in facts.tools
    assert abs(facts.clock_offset_s) < 1


async def test_nothing_changed_gives_the_same_layers(remote: Remote, address: Address):
    first = await discover(remote, address.data_dir)
    await remote.run("dd", "if=/dev/zero", f"of={address.work_dir}/ballast", "bs=1M", "count=8")
    second = await discover(remote, address.data_dir)
    await remote.remove(f"{address.work_dir}/ballast")
    assert [layer.hash for layer in first.layers] == [layer.hash for layer in second.layers]


async def test_a_data_directory_that_is_not_there_yet_has_the_disk_above_it(address: Address):
    async with connected(replace(address, data_dir=f"{address.data_dir}/not/there")) as remote:
        facts = await discover(remote, remote.address.data_dir)
    assert facts.disk["mount"].startswith("/")
