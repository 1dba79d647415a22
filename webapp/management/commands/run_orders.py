"""manage.py run_orders: runs exported orders without a warehouse; the bundles are uploaded where the run is."""

from __future__ import annotations

from argparse import ArgumentParser
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from django.core.management.base import CommandError
from django.utils.translation import gettext

from results.domain.errors import TeitenError, restored
from results.domain.messages import gettext_lazy as _
from results.domain.messages import localized
from webapp.management.command import TerminalCommand, in_words
from workers import tasks


class Command(TerminalCommand):
    help = _(
        "Runs the trials of a file of export_orders and writes a bundle of each. Exit code 1 if an attempt failed."
    )
    requires_system_checks = ()

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("file", type=Path, metavar="FILE")
        to = gettext("where the bundles are written")
        parser.add_argument("--to", type=Path, required=True, metavar="FOLDER", help=to)

    def handle(self, *args: Any, file: Path, to: Path, **options: Any) -> None:
        failed = 0
        try:
            for made in tasks.run_orders(file.read_text(), to):
                failed += made.error is not None
                self.stdout.write(_line(made.trial_key, made.path, made.error, made.was_there))
        except (TeitenError, OSError) as error:
            raise CommandError(in_words(error)) from error
        if failed:
            raise CommandError(gettext("{n} attempts failed; their bundles say why.").format(n=failed))


def _line(trial: str, bundle: Path, error: Mapping[str, Any] | None, was_there: bool) -> str:
    what = ""
    if was_there:
        text = gettext("trial {trial}: {bundle} was there already: not run again")
    elif error:
        text, what = gettext("trial {trial}: {bundle}: {what}"), localized(restored(error)["what"])
    else:
        text = gettext("trial {trial}: {bundle}")
    return text.format(trial=trial, bundle=bundle, what=what)
