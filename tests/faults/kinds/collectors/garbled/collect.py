"""Record bytes that are no text."""

from __future__ import annotations

import hashlib

from workers.interfaces import Stage

_GARBAGE = b"count: 1\x002\n" + b"".join(hashlib.sha256(bytes([n])).digest() for n in range(32))


class Garbled:
    """The collector of `workers.interfaces.Collector`."""

    async def start(self, stage: Stage, node: str) -> None:
        """There is nothing to start."""

    async def stop(self, stage: Stage, node: str) -> None:
        """Record garbage."""
        stage.recorder.add(f"collectors/garbled/{node}/answer.txt", _GARBAGE)


COLLECTOR = Garbled()
