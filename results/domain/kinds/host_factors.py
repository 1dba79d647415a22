"""Host factors: what of an agent's machine a plan may vary, and what an operator allowed for it. Pure.

A plan names a factor and one of its levels, `host.zfs_recordsize = "8K"`, and nothing else. What is run for it is
constant shell text that an operator wrote for that agent (`HostFactor`). These four need no commands:

    cpus                     processors that the servers run on: "0", "0-3,8", or "2 cpus" for the first two; or of each
                             role or node its own, of clients too: "client=0-3 primary=4-7 standby=8"
    data, wal, tablespace    a storage place of the agent, by its name: where the servers keep that part
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import asdict, dataclass, field
from typing import Any

import tomli_w

from results.domain import toml_text
from results.domain.errors import DefinitionError, Problem
from results.domain.messages import COMMA, Message, linked
from results.domain.messages import gettext_lazy as _
from results.domain.nearest import suggestion

CPUS, DATA, WAL, TABLESPACE = "cpus", "data", "wal", "tablespace"
PLACED = (DATA, WAL, TABLESPACE)
BUILT_IN = {
    CPUS: _("Processors of the servers: 0-3,8 or 4 cpus for the first four; of each role, client=0-3 primary=4-7."),
    DATA: _("The storage place of the data directories."),
    WAL: _("The storage place of the write-ahead log."),
    TABLESPACE: _("The storage place of tables and indexes."),
}
CLIENT = "client"
NAME = re.compile(r"[a-z][a-z0-9_]{0,39}")
LABEL = re.compile(r"[A-Za-z0-9][A-Za-z0-9 ._,:+/=%-]{0,59}")
PLACE = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,39}")
_COUNT = re.compile(r"([1-9][0-9]{0,3}) cpus?")
_LIST = re.compile(r"[0-9]{1,4}(-[0-9]{1,4})?(,[0-9]{1,4}(-[0-9]{1,4})?)*")
_OF_ROLE = re.compile(r"([a-z][a-z0-9_]*)=(.*)")
_LONGEST = 4000
_KEYS = ("help", "show", "revert", "roles", "needs_stopped_servers", "keeps_data_apart", "levels")
_LEVEL_KEYS = ("apply", "check", "expected", "revert")


@dataclass(frozen=True)
class HostLevel:
    """One level of a host factor.

    apply, check, revert: shell text.
    expected: what check must print; '' = that it ends with status 0 is enough.
    revert: '' = the factor's own."""

    label: str
    apply: str
    check: str
    expected: str = ""
    revert: str = ""

    def to_mapping(self) -> dict[str, str]:
        """As in the TOML, below the level's label: what is empty is left out."""
        return {key: text for key in _LEVEL_KEYS if (text := getattr(self, key))}


@dataclass(frozen=True)
class HostFactor:
    """What an operator allowed on one agent.

    show: prints the value as found.
    revert: gets that value as "$1".
    roles: of the machines on which it is set, () = every server's.
    needs_stopped_servers: before it is changed.
    keeps_data_apart: what lies on disk hangs on the level, so that each level has clusters of its own."""

    name: str
    show: str
    revert: str
    levels: tuple[HostLevel, ...]
    help: str = ""
    roles: tuple[str, ...] = ()
    needs_stopped_servers: bool = False
    keeps_data_apart: bool = False

    def level(self, label: str) -> HostLevel | None:
        return next((level for level in self.levels if level.label == label), None)

    def to_mapping(self) -> dict[str, Any]:
        """As in the TOML, below the factor's name; `factor_of` of it gives the same factor."""
        levels = {level.label: level.to_mapping() for level in self.levels}
        mapping = {key: getattr(self, key) for key in _KEYS} | {"roles": list(self.roles), "levels": levels}
        return {key: value for key, value in mapping.items() if value not in ("", [], False)}


@dataclass(frozen=True)
class KnownHost:
    """What an agent allows.

    places: name → folder.
    cores: processors that its account may use, None = not known."""

    factors: Mapping[str, HostFactor] = field(default_factory=dict)
    places: Mapping[str, str] = field(default_factory=dict)
    cores: int | None = None


@dataclass(frozen=True)
class Change:
    """What was changed on an agent and is not back yet: all that it takes to revert it, whoever does.

    own: the value as found.
    trial: '<run>/<trial>'.
    since_s: epoch seconds of the worker.
    error: why it could not be reverted."""

    factor: str
    level: str
    own: str
    show: str
    revert: str
    trial: str
    since_s: float
    needs_stopped_servers: bool = False
    error: str = ""

    def to_json(self) -> dict[str, Any]:
        return asdict(self)


