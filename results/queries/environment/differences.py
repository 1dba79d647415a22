"""Two trials, runs or agents, and how what they ran in differs."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from results import models
from results.domain.environment.difference import Environment, EnvironmentDifference, environment_of, judge_environments
from results.domain.environment.layers import LayerKind
from results.domain.environment.rules import AGENT
from results.domain.errors import TeitenError
from results.domain.messages import gettext_lazy as _
from results.queries.environment.environments import TrialEnvironment, environments_of, planned
from results.queries.shared.ids import NotFound, known_id
from results.queries.shared.words import name_of, name_of_run, stored

_FACTS = (LayerKind.HARDWARE, LayerKind.KERNEL, LayerKind.STORAGE, LayerKind.TOOL)
_ROLE = "agent."
_MACHINE = "machine"  # the role of an agent that is compared with another agent
_REFERENCE = re.compile(r"(trial|run|agent):(.+)", re.ASCII | re.DOTALL)
_ID = re.compile(r"[0-9]{1,19}")
_MOST_OFFERED = 30


@dataclass(frozen=True)
class Subject:
    """One side: a trial, a run or an agent.

    reference: 'trial:12', 'run:3' or 'agent:db1'.
    levels: of a trial's configuration.
    published: whose figures these are, where they were not measured here.
    trials: how many it rests on; of an agent none."""

    reference: str
    kind: str
    id: int
    name: str
    run_id: int | None
    run_name: str
    levels: Mapping[str, str]
    published: str
    trials: int


@dataclass(frozen=True)
class Compared:
    """Two sides and how they differ.

    difference: with a judgement for every key, equal ones too.
    planned: dimensions that the plans have otherwise."""

    left: Subject
    right: Subject
    difference: EnvironmentDifference
    planned: tuple[str, ...]


@dataclass(frozen=True)
class Offer:
    """Something that can be compared."""

    reference: str
    text: str


def differences(left: str, right: str) -> Compared:
    """Raises NotFound, and TeitenError for a text that is no reference. At most eight queries."""
    sides = [_Side(*_read(where, text)) for where, text in (("left", left), ("right", right))]
    ran = [list({id(one): one for one in environments_of(side.attempts).values()}.values()) for side in sides]
    names = planned(*ran) if all(ran) else set()
    environments = [_environments(*of) for of in zip(sides, sides[::-1], ran, strict=True)]
    return Compared(
        left=sides[0].subject,
        right=sides[1].subject,
        difference=judge_environments(environments[0], environments[1], names, equal=True),
        planned=tuple(sorted(names)),
    )


def offers() -> list[Offer]:
    """The newest runs on the lists, and all agents. Two queries."""
    runs = models.Run.objects.filter(archived=False).order_by("-pk").values_list("pk", "name")[:_MOST_OFFERED]
    agents = models.Agent.objects.order_by("name").values_list("name", flat=True)
    return [
        *(Offer(f"run:{pk}", _("run {run}, {name}", run=pk, name=name)) for pk, name in runs),
        *(Offer(f"agent:{name}", _("agent {name}", name=name)) for name in agents),
    ]


def _read(where: str, text: str) -> tuple[str, str]:
    match = _REFERENCE.fullmatch(text.strip())
    if match is None or (match[1] != "agent" and not _ID.fullmatch(match[2])):
        raise TeitenError(
            _("{text!r} is no trial, run or agent.", text=text),
            where=where,
            todo=_("Write trial:12, run:3 or agent:db1."),
        )
    return match[1], match[2]


class _Side:
    """A subject, and where what it ran in is found: in attempts, or in the facts of a machine."""

    def __init__(self, kind: str, name: str) -> None:
        self.attempts: Sequence[int] = ()
        self.facts: Sequence[tuple[str, Mapping[str, Any]]] = ()
        self.subject = {"trial": self._trial, "run": self._run, "agent": self._agent}[kind](name)

    def _trial(self, name: str) -> Subject:
        known = models.Trial.objects.select_related("run__publication", "configuration")
        trial = known.filter(pk=known_id(int(name), "trial")).first()
        if trial is None:
            raise NotFound(_("There is no {kind} {number}.", kind=name_of("trial"), number=name))
        latest = trial.attempt_id or trial.attempts.exclude(environment="").values_list("pk", flat=True).last()
        self.attempts = (latest,) if latest else ()
        return Subject(
            reference=f"trial:{trial.pk}",
            kind="trial",
            id=trial.pk,
            name=trial.configuration.name,
            run_id=trial.run_id,
            run_name=_name(trial.run),
            levels=trial.configuration.levels,
            published=_publisher(trial.run),
            trials=len(self.attempts),
        )

    def _run(self, name: str) -> Subject:
        run = models.Run.objects.select_related("publication").filter(pk=known_id(int(name), "run")).first()
        if run is None:
            raise NotFound(_("There is no {kind} {number}.", kind=name_of("run"), number=name))
        self.attempts = list(run.trials.exclude(attempt=None).values_list("attempt_id", flat=True))
        name = _name(run)
        return Subject(f"run:{run.pk}", "run", run.pk, name, run.pk, name, {}, _publisher(run), len(self.attempts))

    def _agent(self, name: str) -> Subject:
        agent = models.Agent.objects.filter(name=name).first()
        if agent is None:
            raise NotFound(_("There is no agent {name!r}.", name=name))
        facts = models.HostFacts.objects.filter(agent=agent).order_by("-at", "-pk").first()
        layers = facts.layers.filter(kind__in=_FACTS).order_by("hash") if facts else ()
        self.facts = [(layer.kind, layer.content) for layer in layers]
        return Subject(f"agent:{name}", "agent", agent.pk, name, None, "", {}, "", 0)


def _name(run: models.Run) -> str:
    if (of := run.publication) is None:
        return run.name
    return name_of_run(run.name, {"place": of.place, "caption": of.caption, "program": of.program})


def _publisher(run: models.Run) -> str:
    """Return whose figures a run has: the report, or the import, whose title its user wrote; '' of a measured one."""
    if run.publication is None:
        return ""
    return run.publication.title if run.publication.program else stored(run.publication.title)


def _environments(side: _Side, against: _Side, ran: Sequence[TrialEnvironment]) -> list[Environment]:
    """A machine is held against a machine: of a trial that meets an agent, only what its server's machine is."""
    role = _MACHINE if side.subject.kind == against.subject.kind == "agent" else "primary"
    if side.subject.kind == "agent":
        facts = environment_of((role, kind, content) for kind, content in side.facts)
        return [{**facts, (role, AGENT): {"name": side.subject.name}}] if facts else []
    environments: list[Environment] = [{**one.environment, **_machines(side, one)} for one in ran if one.environment]
    if against.subject.kind != "agent":
        return environments
    return [_machine(one, role) for one in environments]


def _machine(environment: Environment, role: str) -> Environment:
    """What is known of the machine that played a role."""
    kinds = (*_FACTS, AGENT)
    return {(node, kind): content for (node, kind), content in environment.items() if node == role and kind in kinds}


def _machines(side: _Side, ran: TrialEnvironment) -> Environment:
    """The agents of a trial. A run's trials may be on several that look the same: no one of them is named."""
    if side.subject.kind != "trial":
        return {}
    roles = {name: agent for name, agent in ran.dimensions.items() if name.startswith(_ROLE)}
    return {(name.removeprefix(_ROLE), AGENT): {"name": agent} for name, agent in roles.items()}
