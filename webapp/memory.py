"""Memory of an answer goes back to the system once it was sent."""

from __future__ import annotations

import ctypes
import gc
import os
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import Any

GROWTH = 16_000_000  # bytes that a process may grow by before it looks
_STATM = Path("/proc/self/statm")
_Application = Callable[[dict[str, Any], Any], Iterable[bytes]]


class GivingBack:
    """A WSGI application after whose large answers the process gives their memory back.

    glibc keeps what was freed below a block that is still in use, some 70 MB after a comparison of 194,000 values
    (docs/performance.md). It is asked for that memory where the process has grown since it was asked last, after the
    server has closed the answer. That takes up to 40 ms, for which other threads wait; the answer is sent by then.

    Of Linux, glibc, and servers whose `wsgi.file_wrapper` is a class, as gunicorn's is."""

    def __init__(self, application: _Application) -> None:
        self._application = application
        self._resident = _resident()

    def __call__(self, environ: dict[str, Any], start_response: Any) -> Iterable[bytes]:
        answer = self._application(environ, start_response)
        if isinstance(answer, environ.get("wsgi.file_wrapper", ())):
            return answer  # the server sends the file by itself
        return _Answer(answer, self._give_back)

    def _give_back(self) -> None:
        if _resident() > self._resident + GROWTH:
            gc.collect()  # what is left of the answer in cycles lies between blocks that are free
            ctypes.CDLL(None).malloc_trim(0)
            self._resident = _resident()


class _Answer:
    def __init__(self, answer: Iterable[bytes], then: Callable[[], None]) -> None:
        self._answer = answer
        self._then = then

    def __iter__(self) -> Iterator[bytes]:
        return iter(self._answer)

    def close(self) -> None:
        answer, self._answer = self._answer, ()
        try:
            if hasattr(answer, "close"):
                answer.close()
        finally:
            del answer
            self._then()


def _resident() -> int:
    """Return the bytes that this process has in memory."""
    return int(_STATM.read_bytes().split()[1]) * os.sysconf("SC_PAGE_SIZE")