@dataclass(frozen=True)
class MidRun:
    """What a topology sets while it is measured: a level of a host factor, on the machine of one of its nodes, which
    no other node may share.

    parameter: of the topology, by which it is asked for."""

    node: str
    factor: str
    level: str
    parameter: str


def level_text(name: str, value: object) -> tuple[str, str]:
    """(a level's label, '') of what a plan says of `host.<name>`, or ('', what is wrong with it)."""
    if not NAME.fullmatch(name):
        return "", _("{name!r} is not the name of a host factor.", name=name)
    if isinstance(value, bool) or not isinstance(value, (str, int)) or not LABEL.fullmatch(str(value)):
        return "", _("{value} is not the name of a level.", value=repr(value))
    wrong = next(_wrong_cpus(str(value)), "") if name == CPUS else ""
    return ("", wrong) if wrong else (str(value), "")


def _wrong_cpus(level: str) -> Iterator[str]:
    if "=" not in level:
        if not (_COUNT.fullmatch(level) or _LIST.fullmatch(level)):
            yield _(
                "{level!r} is neither a list of processors, as '0-3,8', nor a number of them, as '4 cpus'.", level=level
            )
        elif not cpu_count(level) and not _ascending(level):
            yield _("{level!r} has a range that ends before it begins, or no processor at all.", level=level)
        return
    words = level.split()
    for word in words:
        match = _OF_ROLE.fullmatch(word)
        if match is None or not _LIST.fullmatch(match[2]) or not _ascending(match[2]):
            yield _("{word!r} is not a role and its list of processors, as 'primary=0-3,8'.", word=word)
    if len(cpus_by_role(level)) < len(words):
        yield _("{level!r} names a role twice.", level=level)


def _ascending(text: str) -> bool:
    ranges = [part.partition("-") for part in text.split(",") if part]
    return bool(ranges) and all(int(first) <= int(last or first) for first, _dash, last in ranges)


def cpus_by_role(level: str) -> dict[str, str]:
    """'client=0 standby=1-3' → role or node → its list; {} for a level that is that of all servers."""
    return {match[1]: match[2] for word in level.split() if (match := _OF_ROLE.fullmatch(word))}


def cpus_of(level: str, node: str) -> str:
    """The list of a node: its own, its role's, or ''."""
    lists = cpus_by_role(level)
    return lists.get(node) or lists.get(_role(node), "")


def cpu_count(text: str) -> int | None:
    """'2 cpus' → 2; None for a list."""
    match = _COUNT.fullmatch(text)
    return int(match[1]) if match else None


def cpu_set(text: str) -> frozenset[int]:
    """'0-2,8' → {0, 1, 2, 8}."""
    processors: set[int] = set()
    for part in filter(None, text.strip().split(",")):
        first, _dash, last = part.partition("-")
        processors.update(range(int(first), int(last or first) + 1))
    return frozenset(processors)


def roles_of(
    name: str,
    level: str,
    agents: Mapping[str, str],
    known: Mapping[str, KnownHost],
    *,
    poolers: Collection[str] = (),
    outside: Collection[str] = (),
) -> tuple[str, ...]:
    """The roles of a trial on whose machines the factor is set: those that the level or the agents' definitions name,
    else those of every server of Teiten's.

    agents: role → agent.
    poolers, outside: nodes that are no such servers; no processors can be chosen for what is outside."""
    if name == CPUS and cpus_by_role(level):
        return tuple(node for node in agents if cpus_of(level, node) and node not in outside)
    if defined := _defined_roles(name, set(agents.values()), known):
        return tuple(node for node in agents if defined & {node, _role(node)})
    not_ours = {*poolers, *outside}
    return tuple(node for node in agents if _role(node) != CLIENT and node not in not_ours)


def _defined_roles(name: str, agents: Iterable[str], known: Mapping[str, KnownHost]) -> set[str]:
    """The roles that the agents' own definitions of a factor name."""
    roles: set[str] = set()
    for agent in agents:
        factor = known.get(agent, KnownHost()).factors.get(name)
        if factor is not None:
            roles.update(factor.roles)
    return roles


def _role(node: str) -> str:
    return node.rstrip("0123456789")  # standby2 plays the standby


def problems(
    host: Mapping[str, str],
    agents: Mapping[str, str],
    known: Mapping[str, KnownHost],
    *,
    poolers: Collection[str] = (),
    outside: Collection[str] = (),
) -> Iterator[Problem]:
    """Why a trial with these host factors (name → level) cannot run on these agents (role → agent).

    poolers, outside: as of `roles_of`."""
    for name, label in host.items():
        roles = roles_of(name, label, agents, known, poolers=poolers, outside=outside)
        if name == TABLESPACE and len(roles) > 1:
            what = _(
                "{count} servers are to have a tablespace, which a copy of a server cannot share with it.",
                count=len(roles),
            )
            yield Problem(f"host.{name}", what, _("Place the data or the WAL instead, or measure a single server."))
        if not roles:
            what = _("Host factor {name!r} is for roles that this topology does not have.", name=name)
            yield Problem(f"host.{name}", what, _roles_here(agents))
        if name == CPUS:
            yield from _cpu_problems(label, roles, agents, known)
            continue
        for agent in dict.fromkeys(agents[role] for role in roles):
            yield from _unknown(name, label, agent, known.get(agent, KnownHost()))


