"""manage.py agents: list, add, accept, contact, host."""

from __future__ import annotations

from argparse import SUPPRESS, ArgumentParser
from pathlib import Path
from typing import Any

from django.core.exceptions import ValidationError
from django.core.management.base import CommandError
from rich.console import Console
from rich.table import Table

from results import agents, hostfactors
from results.domain.errors import HostKeyError, StateError, TeitenError
from results.domain.kinds import host_factors
from results.domain.units import format_quantity
from results.models import Agent
from results.queries.agents.agents import list_agents
from webapp.management.command import WarehouseCommand
from workers import tasks


class Command(WarehouseCommand):
    help = "Lists agents; adds one; accepts a host key; contacts one; defines host factors."

    def add_arguments(self, parser: ArgumentParser) -> None:
        verbs = parser.add_subparsers(dest="verb")
        verbs.add_parser("list", help="(default)")
        add = verbs.add_parser("add", help="add an agent and show its host key")
        add.add_argument("name")
        add.add_argument("--host", required=True)
        add.add_argument("--port", type=int, default=22)
        add.add_argument("--user", default="")
        add.add_argument("--key", dest="key_path", default="", help="path of the private key; default: ssh-agent")
        add.add_argument("--jump", default="", help="name of the agent through which it is reached")
        add.add_argument("--search", action="append", default=[], help="where to look for PostgreSQL (repeatable)")
        add.add_argument("--data-dir", required=True)
        add.add_argument("--work-dir", required=True)
        add.add_argument("--place", action="append", default=[], help="storage place, NAME=/folder (repeatable)")
        add.add_argument("--keep-days", type=int, default=SUPPRESS, help="remove clusters that long after their use")
        add.add_argument("--disk-budget-gb", type=int, default=SUPPRESS, help="what all clusters together may take")
        add.add_argument(
            "--allow-code",
            dest="allows_code",
            action="store_true",
            help="operators may bring code: whoever may run plans can run any program there, as this account",
        )
        accept = verbs.add_parser("accept", help="accept the host key with this fingerprint, and contact the agent")
        accept.add_argument("name")
        accept.add_argument("fingerprint", help="SHA256:… as shown on the agent itself")
        contact = verbs.add_parser("contact", help="reach the agent and discover what is on it")
        contact.add_argument("name")
        host = verbs.add_parser("host", help="show the agent's host factors as TOML, or define those of a file")
        host.add_argument("name")
        host.add_argument("file", nargs="?", type=Path, help="TOML, a table for each factor (docs/host-factors.md)")

    def handle(self, *args: Any, verb: str | None, **options: Any) -> None:
        try:
            getattr(self, f"do_{verb or 'list'}")(options)
        except ValidationError as error:
            lines = [f"{field}: {' '.join(messages)}" for field, messages in error.message_dict.items()]
            raise CommandError("\n".join(lines)) from error
        except TeitenError as error:
            raise CommandError(str(error)) from error

    def do_list(self, options: dict[str, Any]) -> None:
        table = Table("agent", "address", "state", "disk free", "PostgreSQL", "busy with")
        for row in list_agents():
            busy = f"trial {row.busy.trial_id or 'of a private run'} ({row.busy.phase})" if row.busy else "–"
            free = format_quantity(row.disk.get("free_bytes"), "B")
            names = ", ".join(installation.name for installation in row.installations)
            changed = ", ".join(change.factor for change in row.not_back)
            state = f"{row.state}, not back: {changed}" if changed else row.state
            table.add_row(row.name, f"{row.user}@{row.host}:{row.port}", state, free, names, busy)
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
            self.stdout.write(f"{agent.name} offers the host key {error.fingerprint}")
            self.stdout.write(f"Compare it, then: manage.py agents accept {agent.name} {error.fingerprint}")

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
            raise StateError(f"There is no agent {name!r}.", todo="manage.py agents lists them.")
        return agent
