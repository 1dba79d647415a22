"""The plan form, built from what the kinds declare. It makes the same mapping as the TOML. Pure.

Inputs are called as the mapping's keys are, dotted ('parameters.clients'), and so are problems' fields.
"""

from __future__ import annotations

import shlex
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from typing import Any, Protocol

from results.domain.errors import Problem
from results.domain.kinds.conditions import CONDITIONS, TEXTS
from results.domain.kinds.parameters import Kind, Parameter, Scalar
from results.domain.kinds.specs import TopologySpec, WorkloadSpec, role_of
from results.domain.matrix import is_client
from results.domain.messages import gettext_lazy as _
from results.domain.messages import localized
from results.domain.plan import DEFAULT_COLLECTORS, Kinds, PlanDraft, draft_of, targets
from webapp.forms.levels import read_exclude, read_levels, text_of, typed, write_exclude, write_levels
from webapp.forms.words import key, label, value_text
from webapp.text_order import by_text

SPARE_ROWS = 2
_MOST_NODES = 9  # that each have a chooser of their own
_GENERAL = ("workload", "topology")
_CONTROLS = {  # of other kinds: text
    Kind.INTEGER: "number",
    Kind.NUMBER: "number",
    Kind.SCRIPT: "textarea",
    Kind.BOOLEAN: "select",
    Kind.CHOICE: "select",
}


class Posted(Protocol):
    """What a QueryDict offers."""

    def get(self, name: str, /) -> Any: ...
    def __iter__(self) -> Iterator[str]: ...
    def getlist(self, name: str, /) -> Sequence[str]: ...
    def __contains__(self, name: object, /) -> bool: ...


@dataclass(frozen=True)
class Input:
    """One field of the plan form.

    name: dotted.
    control: text, number, select, textarea.
    choices: (value, text).
    list: id of a datalist.
    refreshes: other inputs hang on its value.
    upload: its text can be read from files.
    key: as in the TOML, where the label is in another language."""

    name: str
    label: str
    control: str
    value: str
    default: str
    help: str
    unit: str = ""
    choices: tuple[tuple[str, str], ...] = ()
    list: str = ""
    minimum: float | None = None
    maximum: float | None = None
    refreshes: bool = False
    upload: bool = False
    key: str = ""


@dataclass(frozen=True)
class Collector:
    name: str
    title: str
    help: str
    chosen: bool
    required: bool


@dataclass(frozen=True)
class FactorRow:
    name: str
    value: str


@dataclass(frozen=True)
class PlanForm:
    general: tuple[Input, ...]
    conditions: tuple[Input, ...]
    agents: tuple[Input, ...]
    parameters: tuple[Input, ...]
    topology_parameters: tuple[Input, ...]
    settings: tuple[FactorRow, ...]
    host: tuple[FactorRow, ...]
    host_names: tuple[tuple[str, str], ...]
    factors: tuple[FactorRow, ...]
    exclude: str
    initdb: str
    collectors: tuple[Collector, ...]
    workload: str
    until_done: bool
    timed_part: str
    workload_help: str
    topology_help: str
    targets: tuple[tuple[str, str], ...]
    installations: tuple[str, ...]