def mid_run_problems(
    change: MidRun, host: Mapping[str, str], agents: Mapping[str, str], known: Mapping[str, KnownHost]
) -> Iterator[Problem]:
    """Why this cannot be set in mid-run on these agents (role → agent).

    host: what the plan sets for the whole trial."""
    where, agent = f"topology.{change.parameter}", agents[change.node]
    factor = known.get(agent, KnownHost()).factors.get(change.factor)
    if factor is None or factor.level(change.level) is None:
        what = _(
            "Agent {agent} has no host factor {factor!r} with a level {level!r}.",
            agent=agent,
            factor=change.factor,
            level=change.level,
        )
        todo = _("An operator defines it on the agent's page, with the commands that set it and revert it.")
        yield Problem(where, what, todo)
    if change.factor in host:
        what = _(
            "The plan sets host.{factor} for the whole trial, and here it is set in mid-run.", factor=change.factor
        )
        yield Problem(f"host.{change.factor}", what, _("Leave it out of the table [host] and of the factors."))
    beside = [role for role in agents if role != change.node and agents[role] == agent]
    if beside:
        what = _(
            "Agent {agent} plays the {node}, which is set apart in mid-run, and {others} as well.",
            agent=agent,
            node=change.node,
            others=linked(COMMA, beside),
        )
        yield Problem(where, what, _("Let nothing else play where the {node} does.", node=change.node))


def _cpu_problems(
    level: str, nodes: Collection[str], agents: Mapping[str, str], known: Mapping[str, KnownHost]
) -> Iterator[Problem]:
    where = f"host.{CPUS}"
    set_for = {*nodes, *map(_role, nodes)}
    for role in cpus_by_role(level) if nodes else ():
        if role not in set_for:
            what = _("It names processors for {role!r}, a role that this topology does not have.", role=role)
            yield Problem(where, what, _roles_here(agents))
    requested = dict.fromkeys((agents[node], cpus_of(level, node) or level) for node in nodes)
    for agent, text in requested:
        cores, count = known.get(agent, KnownHost()).cores, cpu_count(text) or len(cpu_set(text))
        if cores and count > cores:
            what = _("Agent {agent} has {cores} processors, not {count}.", agent=agent, cores=cores, count=count)
            yield Problem(where, what, _("Ask for fewer."))


def _roles_here(agents: Iterable[str]) -> Message:
    return _("The roles here are {roles}.", roles=linked(COMMA, agents))


def _unknown(name: str, label: str, agent: str, known: KnownHost) -> Iterator[Problem]:
    where = f"host.{name}"
    if name in PLACED:
        if label not in known.places:
            what = _("Agent {agent} has no storage place {place!r}.", agent=agent, place=label)
            meant = suggestion(label, known.places)
            yield Problem(where, what, _("{meant} An operator names them on the agent's page.", meant=meant))
    elif name not in known.factors:
        what = _("Agent {agent} has no host factor {name!r}.", agent=agent, name=name)
        meant = suggestion(name, (*BUILT_IN, *known.factors))
        yield Problem(where, what, _("{meant} An operator defines others on the agent's page.", meant=meant))
    elif known.factors[name].level(label) is None:
        what = _("Host factor {name!r} of agent {agent} has no level {level!r}.", name=name, agent=agent, level=label)
        yield Problem(where, what, suggestion(label, [level.label for level in known.factors[name].levels]))


def read(text: str) -> tuple[HostFactor, ...]:
    """TOML, a table for each factor → the factors. Raises DefinitionError with every problem found."""
    try:
        mapping = toml_text.loads(text)
    except tomllib.TOMLDecodeError as error:
        what = _("This is not TOML: {error}.", error=error.args[0])
        raise DefinitionError([Problem("toml", what, _("Correct that line."))]) from error
    factors: list[HostFactor] = []
    wrong: list[Problem] = (
        [] if mapping else [Problem("toml", _("It defines no host factor."), _("Write [name] above each."))]
    )
    for name, definition in mapping.items():
        try:
            factors.append(factor_of(name, definition))
        except DefinitionError as error:
            wrong += [Problem(f"{name}.{one.field}".strip("."), one.what, one.todo) for one in error.problems]
    if wrong:
        raise DefinitionError(wrong)
    return tuple(factors)


