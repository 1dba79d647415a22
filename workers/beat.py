"""The scheduler of Celery beat: its schedules are in the warehouse, and it goes on while the warehouse is away."""

from __future__ import annotations

import logging
from typing import Any

from django.db import Error as DatabaseError
from django_celery_beat.schedulers import DatabaseScheduler

from results import warehouse

log = logging.getLogger(__name__)


class Scheduler(DatabaseScheduler):
    """A scheduler that keeps its last schedules while the warehouse is away, and reads them again later."""

    sync_every = 30  # seconds between two notes of what was sent when, by which others see that it lives

    def all_as_schedule(self) -> dict[str, Any]:
        try:
            return dict(super().all_as_schedule())
        except DatabaseError as error:
            if self._schedule is None or not warehouse.is_away(error):
                raise
            log.warning("the warehouse is away; the schedules are those of before: %s", error)
            warehouse.drop_connection()
            return dict(self._schedule)
