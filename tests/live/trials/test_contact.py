"""First contact with an agent: its host key, facts and installations."""

from __future__ import annotations

import asyncio
import subprocess
from dataclasses import replace
from pathlib import Path

import pytest
from django.core.exceptions import ValidationError
from django.utils import timezone

from results import agents, models
from results.agents import Contact
from results.domain.errors import AgentError, HostKeyError, StateError
from results.models.agents import AgentState
from tests.live.trials.conftest import agent_fields
from workers import tasks
from workers.contact import discover_agent
from workers.remote.address import Address
from workers.remote.connection import connected
from workers.remote.facts import free_bytes

pytestmark = pytest.mark.django_db


@pytest.fixture
def unknown(address: Address) -> models.Agent:
    return agents.create_agent(agent_fields(address), "test")


def fingerprint_by_ssh_keygen(line: str, folder: Path) -> str:
    (folder / "key.pub").write_text(line + "\n")
    result = subprocess.run(["ssh-keygen", "-lf", str(folder / "key.pub")], check=True, capture_output=True, text=True)
    return result.stdout.split()[1]


def test_first_contact_shows_the_fingerprint_and_waits(unknown: models.Agent, address: Address, tmp_path: Path) -> None:
    with pytest.raises(HostKeyError, match="has not been accepted") as offered:
        tasks.contact_now(unknown.pk)
    assert offered.value.fingerprint == fingerprint_by_ssh_keygen(address.host_key, tmp_path)
    unknown.refresh_from_db()
    assert unknown.state == AgentState.UNKNOWN_KEY
    assert unknown.offered_fingerprint == offered.value.fingerprint
    assert unknown.error is not None
    assert not unknown.installations.exists()


def test_another_fingerprint_cannot_be_accepted(unknown: models.Agent) -> None:
    with pytest.raises(HostKeyError):
        tasks.contact_now(unknown.pk)
    unknown.refresh_from_db()
    with pytest.raises(StateError, match="not the fingerprint"):
        agents.accept_host_key(unknown, "SHA256:something", "test")


def test_an_accepted_agent_is_discovered(unknown: models.Agent) -> None:
    with pytest.raises(HostKeyError) as offered:
        tasks.contact_now(unknown.pk)
    unknown.refresh_from_db()
    agents.accept_host_key(unknown, offered.value.fingerprint, "test")
    tasks.contact_now(unknown.pk)
    unknown.refresh_from_db()
    assert (unknown.state, unknown.error) == (AgentState.READY, None)
    assert unknown.cores and unknown.memory_bytes and unknown.disk["free_bytes"] > 0
    assert {"sar", "awk"} <= {name for name, path in unknown.tools.items() if path}
    majors = {row.version_num // 10000: row for row in unknown.installations.all()}
    assert {16, 18} <= set(majors)
    assert majors[16].access_methods == ["heap"]
    assert "plpgsql" in majors[16].extensions
    assert "shared_buffers|integer|8kB|postmaster|16|1073741823|" in majors[16].known_settings.lines
    layers = {layer.kind: layer.content for layer in unknown.facts.get().layers.all()}
    assert layers["hardware"]["cpu"]["usable"] == unknown.cores


def test_what_is_free_in_storage_places_is_found(address: Address) -> None:
    async def free_space(*folders: str) -> dict[str, int]:
        async with connected(address) as remote:
            return await free_bytes(remote, folders)

    free = asyncio.run(free_space("/", "/nowhere at all", "/dev/shm"))
    assert set(free) == {"/", "/dev/shm"} and min(free.values()) > 0
    result = asyncio.run(discover_agent(replace(address, places=("/usr/local/share", "/var/lib/dpkg"))))
    assert set(result.disk["places"]) == {"/usr/local/share", "/var/lib/dpkg"}


def test_the_same_facts_make_no_new_row_and_changed_ones_do(unknown: models.Agent, agent_contact: Contact) -> None:
    for contact in (agent_contact, agent_contact, replace(agent_contact, layers=agent_contact.layers[1:])):
        agents.record_contact(unknown.pk, contact, timezone.now())
    assert unknown.facts.count() == 2


def test_a_changed_host_key_is_told_with_both_fingerprints(unknown: models.Agent) -> None:
    models.Agent.objects.update(host_key_fingerprint="SHA256:before")
    with pytest.raises(HostKeyError, match="has changed"):
        tasks.contact_now(unknown.pk)
    unknown.refresh_from_db()
    assert unknown.state == AgentState.CHANGED_KEY
    assert "SHA256:before" in unknown.error["why"]
    assert unknown.offered_fingerprint in unknown.error["why"]


def test_an_agent_out_of_reach_says_where_and_why(unknown: models.Agent) -> None:
    models.Agent.objects.update(port=1)
    with pytest.raises(AgentError):
        tasks.contact_now(unknown.pk)
    unknown.refresh_from_db()
    assert unknown.state == AgentState.UNREACHABLE
    assert unknown.error["what"] and unknown.error["todo"]


@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("name", "a'b"),
        ("name", "$(id)"),
        ("host", "x; rm"),
        ("data_dir", "relative"),
        ("work_dir", "/a$(id)"),
        ("port", 0),
    ],
)
def test_fields_that_cannot_be_are_refused(address: Address, field: str, value: object) -> None:
    with pytest.raises(ValidationError) as refused:
        agents.create_agent(agent_fields(address) | {field: value}, "test")
    assert set(refused.value.message_dict) == {field}