def describe(
    mapping: Mapping[str, Any],
    kinds: Kinds,
    agents: Sequence[str] = (),
    installations: Sequence[str] = (),
    posted: Posted | None = None,
    host: Mapping[str, str] | None = None,
) -> PlanForm:
    """A plan's mapping, right or wrong → what the form shows.

    agents, installations: names to choose from.
    posted: what the mapping was made of: shown as typed where the mapping does not hold it all.
    host: host factors that the agents have → what they are."""
    typed_rows = _mapped_rows(mapping) if posted is None else _posted_rows(posted)
    workload, topology = _kinds(mapping, kinds)
    about = _about(workload, _table(mapping, "parameters"))
    return PlanForm(
        general=_general_inputs(mapping, kinds),
        conditions=tuple(_input(p, p.name, mapping.get(p.name)) for p in CONDITIONS if p.name not in _GENERAL),
        agents=tuple(agent_inputs(_table(mapping, "agents"), _roles(topology, mapping), agents)),
        parameters=_inputs("parameters", workload.parameters if workload else (), mapping),
        topology_parameters=_inputs("topology_parameters", topology.parameters if topology else (), mapping),
        settings=_rows(typed_rows.settings),
        host=_rows(typed_rows.host),
        host_names=tuple((name, localized(text)) for name, text in (host or {}).items()),
        factors=_rows(typed_rows.factors),
        exclude=write_exclude(mapping.get("exclude")),
        initdb=typed_rows.initdb,
        collectors=_collectors(mapping, kinds),
        workload=about.name,
        until_done=about.until_done,
        timed_part=about.timed_part,
        workload_help=about.help,
        topology_help=topology.help if topology else "",
        targets=_targets(workload, kinds, host or {}),
        installations=tuple(installations),
    )


@dataclass(frozen=True)
class _TypedRows:
    """What the form has rows of (name, value), and the options of initdb, as text."""

    settings: Sequence[tuple[str, str]]
    host: Sequence[tuple[str, str]]
    factors: Sequence[tuple[str, str]]
    initdb: str


def _mapped_rows(mapping: Mapping[str, Any]) -> _TypedRows:
    return _TypedRows(
        settings=[(name, text_of(value)) for name, value in _flat(_table(mapping, "settings"))],
        host=[(name, text_of(value)) for name, value in _table(mapping, "host").items()],
        factors=[(name, write_levels(levels)) for name, levels in _table(mapping, "factors").items()],
        initdb=shlex.join(map(str, _list(mapping, "initdb", ()))),
    )


def _posted_rows(posted: Posted) -> _TypedRows:
    return _TypedRows(
        settings=list(_pairs(posted, "setting")),
        host=list(_pairs(posted, "host")),
        factors=list(_pairs(posted, "factor")),
        initdb=posted.get("initdb") or "",
    )


def _general_inputs(mapping: Mapping[str, Any], kinds: Kinds) -> tuple[Input, ...]:
    """The plan's name, the choosers of its kinds, then its other texts."""
    texts = [_input(p, p.name, mapping.get(p.name)) for p in TEXTS if p.name != "workload"]
    known = {parameter.name: parameter for parameter in (*TEXTS, *CONDITIONS)}
    options = {"workload": kinds.workloads, "topology": kinds.topologies}
    choosers = [_chooser(known[name], mapping.get(name), options[name]) for name in _GENERAL]
    return (*texts[:1], *choosers, *texts[1:])


@dataclass(frozen=True)
class _About:
    """What the form says of the workload.

    until_done: with these values it is measured until its work is done.
    timed_part: the part of it that lasts as long as the plan says, '' where none does."""

    name: str = ""
    help: str = ""
    until_done: bool = False
    timed_part: str = ""


def _about(workload: WorkloadSpec | None, values: Mapping[str, Any]) -> _About:
    if workload is None:
        return _About()
    parameters = _sensible(workload, values)
    return _About(
        name=workload.name,
        help=workload.help,
        until_done=workload.measured_s(parameters, 1.0) is None,
        timed_part=workload.part_by_duration(parameters),
    )


def draft_of_form(posted: Posted, kinds: Kinds) -> PlanDraft:
    """What was posted → what could be read of the plan, with what is wrong with it and what no mapping can hold: two
    rows of one name, a quote that is not closed."""
    rows = {"factor": "factors", "setting": "settings", "host": "host"}
    problems = [problem for prefix, table in rows.items() for problem in _repeated(posted, prefix, table)]
    try:
        shlex.split(posted.get("initdb") or "")
    except ValueError as error:
        problems.append(
            Problem("initdb", _("This is no list of options: {error}.", error=str(error)), _("Close the quote."))
        )
    draft = draft_of(mapping_of(posted, kinds), kinds)
    return PlanDraft(draft.plan, (*problems, *draft.problems))


