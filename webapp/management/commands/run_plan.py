"""manage.py run_plan FILE.toml: runs a plan and waits for its end."""

from __future__ import annotations

from argparse import ArgumentParser
from pathlib import Path
from typing import Any

from django.core.management.base import BaseCommand, CommandError
from rich.console import Console

from results import plan as plans
from results import runs
from results.errors import PlanError
from webapp.management import terminal
from workers import registry, tasks


class Command(BaseCommand):
    help = "Runs a plan; shows its progress and a table. Exit code 1 if a trial failed or was cancelled."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("file", type=Path, metavar="FILE.toml")
        parser.add_argument("--no-wait", action="store_true", help="only create the run and print its number")

    def handle(self, *args: Any, file: Path, no_wait: bool, **options: Any) -> None:
        console = Console(file=self.stdout)  # type: ignore[arg-type]
        try:
            kinds = registry.kinds()
            plan = plans.read(file.read_text(encoding="utf-8"), kinds)
            run = runs.create_run(plan, kinds, actor="command run_plan")
        except OSError as error:
            raise CommandError(f"{file}: {error.strerror}") from error
        except PlanError as error:
            raise CommandError(problems(file, error)) from error
        tasks.ring()
        console.print(f"Run {run.pk}: {run.name}, {run.trials.count()} trials", markup=False)
        if no_wait:
            return
        detail = terminal.follow(run.pk, console)
        console.print(terminal.table(detail))
        if detail.run.trials_done < detail.run.trials_total:
            raise CommandError(
                f"{detail.run.trials_total - detail.run.trials_done} trials have no result.", returncode=1
            )


def problems(file: Path, error: PlanError) -> str:
    return "\n".join([f"{file} cannot be run:", *(f"  {p.field}: {p.what} {p.todo}" for p in error.problems)])
