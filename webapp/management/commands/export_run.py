"""manage.py export_run: writes a run with its raw files into one archive that another Teiten imports."""

from __future__ import annotations

from argparse import ArgumentParser
from pathlib import Path
from typing import Any

from django.core.management.base import CommandError
from django.utils.translation import gettext

from results.domain.errors import TeitenError
from results.domain.messages import gettext_lazy as _
from results.exporting import Export, export
from results.models import Run
from webapp.management.command import WarehouseCommand, in_words


class Command(WarehouseCommand):
    help = _(
        "Writes a run with raw files, plan, environment and checksums into one archive (zip, with RO-Crate metadata)."
    )

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("run", type=int, help=gettext("the run's number"))
        to = gettext("file, or folder of the file; else this folder")
        parser.add_argument("--to", type=Path, default=None, help=to)

    def handle(self, *args: Any, run: int, to: Path | None, **options: Any) -> None:
        try:
            exported = export(run)
            path = to / exported.name if to and to.is_dir() else to or Path(exported.name)
            _write(exported, path)
        except Run.DoesNotExist as error:
            raise CommandError(gettext("There is no run {run}.").format(run=run)) from error
        except (TeitenError, OSError) as error:
            raise CommandError(in_words(error)) from error
        self.stdout.write(gettext("{file}: {n} bytes").format(file=path, n=path.stat().st_size))


def _write(exported: Export, path: Path) -> None:
    """Write a new file; one that is there already stays, and of a failure nothing stays."""
    with path.open("xb") as file:
        try:
            for chunk in exported.chunks:
                file.write(chunk)
        except BaseException:
            path.unlink()
            raise
