"""A process's few connections to the warehouse, shared by all trials that it runs.

Most of a trial's time its agent works, and nothing is asked of the warehouse. Heartbeats of all trials go together,
from one thread; reports go from another, in the order in which they were made; everything else goes from one of a few.
Nothing waits in these threads for a warehouse that is away: whoever asks tries again.
"""

from __future__ import annotations

import queue
import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager
from contextvars import copy_context
from functools import partial
from typing import ParamSpec, TypeVar

from django.db import Error as DatabaseError
from django.db import connections
from django.db.backends.base.base import BaseDatabaseWrapper
from django.utils import timezone

from results import warehouse
from workers import lease
from workers.lease import LeaseState

P = ParamSpec("P")
T = TypeVar("T")
OPERATIONS = 10  # at once, each with a connection; one more for heartbeats, and one for reports
_SLOW_S = 1.0  # an answer that fails so late may be one of many
_Heartbeat = tuple[tuple[int, str], "Future[LeaseState]"]


class Access:
    """Threads that ask the warehouse for a process's trials."""

    def __init__(self) -> None:
        self._connections: set[BaseDatabaseWrapper] = set()
        self._operations = ThreadPoolExecutor(OPERATIONS, thread_name_prefix="warehouse")
        self._reports = ThreadPoolExecutor(1, thread_name_prefix="reports")
        self._silence: DatabaseError | None = None
        self._silent_until_s = 0.0
        self._heartbeats: queue.SimpleQueue[_Heartbeat | None] = queue.SimpleQueue()
        self._beating = threading.Thread(target=self._beat, name="heartbeats", daemon=True)
        self._beating.start()

    def close(self) -> None:
        """End the threads, when they have done what they were asked, and close their connections."""
        self._heartbeats.put(None)
        self._beating.join()
        self._operations.shutdown()
        self._reports.shutdown()
        for each in self._connections:
            each.inc_thread_sharing()
            each.close()

    def call(self, operation: Callable[P, T], *args: P.args, **kwargs: P.kwargs) -> T:
        """Call an operation in one of the threads, once. Raises what it raises."""
        work = partial(self._on_own_connection, operation, *args, **kwargs)
        return self._operations.submit(copy_context().run, work).result()

    def retry(self, operation: Callable[P, T], *args: P.args, **kwargs: P.kwargs) -> T:
        """See `results.warehouse.retry`. It is this thread that waits for a warehouse that is away."""
        return warehouse.retry(partial(self.call, operation, *args, **kwargs))

    def report(self, operation: Callable[[], T]) -> Future[T]:
        """Call an operation that is not worth a retry: it is repeated anyway, or the trial does without it.

        Its error is a DatabaseError. Where the warehouse has not answered the one before for a while, it is not asked
        again at once, and the error is that one's.
        """
        return self._reports.submit(copy_context().run, self._report, operation)

    def heartbeat(self, attempt_id: int, worker: str) -> Future[LeaseState]:
        """Prolong an attempt's leases. A DatabaseError says that the warehouse did not answer."""
        answer: Future[LeaseState] = Future()
        answer.set_running_or_notify_cancel()  # whoever awaits it may be cancelled: the answers of others still come
        self._heartbeats.put(((attempt_id, worker), answer))
        return answer

    def _report(self, operation: Callable[[], T]) -> T:
        began_s = time.monotonic()
        if self._silence and began_s < self._silent_until_s:
            raise self._silence
        try:
            return self._on_own_connection(operation)
        except DatabaseError as error:
            if time.monotonic() - began_s > _SLOW_S:
                self._silence, self._silent_until_s = error, time.monotonic() + lease.HEARTBEAT_S
            raise

    def _on_own_connection(self, operation: Callable[P, T], *args: P.args, **kwargs: P.kwargs) -> T:
        self._connections.add(connections["default"])
        try:
            return operation(*args, **kwargs)
        except DatabaseError:
            warehouse.drop_connection()
            raise

    def _beat(self) -> None:
        while asked := self._asked(self._heartbeats.get()):
            self._answer(asked)

    def _asked(self, first: _Heartbeat | None) -> list[_Heartbeat]:
        """Return a heartbeat with all others that wait; none where the first is the end."""
        asked = [first] if first else []
        while first and not self._heartbeats.empty():
            if (another := self._heartbeats.get()) is None:
                self._heartbeats.put(None)
                break
            asked.append(another)
        return asked

    def _answer(self, asked: list[_Heartbeat]) -> None:
        try:
            states = self._on_own_connection(lease.heartbeats, [each for each, _ in asked], timezone.now())
        except Exception as error:  # noqa: BLE001  (whoever asked gets it)
            if not self._heartbeats.empty():  # those that came meanwhile need not wait for the same
                asked += self._asked(self._heartbeats.get())
            for _, answer in asked:
                answer.set_exception(error)
        else:
            for each, answer in asked:
                answer.set_result(states[each])


_lock = threading.Lock()
_access: Access | None = None
_users = 0


@contextmanager
def shared() -> Iterator[Access]:
    """The process's access, which ends with the last that uses it: an idle process keeps no connection."""
    global _access, _users
    with _lock:
        _access = _access or Access()
        access, _users = _access, _users + 1
    try:
        yield access
    finally:
        with _lock:
            _users -= 1
            last = _users == 0
            if last:
                _access = None
        if last:
            access.close()
