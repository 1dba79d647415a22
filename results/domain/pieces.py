"""A file that is written here and sent on, piece by piece. Pure."""

from __future__ import annotations

import io
from typing import Any


class Pieces(io.RawIOBase):
    """A file that is only written: what was written since the last time is taken away."""

    def __init__(self) -> None:
        super().__init__()
        self._written = bytearray()

    def writable(self) -> bool:
        return True

    def write(self, data: Any) -> int:
        before = len(self._written)
        self._written += data
        return len(self._written) - before

    def take(self) -> bytes:
        piece = bytes(self._written)
        self._written.clear()
        return piece
