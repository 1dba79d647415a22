"""manage.py demo: what `make demo` runs beside the services.

Adds the demo agent as the form does, loads the published figures, runs the demo plan, shows its table, publishes a
report over each of the two, and stays until it is stopped.
"""

from __future__ import annotations

import os
import secrets
import signal
from pathlib import Path
from typing import Any

from django.conf import settings
from django.contrib.auth.models import User
from django.core.management.base import CommandError
from django.urls import reverse
from django.utils.translation import gettext, override
from rich.console import Console

from results import agents, models, runs, stored_plans
from results.domain.errors import HostKeyError, PlanError, StateError, TeitenError
from results.domain.messages import BLANK, linked, localized
from results.domain.messages import gettext_lazy as _
from results.domain.states import RunState
from results.models.agents import AgentState
from results.models.audit import Role
from results.published.catalogue import TABLES
from results.published.load import load
from webapp.access import role_of, set_role
from webapp.language import joined
from webapp.management import terminal
from webapp.management.command import TerminalCommand, in_words
from webapp.management.commands.run_plan import problem_text, read_plan
from webapp.reports import ready
from workers import registry, tasks

NAME = "demo"
ACTOR = "make demo"
PATIENCE_S = 300.0


class Command(TerminalCommand):
    help = _("Sets up and runs the demo; used by `make demo`, which starts the services.")

    def handle(self, *args: Any, **options: Any) -> None:
        console = Console(file=self.stdout, highlight=False)  # type: ignore[arg-type]
        try:
            self._run(console)
        except PlanError as error:
            raise CommandError(problem_text(_("The demo plan"), error)) from error
        except TeitenError as error:
            raise CommandError(in_words(error)) from error

    def _run(self, console: Console) -> None:
        url = f"http://127.0.0.1:{os.environ.get('TEITEN_PORT', '8720')}"
        user = _sign_in(console)
        loaded = load(TABLES, registry.known_metrics(), ACTOR)
        console.print(gettext("{n} published tables are there to look at").format(n=len(loaded)))
        with override(settings.LANGUAGE_CODE):  # its readers' language, whoever started the demo
            edition = ready.over_published(url, user=user, actor=ACTOR)
        newest = url + reverse("reports:newest", args=[edition.report_id])
        console.print(gettext("A report over them: {address}").format(address=newest))
        _agent(console)
        run = _run(user, console)
        tasks.wake_dispatcher()
        watch = gettext("Watch it: {address}").format(address=url + reverse("runs:detail", args=[run.pk]))
        console.print(f"[bold]{watch}[/]")
        detail = terminal.follow(run.pk, console)
        console.print(terminal.table(detail))
        compare = gettext("Compare: {address}").format(address=f"{url}{reverse('comparison')}?run={run.pk}")
        console.print(f"[bold]{compare}[/]")
        _report(run, url, user, console)
        console.print(gettext("Ctrl-C stops everything."))
        signal.sigwait({signal.SIGINT, signal.SIGTERM})


def _report(run: models.Run, url: str, user: User, console: Console) -> None:
    """Publish a report over the run, or say why there is none."""
    run.refresh_from_db()
    if run.state != RunState.FINISHED:
        console.print(gettext("There is no report: the run did not finish."))
        return
    try:
        with override(settings.LANGUAGE_CODE):
            edition = ready.over_run(run, url, url + reverse("comparison"), user=user, actor=ACTOR)
    except TeitenError as error:  # a plan of one's own may have nothing to compare
        console.print(gettext("There is no report: {why}").format(why=in_words(error)), markup=False)
        return
    newest = url + reverse("reports:newest", args=[edition.report_id])
    report = gettext("Its report: {address}").format(address=newest)
    console.print(f"[bold]{report}[/]")


