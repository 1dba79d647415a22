"""The scheduler of Celery beat: its schedules are in the warehouse, it goes on while the warehouse is away, and it ends
between two looks at what is due."""

from __future__ import annotations

import logging
import signal
from typing import Any

from celery.signals import beat_init
from django.db import Error as DatabaseError
from django_celery_beat.schedulers import DatabaseScheduler

from results import warehouse

log = logging.getLogger(__name__)


class Scheduler(DatabaseScheduler):
    """A scheduler that keeps its last schedules while the warehouse is away, and reads them again later."""

    sync_every = 30  # seconds between two notes of what was sent when, by which others see that it lives
    is_ending = False

    def tick(self, *args: Any, **kwargs: Any) -> Any:
        if self.is_ending:
            raise SystemExit
        return super().tick(*args, **kwargs)

    def all_as_schedule(self) -> dict[str, Any]:
        try:
            return dict(super().all_as_schedule())
        except DatabaseError as error:
            if self._schedule is None or not warehouse.is_away(error):
                raise
            log.warning("the warehouse is away; the schedules are those of before: %s", error)
            warehouse.drop_connection()
            return dict(self._schedule)


@beat_init.connect
def _end_between_two_looks(sender: Any, **_: object) -> None:
    """Have a signal end beat before its next look. Celery's own handler notes in the warehouse what was sent, at once:
    it would wait for ever where the signal came during a query, whose connection is locked by the same thread."""

    def end(*_: object) -> None:
        sender.scheduler.is_ending = True

    for number in (signal.SIGTERM, signal.SIGINT):
        signal.signal(number, end)
