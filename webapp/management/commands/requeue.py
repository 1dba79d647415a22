"""manage.py requeue: queues interrupted trials again, before everything starts after everything had stopped."""

from __future__ import annotations

from typing import Any

from django.core.management.base import BaseCommand, CommandError

from results.domain.errors import TeitenError
from workers import tasks


class Command(BaseCommand):
    help = (
        "Puts trials that dead workers left running back into the queue at once, uncounted, and frees all agents. "
        "For a start of everything: before the workers and the web server."
    )

    def handle(self, *args: Any, **options: Any) -> None:
        try:
            trials = tasks.requeue()
        except TeitenError as error:
            raise CommandError(str(error)) from error
        if trials:
            self.stdout.write(f"Queued again: trial {', '.join(map(str, trials))}")