def to_toml(factors: Iterable[HostFactor]) -> str:
    return tomli_w.dumps({factor.name: factor.to_mapping() for factor in factors}, multiline_strings=True)


def factor_of(name: str, mapping: object) -> HostFactor:
    """A definition in the structure of its TOML → HostFactor. Raises DefinitionError with every problem found."""
    reader = _Reader()
    factor = reader.factor(name, mapping)
    if reader.problems:
        raise DefinitionError(reader.problems)
    return factor


class _Reader:
    """Reads one definition; collects problems instead of stopping at the first."""

    def __init__(self) -> None:
        self.problems: list[Problem] = []

    def factor(self, name: str, mapping: object) -> HostFactor:
        if not NAME.fullmatch(name):
            todo = _("Small letters, digits and '_', at most 40, a letter first.")
            what = _("{name!r} is not a name for a host factor.", name=name) if name else _("It has no name.")
            self.problem("name", what, todo)
        if name in BUILT_IN:
            what = _("{name!r} is built in and needs no commands.", name=name)
            self.problem("name", what, _("Choose another name."))
        fields = self.table("", mapping, _KEYS)
        levels = fields.get("levels", {})
        if not isinstance(levels, Mapping) or not levels:
            self.problem("levels", _("A host factor needs levels."), _("Write [name.levels.LABEL] above each."))
            levels = {}
        revert = self.command("revert", fields, needed=False)
        return HostFactor(
            name=name,
            show=self.command("show", fields),
            revert=revert,
            levels=tuple(self.level(label, level, revertible=bool(revert)) for label, level in levels.items()),
            help=self.text("help", fields),
            roles=self.roles(fields),
            needs_stopped_servers=self.flag("needs_stopped_servers", fields),
            keeps_data_apart=self.flag("keeps_data_apart", fields),
        )

    def level(self, label: str, mapping: object, *, revertible: bool) -> HostLevel:
        where = f"levels.{label}"
        if not LABEL.fullmatch(label):
            what = _("{label!r} is not a name for a level.", label=label)
            self.problem(where, what, _("Letters, digits, spaces and ._,:+/=%-"))
        fields = self.table(where, mapping, _LEVEL_KEYS)
        return HostLevel(
            label=label,
            apply=self.command(f"{where}.apply", fields),
            check=self.command(f"{where}.check", fields),
            expected=self.text(f"{where}.expected", fields).strip(),
            revert=self.command(f"{where}.revert", fields, needed=not revertible),
        )

    def problem(self, where: str, what: str, todo: str = "") -> None:
        self.problems.append(Problem(where, what, todo))

    def table(self, where: str, value: object, keys: tuple[str, ...]) -> Mapping[str, Any]:
        if not isinstance(value, Mapping):
            self.problem(where, _("{value} is not a table.", value=repr(value)), _keys_are(keys))
            return {}
        for key in value:
            if key not in keys:
                self.problem(f"{where}.{key}".strip("."), _("There is no key {key!r}.", key=key), _keys_are(keys))
        return value

    def text(self, where: str, fields: Mapping[str, Any]) -> str:
        value = fields.get(where.rpartition(".")[2], "")
        if not isinstance(value, str) or len(value) > _LONGEST or "\x00" in value:
            self.problem(where, _("This is not a text of at most 4,000 characters."))
            return ""
        return value.replace("\r\n", "\n")

    def command(self, where: str, fields: Mapping[str, Any], *, needed: bool = True) -> str:
        text = self.text(where, fields)
        if needed and not text.strip():
            self.problem(where, _("A command is missing."), _COMMANDS[where.rpartition(".")[2]])
        return text

    def flag(self, where: str, fields: Mapping[str, Any]) -> bool:
        value = fields.get(where, False)
        if not isinstance(value, bool):
            self.problem(where, _("{value} is not true or false.", value=repr(value)))
        return value is True

    def roles(self, fields: Mapping[str, Any]) -> tuple[str, ...]:
        value = fields.get("roles", [])
        if not isinstance(value, list) or not all(isinstance(role, str) and NAME.fullmatch(role) for role in value):
            what = _("{value} is not a list of roles.", value=repr(value))
            self.problem("roles", what, _("As ['primary'], or none for every server."))
            return ()
        return tuple(value)


def _keys_are(keys: Iterable[str]) -> Message:
    return _("Keys are {keys}.", keys=linked(COMMA, keys))


_COMMANDS = {
    "show": _("A command that prints the value as it is now."),
    "apply": _("The command that sets this level."),
    "check": _("A command that fails, or prints another text than expected, where this level is not in force."),
    "revert": _(
        'A command that sets the value "$1", as the factor\'s show printed it; for the factor or for each level.'
    ),
}