def _sign_in(console: Console) -> User:
    """Return the demo's account; its password is made once and kept in the state folder, readable by its owner only."""
    path: Path = settings.TEITEN.state / "demo-password"
    user, created = User.objects.get_or_create(username=NAME)
    if created or not path.exists():
        password = secrets.token_urlsafe(9)
        user.set_password(password)
        user.save()
        # The file is written last and renamed: a start that is interrupted leaves no password that does not work.
        new_path = path.with_suffix(".new")
        new_path.touch(mode=0o600)
        new_path.write_text(password, encoding="utf-8")
        new_path.rename(path)
    if role_of(user) != Role.ADMINISTRATOR:
        set_role(user, Role.ADMINISTRATOR, ACTOR)
    text = gettext("Sign in as {name} with the password {password}")
    console.print(text.format(name=NAME, password=path.read_text(encoding="utf-8")), markup=False)
    return user


def _agent(console: Console) -> None:
    """Add the demo agent: this machine, reached by SSH over the loopback interface."""
    home = Path(os.environ["TEITEN_AGENT_HOME"])
    fields = {
        "name": NAME,
        "host": os.environ["TEITEN_AGENT_HOST"],
        "port": int(os.environ["TEITEN_AGENT_PORT"]),
        "user": os.environ["TEITEN_AGENT_USER"],
        "key_path": os.environ["TEITEN_AGENT_KEY"],
        "search": [folder for folder in os.environ["TEITEN_AGENT_SEARCH"].split(":") if folder],
        "data_dir": str(home / "data"),
        "work_dir": str(home / "work"),
    }
    agent = models.Agent.objects.filter(name=NAME).first()
    was_ready = False
    if agent is None:
        agent = agents.create_agent(fields | {"allows_code": True}, ACTOR)
    elif any(getattr(agent, key) != value for key, value in fields.items()):
        agent = agents.update_agent(agent, fields, ACTOR)
    else:
        was_ready = agent.state == AgentState.READY
    try:
        _contact(agent, was_ready, console)
    except HostKeyError as error:
        text = gettext("Agent {agent} offers the host key {fingerprint}: the demo's own, accepted.")
        console.print(text.format(agent=NAME, fingerprint=error.fingerprint))
        agent.refresh_from_db()
        agents.accept_host_key(agent, error.fingerprint, ACTOR)
        _contact(agent, was_ready, console)
    names = [installation.name for installation in agent.installations.filter(present=True)]
    console.print(gettext("Agent {agent} has PostgreSQL {names}").format(agent=NAME, names=joined(names)))


def _contact(agent: models.Agent, was_ready: bool, console: Console) -> None:
    """Discover the agent's facts, after a contact or a trial that uses it at this moment.

    An agent that was ready, and whose fields have not changed, is not waited for: a trial may have begun there.
    """
    try:
        tasks.contact_now(agent.pk, patience_s=0 if was_ready else PATIENCE_S)
    except StateError as error:
        if not was_ready:
            raise
        holds = linked(BLANK, (error.what, _("What was found on it before holds.")))
        console.print(localized(holds), markup=False)


def _run(user: User, console: Console) -> models.Run:
    """Return the demo plan's latest run, or a new one where there is none that runs or finished."""
    kinds = registry.kinds()
    path = Path(os.environ.get("TEITEN_DEMO_PLAN", settings.BASE_DIR / "plans" / "demo.toml"))
    plan = read_plan(path, kinds)
    unsuccessful = (RunState.CANCELLED, RunState.FAILED)
    last = models.Run.objects.filter(plan_hash=plan.hash).exclude(state__in=unsuccessful).first()
    if last is not None:
        text = gettext("Run {run} of this plan is there already; 'Repeat' on its page measures again.")
        console.print(text.format(run=last.pk))
        return last
    stored = models.Plan.objects.filter(name=plan.name).first()
    stored = stored_plans.save_plan(plan, kinds, user=user, actor=ACTOR, stored=stored, as_admin=True)
    return runs.create_run(plan, kinds, stored=stored, user=user, actor=ACTOR, as_admin=True)