def _repeated(posted: Posted, prefix: str, table: str) -> Iterable[Problem]:
    for name, count in Counter(pair[0] for pair in _pairs(posted, prefix)).items():
        if count > 1:
            what = _("{name!r} stands in {count} rows.", name=name, count=count)
            todo = _("Put its levels into one row.") if prefix == "factor" else _("Keep one of them.")
            yield Problem(f"{table}.{name}", what, todo)


def mapping_of(posted: Posted, kinds: Kinds) -> dict[str, Any]:
    """What was posted → the mapping that the plan's TOML would hold. What is empty is left out: its default holds."""
    mapping: dict[str, Any] = {}
    for parameter in (*TEXTS, *CONDITIONS):
        _put(mapping, parameter.name, parameter, posted.get(parameter.name))
    workload, topology = _kinds(mapping, kinds)
    mapping["parameters"] = _posted_values(posted, "parameters", workload)
    mapping["topology_parameters"] = _posted_values(posted, "topology_parameters", topology)
    mapping["agents"] = _posted_agents(posted)
    mapping["settings"] = dict(_pairs(posted, "setting"))
    mapping["host"] = dict(_pairs(posted, "host"))
    known = targets(workload, kinds.topologies.values()) if workload else {}
    mapping["factors"] = {name: read_levels(known.get(name), text) for name, text in _pairs(posted, "factor")}
    mapping["exclude"] = read_exclude(posted.get("exclude") or "")
    mapping["initdb"] = _words(posted.get("initdb") or "")
    mapping["collectors"] = list(posted.getlist("collectors"))
    mapping["required_collectors"] = list(posted.getlist("required_collectors"))
    kept = ("collectors",)  # none chosen is not the same as not said
    return {key: value for key, value in mapping.items() if value not in ({}, []) or key in kept}


def _posted_values(posted: Posted, table: str, spec: WorkloadSpec | TopologySpec | None) -> dict[str, Any]:
    """The parameters that a kind declares, as far as they were filled in."""
    values: dict[str, Any] = {}
    for parameter in spec.parameters if spec else ():
        _put(values, parameter.name, parameter, posted.get(f"{table}.{parameter.name}"))
    return values


def _posted_agents(posted: Posted) -> dict[str, str]:
    roles = sorted(name.removeprefix("agents.") for name in posted if name.startswith("agents."))
    return {role: agent for role in roles if (agent := posted.get(f"agents.{role}"))}


def switched(posted: Posted, kinds: Kinds) -> dict[str, Any]:
    """The mapping after another workload, or another value that others hang on, was chosen: what has no meaning there
    is left out, and so is what decides the data of another workload, though it has the same name."""
    mapping = mapping_of(posted, kinds)
    workload = _kinds(mapping, kinds)[0]
    before = kinds.workloads.get(posted.get("workload-was") or "", workload)
    known = {parameter.name for parameter in before.parameters} if before else set()
    parameters = workload.parameters if workload else ()
    values, varied = _table(mapping, "parameters"), _varied(mapping)
    kept: dict[str, Any] = {}
    for parameter in parameters:
        goes_on = before is workload or (not parameter.loads and parameter.name in known)
        if parameter.name in values and goes_on and _means_something(parameter, parameters, values, varied):
            kept[parameter.name] = values[parameter.name]
    mapping["parameters"] = kept
    return mapping


def _words(text: str) -> list[str]:
    """As a shell reads them; what it could not read in plain parts, for the form to show."""
    try:
        return shlex.split(text)
    except ValueError:
        return text.split()


def _put(values: dict[str, Any], name: str, parameter: Parameter, text: str | None) -> None:
    if text is None or text == "":
        return
    values[name] = typed(parameter, text.replace("\r\n", "\n"))


def _pairs(posted: Posted, prefix: str) -> Iterable[tuple[str, str]]:
    names, values = posted.getlist(f"{prefix}-name"), posted.getlist(f"{prefix}-value")
    for name, value in zip(names, values, strict=False):
        if name.strip() or value.strip():
            yield name.strip(), value.strip()


