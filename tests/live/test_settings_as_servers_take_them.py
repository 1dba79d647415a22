"""What `kinds.server_settings` says of a value is what servers say: ALTER SYSTEM reads values as a file is read."""

from __future__ import annotations

import asyncio

import pytest

from results.domain.kinds.reserved_names import setting_is_reserved
from results.domain.kinds.server_settings import SettingType, fault, read
from results.domain.matrix import InstallationRef
from workers.postgres import cluster
from workers.postgres.installation import Installation, discover_installations
from workers.remote.address import Address
from workers.remote.connection import Remote, connected

NUMBERS = (
    "0",
    "-1",
    "10",
    "64MB",
    "8kB",
    "5min",
    "1.5",
    "0x10",
    "010",
    "1e2",
    "lots",
    "2 ms ",
    "1TB",
    "100us",
    "-2",
    "",
)
WORDS = ("on", "t", "of", "o", "TRUE", "1", "debug", "archive", "none", "n", "md5", "")
# Refused by a hook of the setting's own, which knows more than pg_settings tells.
HOOKS = {
    "allow_alter_system",  # refused by ALTER SYSTEM alone
    "bonjour",
    "commit_timestamp_buffers",
    "io_max_concurrency",
    "max_stack_depth",
    "multixact_member_buffers",
    "multixact_offset_buffers",
    "notify_buffers",
    "serializable_buffers",
    "ssl",
    "subtransaction_buffers",
    "transaction_buffers",
    "vacuum_buffer_usage_limit",
}


@pytest.fixture(scope="module")
def discovered(address: Address) -> list[Installation]:
    async def ask() -> list[Installation]:
        async with connected(address) as remote:
            return await discover_installations(remote, ["pgbench"])

    return asyncio.run(ask())


async def answers(remote: Remote, installation: InstallationRef, cases: list[tuple[SettingType, str]]) -> list[bool]:
    """Whether the server takes each value."""
    server = await cluster.ensure(remote, installation, settings={"fsync": "off"}, name="settings")
    lines = [f"ALTER SYSTEM SET {setting.name} = '{value}';\n\\echo :ERROR" for setting, value in cases]
    printed = await server.execute("\n".join(["\\set ON_ERROR_STOP 0", *lines, ""]))
    await cluster.drop(remote, server)
    return [line == "false" for line in printed.split()]


@pytest.mark.parametrize("major", ["16", "18"])
async def test_no_value_that_a_server_takes_is_refused_and_only_hooks_refuse_more(
    remote: Remote, discovered: list[Installation], major: str
) -> None:
    installation = next(one for one in discovered if one.version.startswith(f"{major}."))
    cases = [
        (setting, value)
        for setting in read(installation.settings).values()
        if setting.kind != "string" and not setting_is_reserved(setting.name)
        for value in (NUMBERS if setting.kind in ("integer", "real") else WORDS)
    ]
    taken = await answers(remote, installation.ref, cases)
    assert len(taken) == len(cases) > 4000
    pairs = [(case, server, not fault(*case)) for case, server in zip(cases, taken, strict=True)]
    assert [(case[0].name, case[1]) for case, server, ours in pairs if server and not ours] == []
    assert {case[0].name for case, server, ours in pairs if ours and not server} <= HOOKS
    assert 0.2 < sum(taken) / len(taken) < 0.8
