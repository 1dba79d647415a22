"""Programs planted in plans: not started for an operator on an agent that allows no code, and run where it does."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from typing import Any

import pytest
from django.utils import timezone
from rest_framework.test import APIClient

from results import agents, models
from tests import factories
from tests.live.trials.conftest import PLAN, run_next
from workers import dispatch
from workers.remote.address import Address
from workers.remote.connection import connected

SCRIPT: dict[str, Any] = PLAN | {"workload": "script", "collectors": [], "data": "fresh", "duration_s": 1}
QUERIES = {"form": "queries", "text": "SELECT 1;", "passes": 1}
SHELL = {"script": "custom", "transactions": 1}


def planted(name: str, touch: str) -> dict[str, Any]:
    """A plan that runs `touch`, a command that leaves a file."""
    plans: dict[str, dict[str, Any]] = {
        "command": SCRIPT | {"parameters": {"form": "command", "text": f"{touch}; echo a 1"}},
        "psql's shell": SCRIPT | {"parameters": QUERIES | {"text": f"\\! {touch}\nSELECT 1;"}},
        "COPY TO PROGRAM": SCRIPT | {"parameters": QUERIES | {"setup": f"COPY (SELECT 1) TO PROGRAM '{touch}';"}},
        "LOAD": SCRIPT | {"parameters": QUERIES | {"setup": f"LOAD 'plpgsql';\n\\! {touch}"}},
        "shell of pgbench": PLAN | {"parameters": SHELL | {"custom_script": f"\\shell {touch}\nSELECT 1;"}},
        "setshell of pgbench": PLAN | {"parameters": SHELL | {"custom_script": f"\\setshell x {touch}.sh\nSELECT :x;"}},
        "archive_command": PLAN
        | {
            "duration_s": 4,
            "parameters": {"script": "tpcb-like"},
            "settings": {"archive_mode": "on", "archive_timeout": "1s", "archive_command": touch},
        },
        "session_preload_libraries": PLAN | {"settings": {"session_preload_libraries": "plpgsql"}},
        "initdb": PLAN | {"initdb": ["--set=session_preload_libraries=plpgsql"]},
    }
    return plans[name]


NAMES = (
    *("command", "psql's shell", "COPY TO PROGRAM", "LOAD", "shell of pgbench", "setshell of pgbench"),
    *("archive_command", "session_preload_libraries", "initdb"),
)
WITHOUT_A_FILE = ("session_preload_libraries", "initdb")


@pytest.fixture
def canary(address: Address) -> Iterator[str]:
    path = f"{address.work_dir}/canary"
    asyncio.run(_prepare(address, path))
    yield path
    asyncio.run(_prepare(address, path))


async def _prepare(address: Address, path: str) -> None:
    async with connected(address) as remote:
        await remote.script('mkdir -p "${1%/*}" && rm -f "$1"', path)
        await remote.put(f"/{path.strip('/')}.sh", f"#!/bin/sh\ntouch {path}\necho 1\n", 0o755)


async def _is_there(address: Address, path: str) -> bool:
    async with connected(address) as remote:
        return (await remote.run("test", "-e", path, check=False)).exit_status == 0


@pytest.mark.parametrize("name", NAMES)
def test_code_of_an_operator_runs_only_where_it_is_allowed(
    name: str, agent: models.Agent, address: Address, canary: str
) -> None:
    client, owner = APIClient(), factories.member("ada", staff=True)
    client.credentials(HTTP_AUTHORIZATION=f"Bearer {factories.tokens(owner)['run']}")
    touch = canary if name == "setshell of pgbench" else f"touch {canary}"
    mapping = planted(name, touch)
    answer = client.post("/api/v1/runs/", mapping, format="json")
    assert answer.status_code == 403
    assert "From operators, agent live takes none." in answer.json()["error"]["problems"][0]["what"]
    assert not models.Run.objects.exists()
    assert dispatch.next_attempt(timezone.now()) is None
    assert not asyncio.run(_is_there(address, canary))
    agents.update_agent(agent, {"allows_code": True}, "test")
    assert client.post("/api/v1/runs/", mapping, format="json").status_code == 201
    attempt = run_next()
    assert attempt.error is None, attempt.error
    assert asyncio.run(_is_there(address, canary)) == (name not in WITHOUT_A_FILE)
