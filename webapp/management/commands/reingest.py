"""manage.py reingest: reads the archived bundles again and compares them with the warehouse."""

from __future__ import annotations

from argparse import ArgumentParser
from typing import Any

from django.core.management.base import CommandError

from results.domain.units import counted
from webapp.management.command import WarehouseCommand
from workers import tasks


class Command(WarehouseCommand):
    help = "Reads every archived bundle again and reports each number that differs from the warehouse."

    def add_arguments(self, parser: ArgumentParser) -> None:
        mode = parser.add_mutually_exclusive_group(required=True)
        mode.add_argument("--check", action="store_true", help="only report; exit code 1 when something differs")
        mode.add_argument("--replace", action="store_true", help="store what the bundle says where it differs")
        parser.add_argument("--run", type=int, default=None, help="only this run")

    def handle(self, *args: Any, check: bool, run: int | None, **options: Any) -> None:
        attempts = measurements = differences = 0
        bad: list[str] = []
        for attempt in tasks.reread(run, replace=not check):
            attempts += 1
            measurements += attempt.measurements
            differences += len(attempt.differences)
            where = f"trial {attempt.trial_id}, attempt {attempt.attempt_id}"
            if attempt.error is not None:
                bad.append(f"{where}: {attempt.error}")
            for difference in attempt.differences:
                key = " ".join(str(part) for part in difference.key if part != "")
                text = f"{difference.table} {key}: stored {difference.stored}, bundle {difference.bundle}"
                self.stdout.write(f"{where}: {text[:500]}")
        self.stdout.write(f"{attempts} attempts, {measurements} measurements read again, {differences} differences.")
        for line in bad:
            self.stderr.write(line)
        if bad:
            raise CommandError(f"{counted(len(bad), 'bundle')} could not be read.", returncode=1)
        if check and differences:
            raise CommandError("The warehouse and the bundles differ.", returncode=1)
