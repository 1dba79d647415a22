"""manage.py restore: puts a backup into an empty warehouse and an empty bundle folder."""

from __future__ import annotations

from argparse import ArgumentParser
from pathlib import Path
from typing import Any

from django.core.management.base import CommandError
from django.utils.translation import gettext, ngettext

from results.backups.restoring import restore
from results.domain.errors import TeitenError
from results.domain.messages import gettext_lazy as _
from results.domain.messages import localized
from webapp.management.command import WarehouseCommand, in_words
from webapp.management.commands.backup import NOT_IN_IT, summary


class Command(WarehouseCommand):
    help = _(
        "Restores what manage.py backup wrote into an empty warehouse and an empty bundle folder, or nothing of it."
    )

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("folder", type=Path)
        programs = gettext("folder with {program}").format(program="pg_restore")
        parser.add_argument("--programs", type=Path, default=None, help=programs)

    def handle(self, *args: Any, folder: Path, programs: Path | None, **options: Any) -> None:
        try:
            restored = restore(folder.absolute(), bin_dir=programs)
        except (TeitenError, OSError) as error:
            raise CommandError(in_words(error)) from error
        self.stdout.write(gettext("Restored: {backup}").format(backup=summary(restored.manifest)))
        if n := restored.migrated:
            text = ngettext(
                "It was of an older Teiten: {n:,} migration applied.",
                "It was of an older Teiten: {n:,} migrations applied.",
                n,
            )
            self.stdout.write(text.format(n=n))
        self.stdout.write(gettext("Every bundle has the checksum that the warehouse knows."))
        self.stdout.write(localized(NOT_IN_IT))
        self.stdout.write(
            gettext(
                "Next: manage.py doctor; manage.py requeue before the workers start, for trials that ran at the time "
                "of the backup. Agents are measured by one Teiten alone: stop the other one first."
            )
        )
