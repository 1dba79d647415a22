"""Making a file takes a processor for seconds: one at a time in a process, so that readers of pages have the others."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager

from results.domain.errors import BusyError
from results.domain.messages import gettext_lazy as _

PATIENCE_S = 30.0
_TURN = threading.BoundedSemaphore(1)


@contextmanager
def turn() -> Iterator[None]:
    """Wait until no other file is made. Raises BusyError after PATIENCE_S."""
    if not _TURN.acquire(timeout=PATIENCE_S):
        raise BusyError(_("Others are waiting for files."), where="export", todo=_("Ask again in half a minute."))
    try:
        yield
    finally:
        _TURN.release()
