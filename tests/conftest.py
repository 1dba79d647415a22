"""What all tests share: the surroundings that `make test` sets up, as environment variables."""

from __future__ import annotations

import os
from typing import Any

import pytest

_HINT = "is not set: this test needs real servers around it. Run `make test` (make test ARGS='-k name' for one)."


def surrounding(name: str) -> str:
    """One of the variables that `python -m bootstrap services` sets; fails the test, saying how, where it is absent."""
    if not os.environ.get(name):
        pytest.fail(f"{name} {_HINT}", pytrace=False)
    return os.environ[name]


@pytest.hookimpl(trylast=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """The browser's tests come last: its driver keeps an event loop running, in which no other test can run its own."""
    items.sort(key=lambda item: item.nodeid.startswith("tests/e2e/"))


@pytest.fixture(scope="session")
def agent_environment() -> dict[str, Any]:
    """How to reach the tests' agent: a real sshd on this machine and an account of its own behind it.

    host, port (int), user, key_path, host_key ('ssh-ed25519 AAAA…'), home (its folder), search (list of folders)."""
    return {
        "host": surrounding("TEITEN_AGENT_HOST"),
        "port": int(surrounding("TEITEN_AGENT_PORT")),
        "user": surrounding("TEITEN_AGENT_USER"),
        "key_path": surrounding("TEITEN_AGENT_KEY"),
        "host_key": surrounding("TEITEN_AGENT_HOST_KEY"),
        "home": surrounding("TEITEN_AGENT_HOME"),
        "search": surrounding("TEITEN_AGENT_SEARCH").split(":"),
    }


@pytest.fixture(scope="session")
def django_db_modify_db_settings() -> None:
    """Asked by pytest-django before it makes the test database."""
    surrounding("TEITEN_DATABASE_URL")
