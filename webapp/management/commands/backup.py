"""manage.py backup: writes warehouse and raw files into a folder while Teiten runs, or verifies such a folder."""

from __future__ import annotations

from argparse import ArgumentParser
from pathlib import Path
from typing import Any

from django.core.management.base import CommandError
from django.utils.translation import gettext, ngettext

from results.backups.manifest import Manifest
from results.backups.verifying import verify
from results.backups.writing import back_up
from results.domain.errors import TeitenError
from results.domain.messages import gettext_lazy as _
from results.domain.messages import localized
from results.domain.units import format_quantity
from webapp.language import joined
from webapp.management.command import WarehouseCommand, in_words

NOT_IN_IT = _(
    "Not in it: the private keys of agents; the environment (TEITEN_SECRET_KEY and all other settings); "
    "kinds of TEITEN_KINDS; Redis, which holds messages only; raw files of trials that run."
)


class Command(WarehouseCommand):
    help = _("Writes warehouse and raw files, with checksums, into a new folder. Trials may run meanwhile.")

    def add_arguments(self, parser: ArgumentParser) -> None:
        folder = gettext("that there is not yet; with --verify, that of a backup")
        parser.add_argument("folder", type=Path, help=folder)
        verify_only = gettext("only read a backup again, and compare checksums")
        parser.add_argument("--verify", action="store_true", help=verify_only)
        earlier = gettext("a backup on the same disk: link to its raw files, copy new ones")
        parser.add_argument("--earlier", type=Path, default=None, help=earlier)
        without = gettext("go on without raw files that are missing or damaged; the backup names them")
        parser.add_argument("--without-missing", action="store_true", help=without)
        programs = gettext("folder with {program}").format(program="pg_dump")
        parser.add_argument("--programs", type=Path, default=None, help=programs)

    def handle(self, *args: Any, folder: Path, **options: Any) -> None:
        try:
            if options["verify"]:
                self.stdout.write(gettext("Whole: {backup}").format(backup=summary(verify(folder))))
                return
            manifest = back_up(
                folder.absolute(),
                bin_dir=options["programs"],
                earlier=options["earlier"],
                without_missing=options["without_missing"],
            )
        except (TeitenError, OSError) as error:
            raise CommandError(in_words(error)) from error
        written = gettext("Backed up to {folder}: {backup}")
        self.stdout.write(written.format(folder=folder, backup=summary(manifest)))
        self.stdout.write(localized(NOT_IN_IT))


def summary(manifest: Manifest) -> str:
    """Say what a backup holds, in one line."""
    text = gettext("{holds}, {size}, of {time} UTC, Teiten {version}, {migration}.")
    return text.format(
        holds=_holds(manifest),
        size=format_quantity(manifest.size_bytes, "B"),
        time=f"{manifest.created_at:%Y-%m-%d %H:%M:%S}",
        version=manifest.teiten,
        migration=manifest.migrations["results"],
    )


def _holds(manifest: Manifest) -> str:
    counts, missing = manifest.counts, manifest.missing
    bundles = counts.bundles - missing
    numbers = (
        ngettext("{n:,} run", "{n:,} runs", counts.runs).format(n=counts.runs),
        ngettext("{n:,} trial", "{n:,} trials", counts.trials).format(n=counts.trials),
        ngettext("{n:,} measurement", "{n:,} measurements", counts.measurements).format(n=counts.measurements),
        ngettext("{n:,} bundle", "{n:,} bundles", bundles).format(n=bundles),
    )
    if not missing:
        return joined(numbers)
    text = ngettext(
        "{numbers} without {n:,} bundle that the warehouse names",
        "{numbers} without {n:,} bundles that the warehouse names",
        missing,
    )
    return text.format(numbers=joined(numbers), n=missing)
