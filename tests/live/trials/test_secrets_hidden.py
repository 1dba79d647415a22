"""Passwords on servers and in their logs: in no bundle, no row, no page and no answer."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from django.db import connection
from django.test import Client

from results import models
from results.domain.errors import PlanError
from tests import factories
from tests.live.trials.conftest import start
from tests.live.trials.test_between_agents import passwords
from workers import reingest
from workers.bundle import reader
from workers.remote.address import Address
from workers.remote.connection import connected

Measure = Callable[..., models.Attempt]
CANARY = "Kanari3nv0gel"
SETUP = r"""
\set secret `cat {path}`
\set conninfo 'host=nowhere port=1 user=u password=' :secret
ALTER SYSTEM SET primary_conninfo = :'conninfo';
ALTER SYSTEM SET archive_command = 'true';
SELECT pg_reload_conf();
CREATE ROLE canary LOGIN PASSWORD :'secret';
CREATE TABLE seen AS SELECT rolpassword FROM pg_authid WHERE rolname = 'canary';
"""
QUERIES = r"""-- query: 01
\set secret `cat {path}`
\set address 'postgresql://u:' :secret '@nowhere/x'
SELECT :'address' AS address;
-- query: 02
ALTER SYSTEM RESET ALL;
DROP ROLE canary;
SELECT pg_reload_conf();
"""
COMMAND = 'echo "password=$(cat {path})" >&2; echo "tried PGPASSWORD=$(cat {path})"; exit 1'
EVERYTHING = {"log_statement": "all", "log_min_duration_statement": "0"}


@pytest.fixture(autouse=True)
def _plain_static(settings: Any) -> None:
    plain = {"BACKEND": "django.contrib.staticfiles.storage.StaticFilesStorage"}
    settings.STORAGES = {**settings.STORAGES, "staticfiles": plain}


@pytest.fixture
def path(address: Address) -> str:
    """A file on the agent that holds the secret."""
    file = f"{address.work_dir}/canary-secret"
    asyncio.run(_put(address, file))
    return file


async def _put(address: Address, file: str) -> None:
    async with connected(address) as remote:
        await remote.put(file, CANARY, 0o600, secret=True)


def rows_with(secrets: list[str]) -> list[str]:
    """Every table of the warehouse that has one of these words in a row, as text."""
    found = []
    with connection.cursor() as cursor:
        for table in connection.introspection.table_names(cursor):
            for secret in secrets:
                cursor.execute(f'SELECT count(*) FROM "{table}" AS r WHERE r::text LIKE %s', [f"%{secret}%"])
                if cursor.fetchone()[0]:
                    found.append(f"{table}: {secret}")
    return found


def addresses(attempt: models.Attempt) -> list[str]:
    run, trial = attempt.run_id, attempt.trial_id
    pages = [f"/runs/{run}/", f"/runs/{run}/plan.toml", f"/runs/{run}/live/", f"/trials/{trial}/", "/", "/agents/live/"]
    pages += [f"/compare/?run={run}", f"/diff/?left=trial:{trial}&right=agent:live", "/plans/"]
    pages += [f"/trials/{trial}/{attempt.number}/file/{file['path']}" for file in attempt.files]
    api = [
        "runs/{run}/",
        "trials/{trial}/",
        "trials/{trial}/documents/",
        "trials/{trial}/series/",
        "runs/{run}/medians/",
    ]
    pages += [f"/api/v1/{one.format(run=run, trial=trial)}" for one in api]
    return [*pages, f"/api/v1/trials/{trial}/bundle/", f"/api/v1/runs/{run}/export/"]


def shown(client: Client, path: str) -> bytes:
    answer = client.get(path)
    assert answer.status_code == 200, path
    return answer.getvalue()


def require_hidden(attempt: models.Attempt, bundles: Path, secrets: list[str]) -> None:
    files = reader.open_files(bundles / attempt.bundle)
    everything = b"".join(files.values())
    assert b"(hidden)" in everything
    assert [(name, one) for name, content in files.items() for one in secrets if one.encode() in content] == []
    assert rows_with(secrets) == []
    client = Client()
    client.force_login(factories.member(f"reader{attempt.pk}", staff=True))
    for address in addresses(attempt):
        content = shown(client, address)
        assert [one for one in secrets if one.encode() in content] == [], address


def test_no_password_of_a_streaming_topology_is_stored_or_shown(
    measure: Measure, far: Address, address: Address, path: str, bundles: Path
) -> None:
    attempt = measure(
        workload="script",
        topology="streaming",
        agents={"primary": "live", "client": "live", "standby": "far"},
        parameters={
            "form": "queries",
            "passes": 1,
            "setup": SETUP.format(path=path),
            "text": QUERIES.format(path=path),
        },
        settings=EVERYTHING,
        data="fresh",
        collectors=["pg_stat"],
    )
    assert attempt.error is None, attempt.error
    own = [secret.decode() for secret in {*asyncio.run(passwords(address)), *asyncio.run(passwords(far))}]
    assert own
    require_hidden(attempt, bundles, [CANARY, *own])
    conninfo = [layer["content"] for layer in models.Layer.objects.filter(kind="settings").values("content")]
    assert any("host=nowhere port=1 user=u password=(hidden)" in str(content) for content in conninfo)
    [same] = reingest.reread(None, replace=False)
    assert (same.differences, same.error) == ((), None)


def test_no_password_in_the_output_of_what_failed_is_stored_or_shown(
    measure: Measure, path: str, bundles: Path
) -> None:
    attempt = measure(workload="script", parameters={"form": "command", "text": COMMAND.format(path=path)})
    assert attempt.error is not None
    assert "(hidden)" in str(attempt.error)
    require_hidden(attempt, bundles, [CANARY])


@pytest.mark.parametrize(
    ("field", "changes"),
    [
        ("settings.primary_conninfo", {"settings": {"primary_conninfo": f"host=a password={CANARY}"}}),
        ("parameters.setup_script", {"parameters": {"setup_script": f"CREATE ROLE r PASSWORD '{CANARY}';"}}),
        ("initdb", {"initdb": [f"--set=some.password={CANARY}"]}),
    ],
)
def test_a_plan_with_a_password_is_refused_by_its_field(
    agent: models.Agent, field: str, changes: dict[str, Any]
) -> None:
    with pytest.raises(PlanError) as caught:
        start(**changes)
    assert [problem.field for problem in caught.value.problems] == [field]
    assert CANARY not in str(caught.value)
    assert not models.Run.objects.exists()
