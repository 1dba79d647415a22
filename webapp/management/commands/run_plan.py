"""manage.py run_plan FILE.toml, or --ready NAME: runs a plan and waits for its end."""

from __future__ import annotations

from argparse import ArgumentParser
from pathlib import Path
from typing import Any

from django.core.management.base import CommandError
from django.http import Http404
from django.utils.translation import gettext
from rich.console import Console

from results import runs
from results.domain import plan as plans
from results.domain.errors import PlanError
from results.domain.messages import BLANK, linked, localized
from results.domain.messages import gettext_lazy as _
from results.domain.plan import Kinds, Plan
from results.plan_check import complete_plan
from results.queries.agents.agents import list_agents
from webapp.forms.levels import typed
from webapp.forms.recipes import complete_options, find_recipe
from webapp.language import joined
from webapp.management import terminal
from webapp.management.command import WarehouseCommand, in_words
from workers import registry, tasks


class Command(WarehouseCommand):
    help = _("Runs a plan; shows its progress and a table. Exit code 1 if a trial failed or was cancelled.")

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("file", type=Path, metavar="FILE.toml", nargs="?")
        no_wait = gettext("only create the run and print its number")
        parser.add_argument("--no-wait", action="store_true", help=no_wait)
        private = gettext("seen by administrators only, and part of nothing that others see")
        parser.add_argument("--private", action="store_true", help=private)
        recipe = parser.add_argument_group(gettext("instead of a file, a ready plan"))
        name = gettext("as on the page of ready plans, or its file without .toml")
        recipe.add_argument("--ready", dest="recipe", metavar="NAME", help=name)
        recipe.add_argument("--size", help=gettext("between its laptop's, which is the default, and its report's"))
        whole = gettext("all its levels and replicates, not its short form")
        recipe.add_argument("--whole", action="store_true", help=whole)
        agent = gettext("as {example}").format(example="primary=db1")
        recipe.add_argument("--agent", action="append", default=[], metavar="ROLE=AGENT", help=agent)
        recipe.add_argument(
            "--installation",
            action="append",
            default=[],
            metavar="NAME",
            help=gettext("to compare; without it the oldest and the newest that the workload can use"),
        )
        recipe.add_argument(
            "--build",
            action="append",
            default=[],
            metavar="'NAME METHOD'",
            help=gettext(
                "an installation with an access method, where the plan compares builds; without it all builds of each "
                "PostgreSQL that has another access method than heap, or of the oldest and the newest where none has"
            ),
        )

    def handle(
        self, *args: Any, file: Path | None, no_wait: bool, private: bool, recipe: str | None, **options: Any
    ) -> None:
        console = Console(file=self.stdout)  # type: ignore[arg-type]
        if (file is None) == (recipe is None):
            raise CommandError(gettext("Name either a file or a ready plan (--ready)."))
        recipe_options = [f"--{name}" for name in ("size", "whole", "agent", "installation", "build") if options[name]]
        if recipe is None and recipe_options:
            raise CommandError(gettext("{options}: only with --ready.").format(options=joined(recipe_options)))
        try:
            kinds = registry.kinds()
            plan = read_plan(file, kinds) if file else _complete_recipe(str(recipe), options, kinds)
            run = tasks.retry_after_discovery(
                lambda: runs.create_run(plan, kinds, actor="command run_plan", as_admin=True, private=private)
            )
        except PlanError as error:
            raise CommandError(problem_text(str(file or recipe), error)) from error
        tasks.wake_dispatcher()
        text = gettext("Run {run}: {name}, {n} trials")
        console.print(text.format(run=run.pk, name=run.name, n=run.trials.count()), markup=False)
        if no_wait:
            return
        detail = terminal.follow(run.pk, console)
        console.print(terminal.table(detail))
        if missing := detail.run.trials_total - detail.run.trials_done:
            raise CommandError(gettext("{n} trials have no result.").format(n=missing))


def read_plan(file: Path, kinds: Kinds) -> Plan:
    try:
        return complete_plan(plans.draft_of_toml(file.read_text(encoding="utf-8"), kinds), kinds)
    except OSError as error:
        raise CommandError(f"{file}: {error.strerror}") from error


def _complete_recipe(name: str, options: dict[str, Any], kinds: Kinds) -> Plan:
    try:
        recipe = find_recipe(name)
    except Http404 as error:
        raise CommandError(in_words(error)) from error
    pairs = [text.partition("=") for text in options["agent"]]
    choice = {
        "size": typed(recipe.size, options["size"]) if options["size"] else None,
        "agents": {role: agent for role, _, agent in pairs},
        "installations": options["installation"],
        "builds": options["build"],
        "whole": options["whole"],
    }
    return plans.from_mapping(recipe.plan(**complete_options(recipe, choice, list_agents())), kinds)


def problem_text(name: str, error: PlanError) -> str:
    """Return all problems of a plan, a line for each; the plan's name may be a message."""
    lines = [gettext("{plan} cannot be run:").format(plan=localized(name))]
    for problem in error.problems:
        what = linked(BLANK, filter(None, (problem.what, problem.todo)))
        lines.append("  " + localized(_("{where}: {what}", where=problem.field, what=what)))
    return "\n".join(lines)
