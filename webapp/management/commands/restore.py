"""manage.py restore: puts a backup into an empty warehouse and an empty bundle folder."""

from __future__ import annotations

from argparse import ArgumentParser
from pathlib import Path
from typing import Any

from django.core.management.base import CommandError

from results.backups.restoring import restore
from results.domain.errors import TeitenError
from results.domain.units import counted
from webapp.management.command import WarehouseCommand
from webapp.management.commands.backup import NOT_IN_IT, summary


class Command(WarehouseCommand):
    help = "Restores what manage.py backup wrote into an empty warehouse and an empty bundle folder, or nothing of it."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("folder", type=Path)
        parser.add_argument("--programs", type=Path, default=None, help="folder with pg_restore")

    def handle(self, *args: Any, folder: Path, programs: Path | None, **options: Any) -> None:
        try:
            restored = restore(folder.absolute(), bin_dir=programs)
        except (TeitenError, OSError) as error:
            raise CommandError(str(error), returncode=1) from error
        self.stdout.write(f"Restored: {summary(restored.manifest)}")
        if restored.migrated:
            self.stdout.write(f"It was of an older Teiten: {counted(restored.migrated, 'migration')} applied.")
        self.stdout.write("Every bundle has the checksum that the warehouse knows.")
        self.stdout.write(NOT_IN_IT)
        self.stdout.write(
            "Next: manage.py doctor; manage.py requeue before the workers start, for trials that ran at the time of "
            "the backup. Agents are measured by one Teiten alone: stop the other one first."
        )
