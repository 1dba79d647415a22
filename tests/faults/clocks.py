"""The agents' clocks, moved for all that Teiten starts there: libfaketime adds what a file says to the time."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path

import pytest

from tests.faults.conftest import Held
from tests.faults.fleet import Fleet
from workers.remote.address import Address

_LIBRARIES = ("/usr/lib/*/faketime/libfaketime.so.1", "/usr/lib*/faketime/libfaketime.so.1")


@contextmanager
def own_clocks(fleet: Fleet, agents: Sequence[Address]) -> Iterator[None]:
    """Logins of the fleet's sshd get a clock that a file moves, until the block ends."""
    libraries = [path for pattern in _LIBRARIES for path in Path("/").glob(pattern.removeprefix("/"))]
    if not libraries:
        pytest.skip("there is no libfaketime, which moves the agents' clocks")
    ahead = _ahead(agents)
    ahead.write_text("+0s\n")
    ahead.chmod(0o644)
    settings = {
        "LD_PRELOAD": libraries[0],
        "FAKETIME_TIMESTAMP_FILE": ahead,
        "FAKETIME_NO_CACHE": "1",
        "FAKETIME_DONT_FAKE_MONOTONIC": "1",
        "DONT_FAKE_MONOTONIC": "1",
    }
    words = " ".join(f"{name}={value}" for name, value in settings.items())
    sshd = fleet.sshd
    sshd.stop()
    fleet.sshd = replace(sshd, argv=[*sshd.argv, "-o", f"SetEnv={words}"])
    try:
        fleet.sshd.start()
        yield
    finally:
        fleet.sshd.stop()
        fleet.sshd = sshd
        sshd.start()
        ahead.unlink()


def set_forward(held: Held) -> None:
    """By an hour, and not back before the trials have ended."""
    _ahead(held.agents).write_text("+3600s\n")
    held.let_go()
    held.outcomes()


def _ahead(agents: Sequence[Address]) -> Path:
    """The file that says by how much."""
    return Path(agents[0].work_dir).parent / "clock"
