"""manage.py reingest: reads the archived bundles again and compares them with the warehouse."""

from __future__ import annotations

from argparse import ArgumentParser
from collections.abc import Iterable
from typing import Any

from django.core.management.base import CommandError

from results.domain.measurement.parsed_trial import Gap
from results.domain.units import counted
from results.ingest import Difference
from results.retention import removals
from webapp.management.command import WarehouseCommand
from workers import tasks


class Command(WarehouseCommand):
    help = "Reads every archived bundle again and reports each number that differs from the warehouse."

    def add_arguments(self, parser: ArgumentParser) -> None:
        mode = parser.add_mutually_exclusive_group(required=True)
        mode.add_argument("--check", action="store_true", help="only report; exit code 1 when something differs")
        mode.add_argument("--replace", action="store_true", help="store what the bundle says where it differs")
        help_text = "with --replace: also where a gap takes the place of a collector's stored numbers"
        parser.add_argument("--with-gaps", action="store_true", help=help_text)
        parser.add_argument("--run", type=int, default=None, help="only this run")

    def handle(self, *args: Any, check: bool, run: int | None, with_gaps: bool, **options: Any) -> None:
        attempts = measurements = differences = 0
        bad: list[str] = []
        kept: list[str] = []
        for attempt in tasks.reread(run, replace=not check, with_gaps=with_gaps):
            attempts += 1
            measurements += attempt.measurements
            differences += len(attempt.differences)
            where = f"trial {attempt.trial_id}, attempt {attempt.attempt_id}"
            if attempt.error is not None:
                bad.append(f"{where}: {attempt.error}")
            if attempt.kept_for:
                kept.append(f"{where}: kept as stored, since there would be a gap: {_shown(attempt.kept_for)}"[:500])
            for difference in attempt.differences:
                self.stdout.write(f"{where}: {_difference(difference)[:500]}")
        self.stdout.write(f"{attempts} attempts, {measurements} measurements read again, {differences} differences.")
        for gone in removals(run):
            removed = f"raw files were removed on {gone.at:%Y-%m-%d} by {gone.by}"
            self.stdout.write(f"Run {gone.run_id}: {counted(gone.attempts, 'attempt')} not read again: {removed}.")
        for line in (*kept, *bad):
            self.stderr.write(line)
        if bad:
            raise CommandError(f"{counted(len(bad), 'bundle')} could not be read.", returncode=1)
        if kept:
            raise CommandError(f"{counted(len(kept), 'attempt')} kept as stored; see --with-gaps.", returncode=1)
        if check and differences:
            raise CommandError("The warehouse and the bundles differ.", returncode=1)


def _difference(one: Difference) -> str:
    key = " ".join(str(part) for part in one.key if part != "")
    return f"{one.table} {key}: stored {one.stored}, bundle {one.bundle}"


def _shown(gaps: Iterable[Gap]) -> str:
    return "; ".join(f"{gap.source} on {gap.node}: {gap.reason}" for gap in gaps)
