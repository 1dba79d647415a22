"""manage.py export_orders: writes the waiting trials of a run as a file, to be run where there is no warehouse."""

from __future__ import annotations

from argparse import ArgumentParser
from pathlib import Path
from typing import Any

from django.core.management.base import CommandError
from django.utils.translation import gettext

from results.domain.errors import TeitenError
from results.domain.messages import gettext_lazy as _
from results.models import Run
from webapp.management.command import WarehouseCommand, in_words
from workers import tasks


class Command(WarehouseCommand):
    help = _(
        "Writes the orders of a run's waiting trials into a file, for manage.py run_orders on another machine. "
        "Disable the agents here first: a trial that starts here takes no bundle from there."
    )

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("run", type=int, help=gettext("the run's number"))
        parser.add_argument("--to", type=Path, required=True, metavar="FILE", help=gettext("a new file"))

    def handle(self, *args: Any, run: int, to: Path, **options: Any) -> None:
        try:
            text = tasks.orders_of_run(run)
            with to.open("x") as file:
                file.write(text)
        except Run.DoesNotExist as error:
            raise CommandError(gettext("There is no run {run}.").format(run=run)) from error
        except (TeitenError, OSError) as error:
            raise CommandError(in_words(error)) from error
        text = gettext("{file}: keep the agents disabled here until its bundles are back.")
        self.stdout.write(text.format(file=to))
