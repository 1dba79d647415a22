"""How many streams may be read at a time: lists as NDJSON, CSV or Parquet, and exported runs.

Each holds a thread of its web process for as long as its reader takes. So each process counts its own, in memory: a
count in Redis would have to be given up after a time, which a slow reader outlasts, or stay taken after a process was
killed.
"""

from __future__ import annotations

import weakref
from collections import Counter
from collections.abc import Generator, Iterator
from itertools import chain
from threading import Lock

from django.conf import settings
from rest_framework.exceptions import APIException
from rest_framework.request import Request

from webapp.api.limits import caller

RETRY_AFTER_S = 10
PATIENCE_S = 120  # with a reader that takes nothing
_lock = Lock()
_open: Counter[str] = Counter()


class TooManyStreamsError(APIException):
    """A stream that is not sent since others are being read.

    wait: seconds after which it may be asked for again
    body: what its answer has besides its sentence
    """

    wait = RETRY_AFTER_S

    def __init__(self, status: int, what: str) -> None:
        super().__init__(what)
        self.status_code = status
        todo = f"Read to the end, or close, what is open. Ask again in {RETRY_AFTER_S} s (Retry-After)."
        self.body = {"kind": "limit", "todo": todo, "retryable": True}


class Stream:
    """Chunks that are counted as one open stream until the last is read, or it is closed or forgotten.

    Raises TooManyStreamsError where the caller has, or all together have, as many as they may.
    """

    def __init__(self, request: Request, chunks: Generator[bytes]) -> None:
        who = caller(request)
        _take(who)
        self._release = weakref.finalize(self, _give_back, who)
        self._chunks: Iterator[bytes] = chunks
        self._close = chunks.close
        if connection := request.META.get("gunicorn.socket"):  # which else waits for the reader for ever
            connection.settimeout(PATIENCE_S)

    def __iter__(self) -> Iterator[bytes]:
        return self

    def __next__(self) -> bytes:
        try:
            return next(self._chunks)
        except BaseException:
            self._release()
            raise

    def begin(self) -> None:
        """Make the first chunk, so that an error of it is still an answer of its own."""
        self._chunks = chain([next(self, b"")], self._chunks)

    def close(self) -> None:
        try:
            self._close()
        finally:
            self._release()


def _take(who: str) -> None:
    each, together = settings.TEITEN_API_STREAMS_EACH, settings.TEITEN_API_STREAMS
    with _lock:
        if each and _open[who] >= each:
            raise TooManyStreamsError(429, f"You read {each} streams already, as many as one may at a time.")
        if together and _open.total() >= together:
            raise TooManyStreamsError(503, f"{together} streams are being read, as many as may be at a time.")
        _open[who] += 1


def _give_back(who: str) -> None:
    with _lock:
        _open[who] -= 1
        if not _open[who]:
            del _open[who]
