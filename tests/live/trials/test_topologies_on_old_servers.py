"""Logical replication and sharding on servers that have only contrib modules, their client programs being newer."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest
from django.utils import timezone

from results import agents, models
from results.agents import Contact, DiscoveredInstallation
from results.domain.matrix import InstallationRef, find_installation
from tests.live.trials.conftest import value


@pytest.fixture
def old_ones(agent: models.Agent, agent_contact: Contact, installations: list[InstallationRef]) -> None:
    """The agent has them too; which extensions they offer is not known."""
    refs = [find_installation(version, installations) for version in ("11", "17")]
    further = [
        DiscoveredInstallation(
            ref.name, ref.bin_dir, ref.client_bin, ref.version, ref.version_num, access_methods=("heap",)
        )
        for ref in refs
    ]
    agents.record_contact(
        agent.pk, replace(agent_contact, installations=[*agent_contact.installations, *further]), timezone.now()
    )


@pytest.mark.parametrize(
    ("version", "topology", "parameters"),
    [
        ("11", "logical", {"subscribers": 1, "synchronous": "on"}),
        ("11", "fdw", {"shards": 2, "method": "range"}),
        ("17", "fdw", {"shards": 2, "async_capable": True, "batch_size": 100}),
    ],
)
def test_they_are_arranged_verified_and_measured(
    measure: Callable[..., models.Attempt], old_ones: None, version: str, topology: str, parameters: dict[str, Any]
) -> None:
    attempt = measure(
        installation=version,
        topology=topology,
        topology_parameters=parameters,
        parameters={"script": "tpcb-like"},
        data="fresh",
    )
    assert attempt.error is None, attempt.error
    assert [check for check in attempt.checks if not check["passed"]] == []
    assert value(attempt, "tps") > 0
