"""manage.py prune_bundles: shows, or removes, the raw files of runs that ended long ago."""

from __future__ import annotations

import getpass
import os
from argparse import ArgumentParser
from datetime import timedelta
from typing import Any

from django.core.management.base import CommandError
from django.utils import timezone

from results.domain.errors import TeitenError
from results.domain.units import counted, format_quantity
from results.queries.shared.ids import NotFound
from results.retention import Candidate, Retention, candidates, prune
from webapp.management.command import WarehouseCommand

MOST_DAYS = 36500


class Command(WarehouseCommand):
    help = (
        "Shows which raw files of runs that ended long ago would be removed, and what is lost with them; with --yes "
        "removes them. No number is removed. Raw files of what is cited or published stay in any case."
    )

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("--older-than", type=int, required=True, metavar="DAYS", help="since the end of the run")
        parser.add_argument(
            "--keep", type=int, nargs="+", default=[], metavar="RUN", help="runs whose raw files stay, by number"
        )
        parser.add_argument("--kept-too", action="store_true", help="also of runs with the standing kept")
        parser.add_argument("--yes", action="store_true", help="remove them; without it nothing is removed")

    def handle(self, *args: Any, older_than: int, keep: list[int], kept_too: bool, yes: bool, **options: Any) -> None:
        if not 1 <= older_than <= MOST_DAYS:
            raise CommandError(f"--older-than takes 1 to {MOST_DAYS} days.")
        retention = Retention(timedelta(days=older_than), frozenset(keep), kept_too)
        try:
            listed = list(candidates(retention, timezone.now()))
            going = [one for one in listed if not one.stays]
            for one in listed:
                self.stdout.write(_line(one))
            files, size = sum(len(one.loss.bundles) for one in going), sum(one.loss.bundle_bytes for one in going)
            total = f"{counted(len(going), 'run')}, {counted(files, 'file')}, {format_quantity(size, 'B')}"
            if not yes:
                self.stdout.write(f"Would be removed: raw files of {total}. Nothing was removed: add --yes to do so.")
                return
            self._remove(going, retention)
        except (TeitenError, NotFound) as error:
            raise CommandError(str(error), returncode=1) from error

    def _remove(self, going: list[Candidate], retention: Retention) -> None:
        actor = f"command prune_bundles ({_account()})"
        files = size = 0
        left: list[str] = []
        for one in going:
            pruned = prune(one.loss.id, retention, actor)
            if pruned.loss is None:
                self.stdout.write(f"Run {one.loss.id}: stays after all, something has changed meanwhile.")
                continue
            files += len(pruned.loss.bundles) - len(pruned.left)
            size += pruned.loss.bundle_bytes
            left += pruned.left
        at_most = "at most " if left else ""
        self.stdout.write(f"Removed: {counted(files, 'file')}, {at_most}{format_quantity(size, 'B')}.")
        for reason in left:
            self.stderr.write(reason)
        if left:
            raise CommandError(f"{counted(len(left), 'file')} could not be removed and stay named.", returncode=1)


def _line(one: Candidate) -> str:
    loss = one.loss
    files = f"{counted(len(loss.bundles), 'file')}, {format_quantity(loss.bundle_bytes, 'B')}"
    head = f"Run {loss.id}, {loss.name}, ended {one.ended_at:%Y-%m-%d}, {counted(loss.trials, 'trial')}, {files}"
    if one.stays:
        return f"{head}: stays: {one.stays}"
    return f"{head}: {counted(loss.measurements, 'measurement')} could not be computed from raw output again"


def _account() -> str:
    """Return the name of the account that this process runs as, or its number where it has none."""
    try:
        return getpass.getuser()
    except (KeyError, OSError):
        return f"uid {os.getuid()}"
