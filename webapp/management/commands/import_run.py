"""manage.py import_run: reads the archive of a run that another Teiten exported."""

from __future__ import annotations

from argparse import ArgumentParser
from pathlib import Path
from typing import Any

from django.core.management.base import CommandError

from results.domain.errors import TeitenError
from webapp.management.command import WarehouseCommand
from workers import tasks


class Command(WarehouseCommand):
    help = "Imports a run that manage.py export_run of another Teiten wrote, with the same numbers, or nothing of it."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("file", type=Path)

    def handle(self, *args: Any, file: Path, **options: Any) -> None:
        try:
            run = tasks.import_run(file, user=None, actor="command import_run")
        except (TeitenError, OSError) as error:
            raise CommandError(str(error)) from error
        source = run.imported
        origin = f"run {source.source_run} of another Teiten, version {source.teiten}"
        self.stdout.write(f"This is run {run.pk}, {run.name}: {origin}, exploratory at first.")
