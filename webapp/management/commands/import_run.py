"""manage.py import_run: reads the archive of a run that another Teiten exported."""

from __future__ import annotations

from argparse import ArgumentParser
from pathlib import Path
from typing import Any

from django.core.management.base import CommandError
from django.utils.translation import gettext

from results.domain.errors import TeitenError
from results.domain.messages import gettext_lazy as _
from webapp.management.command import WarehouseCommand, in_words
from workers import tasks


class Command(WarehouseCommand):
    help = _(
        "Imports a run that manage.py export_run of another Teiten wrote, with the same numbers, or nothing of it."
    )

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("file", type=Path)

    def handle(self, *args: Any, file: Path, **options: Any) -> None:
        try:
            run = tasks.import_run(file, user=None, actor="command import_run")
        except (TeitenError, OSError) as error:
            raise CommandError(in_words(error)) from error
        text = gettext(
            "This is run {run}, {name}: run {source} of another Teiten, version {version}, exploratory at first."
        )
        source = run.imported
        self.stdout.write(text.format(run=run.pk, name=run.name, source=source.source_run, version=source.teiten))
