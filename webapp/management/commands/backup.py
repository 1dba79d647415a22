"""manage.py backup: writes warehouse and raw files into a folder while Teiten runs, or verifies such a folder."""

from __future__ import annotations

from argparse import ArgumentParser
from pathlib import Path
from typing import Any

from django.core.management.base import CommandError

from results.backups.manifest import Manifest
from results.backups.verifying import verify
from results.backups.writing import back_up
from results.domain.errors import TeitenError
from results.domain.units import counted, format_quantity
from webapp.management.command import WarehouseCommand

NOT_IN_IT = (
    "Not in it: the private keys of agents; the environment (TEITEN_SECRET_KEY and all other settings); "
    "kinds of TEITEN_KINDS; Redis, which holds messages only; raw files of trials that run."
)


class Command(WarehouseCommand):
    help = "Writes warehouse and raw files, with checksums, into a new folder. Trials may run meanwhile."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("folder", type=Path, help="that there is not yet; with --verify, that of a backup")
        parser.add_argument("--verify", action="store_true", help="only read a backup again, and compare checksums")
        parser.add_argument(
            "--earlier", type=Path, default=None, help="a backup on the same disk: link to its raw files, copy new ones"
        )
        help_text = "go on without raw files that are missing or damaged; the backup names them"
        parser.add_argument("--without-missing", action="store_true", help=help_text)
        parser.add_argument("--programs", type=Path, default=None, help="folder with pg_dump")

    def handle(self, *args: Any, folder: Path, **options: Any) -> None:
        try:
            if options["verify"]:
                self.stdout.write(f"Whole: {summary(verify(folder))}")
                return
            manifest = back_up(
                folder.absolute(),
                bin_dir=options["programs"],
                earlier=options["earlier"],
                without_missing=options["without_missing"],
            )
        except (TeitenError, OSError) as error:
            raise CommandError(str(error), returncode=1) from error
        self.stdout.write(f"Backed up to {folder}: {summary(manifest)}")
        self.stdout.write(NOT_IN_IT)


def summary(manifest: Manifest) -> str:
    """Say what a backup holds, in one line."""
    counts = manifest.counts
    numbers = (
        counted(counts.runs, "run"),
        counted(counts.trials, "trial"),
        counted(counts.measurements, "measurement"),
        counted(counts.bundles - manifest.missing, "bundle"),
    )
    missing = f" without {counted(manifest.missing, 'bundle')} that the warehouse names" if manifest.missing else ""
    return (
        f"{', '.join(numbers)}{missing}, {format_quantity(manifest.size_bytes, 'B')}, "
        f"of {manifest.created_at:%Y-%m-%d %H:%M:%S} UTC, Teiten {manifest.teiten}, {manifest.migrations['results']}."
    )