def _kinds(mapping: Mapping[str, Any], kinds: Kinds) -> tuple[WorkloadSpec | None, TopologySpec | None]:
    workload = kinds.workloads.get(str(mapping.get("workload", "pgbench")))
    return workload, kinds.topologies.get(str(mapping.get("topology", "single")))


def _inputs(table: str, parameters: Sequence[Parameter], mapping: Mapping[str, Any]) -> tuple[Input, ...]:
    """Those that mean something with the others' values, and those that have a value nevertheless."""
    values = _table(mapping, table)
    varied = {
        target.removeprefix("topology.") if table == "topology_parameters" else target for target in _varied(mapping)
    }
    shown = [p for p in parameters if p.name in values or _means_something(p, parameters, values, varied)]
    conditions = {name for parameter in parameters for name in parameter.only_with}
    inputs = [
        replace(
            _input(p, f"{table}.{p.name}", values.get(p.name), optional=True),
            refreshes=p.name in conditions,
            upload=p.kind is Kind.SCRIPT,
        )
        for p in shown
    ]
    return tuple(sorted(inputs, key=lambda one: (not one.refreshes, one.control == "textarea")))


def _means_something(
    parameter: Parameter, others: Iterable[Parameter], values: Mapping[str, Any], varied: Collection[str]
) -> bool:
    chosen = {other.name: text_of(values.get(other.name, other.default)) for other in others}
    return all(name in varied or chosen.get(name) in wanted for name, wanted in parameter.only_with.items())


def _sensible(workload: WorkloadSpec, values: Mapping[str, Any]) -> dict[str, Scalar]:
    """Complete parameters; what is wrong among the values counts for its default."""
    right: dict[str, Scalar] = {}
    for parameter in workload.parameters:
        with suppress(ValueError):
            right[parameter.name] = parameter.check(values.get(parameter.name, parameter.default))
    return workload.complete(right)


def _varied(mapping: Mapping[str, Any]) -> set[str]:
    """Every target that a factor sets, as far as the factors are well-formed."""
    names = set(_table(mapping, "factors"))
    for levels in _table(mapping, "factors").values():
        for level in levels if isinstance(levels, list) else ():
            names |= set(_table(level, "values")) if isinstance(level, Mapping) else set()
    return names


def _input(parameter: Parameter, name: str, value: Any, *, optional: bool = False) -> Input:
    """Return the field of one parameter.

    optional: the default can be chosen by its value too, and is then written into the plan."""
    default = text_of(parameter.default)
    control = _CONTROLS.get(parameter.kind, "text")
    text = "" if value is None else text_of(value)
    if not optional and control == "select" and text == default:
        text = ""
    return Input(
        name=name,
        label=label(parameter.name),
        control=control,
        value=text,
        default=default,
        help=parameter.help,
        unit=parameter.unit,
        choices=_choices(parameter, default, with_default=optional),
        list="installations" if name == "installation" else "",
        minimum=parameter.minimum,
        maximum=parameter.maximum,
        key=key(parameter.name),
    )


def _choices(parameter: Parameter, default: str, *, with_default: bool) -> tuple[tuple[str, str], ...]:
    """(value, text), the default first, under no value.

    with_default: under its own value as well."""
    choices = tuple((choice, value_text(choice)) for choice in parameter.choices)
    if parameter.kind is Kind.BOOLEAN:
        choices = (("true", _("yes")), ("false", _("no")))
    if _CONTROLS.get(parameter.kind) != "select":
        return choices
    shown = dict(choices).get(default, default)
    others = (choice for choice in choices if with_default or choice[0] != default)
    return (("", _("{choice} (default)", choice=shown)), *others)


