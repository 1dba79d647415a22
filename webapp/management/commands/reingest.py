"""manage.py reingest --check: every number again from the archived bundles."""

from __future__ import annotations

from argparse import ArgumentParser
from typing import Any

from django.core.management.base import CommandError

from webapp.management.command import WarehouseCommand
from workers import tasks


class Command(WarehouseCommand):
    help = "Reads every archived bundle again and reports each number that differs from the warehouse."

    def add_arguments(self, parser: ArgumentParser) -> None:
        what = parser.add_mutually_exclusive_group(required=True)
        what.add_argument("--check", action="store_true", help="only report; exit code 1 when something differs")
        what.add_argument("--replace", action="store_true", help="store what the bundle says where it differs")
        parser.add_argument("--run", type=int, default=None, help="only this run")

    def handle(self, *args: Any, check: bool, run: int | None, **options: Any) -> None:
        attempts = numbers = wrong = 0
        for found in tasks.reread(run, replace=not check):
            attempts, numbers = attempts + 1, numbers + found.numbers
            wrong += len(found.differences) + (found.error is not None)
            if found.error is not None:
                self.stderr.write(f"trial {found.trial_id}, attempt {found.attempt_id}: {found.error}")
            for difference in found.differences:
                key = " ".join(str(part) for part in difference.key if part != "")
                text = f"{difference.table} {key}: stored {difference.stored}, bundle {difference.bundle}"
                self.stdout.write(f"trial {found.trial_id}, attempt {found.attempt_id}: {text[:500]}")
        self.stdout.write(f"{attempts} attempts, {numbers} measurements read again, {wrong} differences.")
        if check and wrong:
            raise CommandError("The warehouse and the bundles differ.", returncode=1)
