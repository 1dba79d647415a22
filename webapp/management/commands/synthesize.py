"""manage.py synthesize: fills an empty warehouse with made-up results, for measuring how Teiten grows."""

from __future__ import annotations

import time
from argparse import ArgumentParser
from typing import Any

from django.core.management.base import CommandError
from django.utils import timezone
from django.utils.translation import gettext

from results.domain.errors import TeitenError
from results.domain.messages import gettext_lazy as _
from results.synthesis.writing import Size, synthesize
from webapp.management.command import WarehouseCommand, in_words
from workers.registry import kinds


class Command(WarehouseCommand):
    help = _(
        "Fills an empty warehouse with made-up plans, runs and trials, for measuring how Teiten grows. "
        "Every number is made up."
    )

    def add_arguments(self, parser: ArgumentParser) -> None:
        size = Size(0)
        parser.add_argument("--trials", type=int, required=True, help=gettext("about so many, in whole runs"))
        values = gettext("values of a trial, at most; default: %(default)s")
        parser.add_argument("--measured", type=int, default=size.measured, help=values)
        share = gettext("share of the trials that have series and histograms; default: %(default)s")
        parser.add_argument("--detailed", type=float, default=size.detailed, help=share)

    def handle(self, *args: Any, **options: Any) -> None:
        started_s = time.monotonic()
        size = Size(options["trials"], options["measured"], options["detailed"])
        try:
            made = synthesize(size, kinds(), timezone.now(), self._tell)
        except TeitenError as error:
            raise CommandError(in_words(error)) from error
        seconds = time.monotonic() - started_s
        line = gettext("{runs:,} runs, {trials:,} trials, {measurements:,} measurements in {seconds:.0f} s")
        self.stdout.write(
            line.format(runs=made.runs, trials=made.trials, measurements=made.measurements, seconds=seconds)
        )

    def _tell(self, trials: int) -> None:
        self.stdout.write(gettext("{trials:,} trials …").format(trials=trials))