def _chooser(parameter: Parameter, value: Any, kinds: Mapping[str, Any]) -> Input:
    text = text_of(parameter.default if value is None else value)
    choices = by_text(((name, spec.title) for name, spec in kinds.items()), lambda one: localized(one[1]))
    if text not in kinds:
        choices.append((text, _("{name} (unknown)", name=text)))
    return Input(
        parameter.name,
        label(parameter.name),
        "select",
        text,
        "",
        parameter.help,
        choices=tuple(choices),
        refreshes=True,
        key=key(parameter.name),
    )


def agent_inputs(values: Mapping[str, Any], roles: Sequence[str], known: Sequence[str]) -> Iterable[Input]:
    """A chooser for each role, the server that takes the load first.

    known: names of agents."""
    for role in dict.fromkeys([*roles, *values]):
        value = text_of(values.get(role, ""))
        names = [*known, *([value] if value and value not in known else [])]
        main = role_of(role) if role_of(role) != role and role_of(role) in roles else roles[0]
        otherwise = _("none") if is_client(role) and role != "client" else _("as {main}", main=main)
        choices = (("", _("choose one") if role == roles[0] else otherwise), *((name, name) for name in names))
        text = _("It puts load on.") if is_client(role) else _("It plays the {role}.", role=role)
        yield Input(f"agents.{role}", role, "select", value, "", text, choices=choices)


def _roles(topology: TopologySpec | None, mapping: Mapping[str, Any]) -> tuple[str, ...]:
    """Every role, each of a few nodes that play the same one, and a place for one client more."""
    clients = sum(is_client(role) for role in _table(mapping, "agents"))
    more = ("client", *(f"client{number}" for number in range(2, max(1, clients) + 2)))
    if topology is None:
        return more
    values = _table(mapping, "topology_parameters")
    try:
        nodes = topology.nodes_of({p.name: p.check(values[p.name]) for p in topology.parameters if p.name in values})
    except ValueError:  # what was typed is no sensible number: the plan's problems say so
        nodes = ()
    several = [node for node in nodes if node not in topology.role_names] if len(nodes) <= _MOST_NODES else []
    return (*topology.role_names, *several, *more)


def _collectors(mapping: Mapping[str, Any], kinds: Kinds) -> tuple[Collector, ...]:
    chosen = [str(name) for name in _list(mapping, "collectors", DEFAULT_COLLECTORS)]
    required = _list(mapping, "required_collectors", ())
    known = kinds.collectors
    return tuple(
        Collector(
            name,
            known[name].title if name in known else _("{name} (unknown)", name=name),
            known[name].help if name in known else "",
            name in chosen,
            name in required,
        )
        for name in dict.fromkeys([*chosen, *by_text(known, lambda name: localized(known[name].title))])
    )


def _targets(workload: WorkloadSpec | None, kinds: Kinds, host: Mapping[str, str]) -> tuple[tuple[str, str], ...]:
    known = targets(workload, kinds.topologies.values()) if workload else {}
    choices = [(name, localized(parameter.help)) for name, parameter in known.items()]
    choices.append(("setting.", localized(_("any PostgreSQL setting"))))
    return (*choices, *((f"host.{name}", localized(text)) for name, text in host.items()))


def _rows(values: Sequence[tuple[str, str]]) -> tuple[FactorRow, ...]:
    return (
        *(FactorRow(name, value) for name, value in values),
        *[FactorRow("", "")] * (SPARE_ROWS if not values else 1),
    )


def _table(mapping: Mapping[str, Any], name: str) -> Mapping[str, Any]:
    value = mapping.get(name)
    return value if isinstance(value, Mapping) else {}


def _list(mapping: Mapping[str, Any], name: str, default: Sequence[str]) -> Sequence[Any]:
    value = mapping.get(name, default)
    return value if isinstance(value, (list, tuple)) else []


def _flat(table: Mapping[str, Any], prefix: str = "") -> Iterable[tuple[str, Any]]:
    for name, value in table.items():
        if isinstance(value, Mapping):
            yield from _flat(value, f"{prefix}{name}.")
        else:
            yield f"{prefix}{name}", value
