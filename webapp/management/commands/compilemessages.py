"""manage.py compilemessages: the translations of Teiten and of all kinds, as Django reads them."""

from __future__ import annotations

from typing import Any

from django.core.management.base import BaseCommand, CommandError

from results.domain.errors import TeitenError
from webapp import catalogues


class Command(BaseCommand):
    help = (
        "Compiles the translations of Teiten and of all kinds, those of TEITEN_KINDS too, into the state folder. "
        "Needs no gettext. Processes read them when they start."
    )

    def handle(self, *args: Any, **options: Any) -> None:
        try:
            compiled = catalogues.compile_all()
        except TeitenError as error:
            raise CommandError(str(error)) from error
        if options["verbosity"] > 0:
            for path in compiled:
                self.stdout.write(f"Compiled: {path}")
