"""Ports: a taken one is named with its process, chosen ones are remembered, the web port is never changed silently."""

from __future__ import annotations

import os
import socket
from collections.abc import Iterator
from pathlib import Path

import pytest

from bootstrap import ports
from bootstrap.errors import BootstrapError


@pytest.fixture
def taken() -> Iterator[int]:
    """A port on which this process listens."""
    with socket.create_server((ports.HOST, 0)) as server:
        yield server.getsockname()[1]


def test_a_taken_web_port_is_named_with_its_holder_and_the_way_to_choose_another(taken: int) -> None:
    with pytest.raises(BootstrapError) as caught:
        ports.web({"TEITEN_PORT": str(taken)})
    text = str(caught.value)
    assert f"Port {taken}" in text
    assert f"process {os.getpid()}" in text
    assert "make demo TEITEN_PORT=NUMBER" in text


def test_a_free_web_port_is_used_as_given() -> None:
    with socket.create_server((ports.HOST, 0)) as server:
        port = server.getsockname()[1]
    assert ports.web({"TEITEN_PORT": str(port)}) == port


def test_a_start_that_is_killed_while_it_remembers_its_ports_leaves_what_was_there(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = tmp_path / "ports.json"
    first = ports.inner({}, file)
    before = file.read_text()

    def interrupt(self: Path, target: Path) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(Path, "replace", interrupt)
    with pytest.raises(KeyboardInterrupt):
        ports.inner({"TEITEN_REDIS_PORT": str(first.redis + 400)}, file)
    assert file.read_text() == before


@pytest.mark.parametrize("text", ["many", "0", "65536", "-1"])
def test_what_is_no_port_is_refused(text: str) -> None:
    with pytest.raises(BootstrapError, match="is no port"):
        ports.web({"TEITEN_PORT": text})


def test_inner_ports_are_remembered(tmp_path: Path) -> None:
    first = ports.inner({}, tmp_path / "ports.json")
    assert ports.inner({}, tmp_path / "ports.json") == first
    assert len({first.warehouse, first.redis, first.sshd}) == 3


def test_a_remembered_inner_port_that_is_taken_gives_way_to_a_free_one(tmp_path: Path) -> None:
    file = tmp_path / "ports.json"
    first = ports.inner({}, file)
    with socket.create_server((ports.HOST, first.redis)):
        second = ports.inner({}, file)
    assert second.redis != first.redis
    assert (second.warehouse, second.sshd) == (first.warehouse, first.sshd)


def test_an_inner_port_that_was_asked_for_and_is_taken_is_named(taken: int, tmp_path: Path) -> None:
    with pytest.raises(BootstrapError, match=f"TEITEN_SSH_PORT: Port {taken} of sshd"):
        ports.inner({"TEITEN_SSH_PORT": str(taken)}, tmp_path / "ports.json")


def test_two_starts_at_once_rarely_choose_the_same_port(tmp_path: Path, taken: int) -> None:
    file = tmp_path / "ports.json"
    chosen = set()
    for _ in range(20):
        file.write_text(f'{{"TEITEN_REDIS_PORT": {taken}}}')
        chosen.add(ports.inner({}, file).redis)
    assert len(chosen) > 5
