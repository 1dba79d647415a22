"""manage.py requeue: queues interrupted trials again, before everything starts after everything had stopped."""

from __future__ import annotations

from typing import Any

from django.core.management.base import CommandError
from django.utils.translation import gettext

from results.domain.errors import TeitenError
from results.domain.messages import gettext_lazy as _
from webapp.language import joined
from webapp.management.command import TerminalCommand, in_words
from workers import tasks


class Command(TerminalCommand):
    help = _(
        "Puts trials that dead workers left running back into the queue at once, uncounted, and frees all agents. "
        "For a start of everything: before the workers and the web server."
    )

    def handle(self, *args: Any, **options: Any) -> None:
        try:
            trials = tasks.requeue()
        except TeitenError as error:
            raise CommandError(in_words(error)) from error
        if trials:
            self.stdout.write(gettext("Queued again: trial {trials}").format(trials=joined(map(str, trials))))
