"""manage.py load_published: loads the figures of published reports that come with Teiten."""

from __future__ import annotations

from argparse import ArgumentParser
from typing import Any

from results.published.catalogue import TABLES
from results.published.load import load, remove
from webapp.management.command import WarehouseCommand
from workers.registry import known_metrics

ACTOR = "command load_published"


class Command(WarehouseCommand):
    help = "Loads the published figures that come with Teiten; what is there already stays as it is."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("--remove", action="store_true", help="take them out again, with everything said of them")

    def handle(self, *args: Any, **options: Any) -> None:
        if options["remove"]:
            self.stdout.write(f"Removed {remove(ACTOR)} published tables.")
            return
        for loaded in load(TABLES, known_metrics(), ACTOR):
            self.stdout.write(
                f"{loaded.done:>9}  {loaded.slug}: {loaded.place}, {loaded.trials} trials, {loaded.figures} figures"
            )
