"""manage.py run_orders: runs exported orders without a warehouse; the bundles are uploaded where the run is."""

from __future__ import annotations

from argparse import ArgumentParser
from pathlib import Path
from typing import Any

from django.core.management.base import BaseCommand, CommandError

from results.domain.errors import TeitenError
from workers import tasks


class Command(BaseCommand):
    help = "Runs the trials of a file of export_orders and writes a bundle of each. Exit code 1 if an attempt failed."
    requires_system_checks = ()

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("file", type=Path, metavar="FILE")
        parser.add_argument("--to", type=Path, required=True, metavar="FOLDER", help="where the bundles are written")

    def handle(self, *args: Any, file: Path, to: Path, **options: Any) -> None:
        failed = 0
        try:
            for made in tasks.run_orders(file.read_text(), to):
                failed += made.error is not None
                why = f": {made.error['what']}" if made.error else ""
                why = " was there already: not run again" if made.was_there else why
                self.stdout.write(f"trial {made.trial_key}: {made.path}{why}")
        except (TeitenError, OSError) as error:
            raise CommandError(str(error)) from error
        if failed:
            raise CommandError(f"{failed} attempts failed; their bundles say why.", returncode=1)
