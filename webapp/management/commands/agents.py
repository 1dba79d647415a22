"""manage.py agents: list, add, accept, contact, host."""

from __future__ import annotations

from argparse import SUPPRESS, ArgumentParser
from functools import partial
from pathlib import Path
from typing import Any

from django.core.exceptions import ValidationError
from django.core.management.base import CommandError
from django.utils.translation import gettext, pgettext
from rich.console import Console
from rich.table import Table

from results import agents, hostfactors
from results.domain.errors import HostKeyError, StateError, TeitenError
from results.domain.kinds import host_factors
from results.domain.messages import gettext_lazy as _
from results.domain.units import format_quantity
from results.models import Agent
from results.queries.agents.agents import AgentRow, list_agents
from webapp.language import joined
from webapp.management.command import WarehouseCommand, in_words
from webapp.templatetags.teiten import phase_words, state_words
from workers import tasks


class Command(WarehouseCommand):
    help = _("Lists agents; adds one; accepts a host key; contacts one; defines host factors.")

    def add_arguments(self, parser: ArgumentParser) -> None:
        add_parser = partial(parser.add_subparsers(dest="verb").add_parser, formatter_class=parser.formatter_class)
        add_parser("list", help=gettext("(default)"))
        self._add_arguments_of_add(add_parser("add", help=gettext("add an agent and show its host key")))
        accept = add_parser("accept", help=gettext("accept the host key with this fingerprint, and contact the agent"))
        accept.add_argument("name")
        accept.add_argument("fingerprint", help=gettext("SHA256:… as shown on the agent itself"))
        contact = add_parser("contact", help=gettext("reach the agent and discover what is on it"))
        contact.add_argument("name")
        host = add_parser("host", help=gettext("show the agent's host factors as TOML, or define those of a file"))
        host.add_argument("name")
        of_file = gettext("TOML, a table for each factor (docs/host-factors.md)")
        host.add_argument("file", nargs="?", type=Path, help=of_file)

    def _add_arguments_of_add(self, add: ArgumentParser) -> None:
        repeatable: dict[str, Any] = {"action": "append", "default": []}
        add.add_argument("name")
        add.add_argument("--host", required=True)
        add.add_argument("--port", type=int, default=22)
        add.add_argument("--user", default="")
        add.add_argument(
            "--key", dest="key_path", default="", help=gettext("path of the private key; default: ssh-agent")
        )
        add.add_argument("--jump", default="", help=gettext("name of the agent through which it is reached"))
        add.add_argument("--search", **repeatable, help=gettext("where to look for PostgreSQL (repeatable)"))
        add.add_argument("--data-dir", required=True)
        add.add_argument("--work-dir", required=True)
        add.add_argument("--place", **repeatable, help=gettext("storage place, NAME=/folder (repeatable)"))
        keep = gettext("remove clusters that long after their use")
        add.add_argument("--keep-days", type=int, default=SUPPRESS, help=keep)
        budget = gettext("what all clusters together may take")
        add.add_argument("--disk-budget-gb", type=int, default=SUPPRESS, help=budget)
        add.add_argument(
            "--allow-code",
            dest="allows_code",
            action="store_true",
            help=gettext("operators may bring code: whoever may run plans can run any program there, as this account"),
        )

    def handle(self, *args: Any, verb: str | None, **options: Any) -> None:
        try:
            getattr(self, f"do_{verb or 'list'}")(options)
        except ValidationError as error:
            lines = [f"{field}: {' '.join(messages)}" for field, messages in error.message_dict.items()]
            raise CommandError("\n".join(lines)) from error
        except TeitenError as error:
            raise CommandError(in_words(error)) from error

    def do_list(self, options: dict[str, Any]) -> None:
        free, busy = pgettext("of an agent", "disk free"), pgettext("of an agent", "busy with")
        headings = (gettext("agent"), pgettext("of an agent", "address"), gettext("state"), free)
        table = Table(*headings, "PostgreSQL", busy)
        for row in list_agents():
            free = format_quantity(row.disk.get("free_bytes"), "B")
            names = joined(installation.name for installation in row.installations)
            table.add_row(row.name, f"{row.user}@{row.host}:{row.port}", _state(row), free, names, _busy(row))
        Console(file=self.stdout).print(table)  # type: ignore[arg-type]

    def do_add(self, options: dict[str, Any]) -> None:
        fields = {name: options[name] for name in agents.FIELDS if name in options}
        fields["jump"] = self._agent(options["jump"]) if options["jump"] else None
        places = [text.partition("=") for text in options["place"]]
        fields["places"] = {name: path for name, _, path in places}
        agent = agents.create_agent(fields, actor="command agents")
        try:
            tasks.contact_now(agent.pk)
        except HostKeyError as error:
            offers = gettext("{agent} offers the host key {fingerprint}")
            self.stdout.write(offers.format(agent=agent.name, fingerprint=error.fingerprint))
            command = f"manage.py agents accept {agent.name} {error.fingerprint}"
            self.stdout.write(gettext("Compare it, then: {command}").format(command=command))

    def do_accept(self, options: dict[str, Any]) -> None:
        agent = self._agent(options["name"])
        agents.accept_host_key(agent, options["fingerprint"], actor="command agents")
        self.do_contact(options)

    def do_contact(self, options: dict[str, Any]) -> None:
        agent = self._agent(options["name"])
        tasks.contact_now(agent.pk)
        self.do_list(options)

    def do_host(self, options: dict[str, Any]) -> None:
        agent = self._agent(options["name"])
        if options["file"] is not None:
            hostfactors.define(agent, host_factors.read(options["file"].read_text()), actor="command agents")
        self.stdout.write(host_factors.to_toml(hostfactors.known_host(agent).factors.values()))

    def _agent(self, name: str) -> Agent:
        agent = Agent.objects.filter(name=name).first()
        if agent is None:
            raise StateError(_("There is no agent {agent!r}.", agent=name), todo=_("manage.py agents lists them."))
        return agent


def _state(row: AgentRow) -> str:
    state = state_words(row.state)
    if not row.not_back:
        return state
    factors = joined(change.factor for change in row.not_back)
    return gettext("{state}, not back: {factors}").format(state=state, factors=factors)


def _busy(row: AgentRow) -> str:
    if row.busy is None:
        return "–"
    if row.busy.trial_id is None:
        text = gettext("trial of a private run ({phase})")
    else:
        text = gettext("trial {trial} ({phase})")
    return text.format(trial=row.busy.trial_id, phase=phase_words(row.busy.phase))
