"""Recipes: published experiments, one chosen size and one agent away from running. Pages call them ready plans. Pure
but for reading the files.

A ready plan is a plan's TOML without agents and without the PostgreSQL to measure, and a table of its own:

    [ready]
    source = "PGECons WG1 2012 §2.2"     where it was published
    did = "…"   found = "…"              what was done there, and what came out, with the figures
    size = "scale"                       the parameter that scales it, from laptop = 10 to report = 1000
    compare = "installations"            what of the agent is compared: installations, builds, one
    topic = "Versions"                   under which heading it is found
    rank = 10                            its place among all, the most useful to a newcomer first
    [ready.short]                        what is less than in the whole plan in its short form, for a first look:
    replicates = 4, duration_s = 5       and, of factors, the levels (by label) that are left:
    factors = { clients = [1, 16] }
    [ready.ja]                           name, description, source, did, found, topic in Japanese

The last four may be left out.
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from pathlib import Path
from typing import Any, NamedTuple

from results.domain import toml_text
from results.domain.errors import PlanError, Problem
from results.domain.kinds.conditions import NEWEST
from results.domain.kinds.parameters import Kind, Parameter, Scalar
from results.domain.kinds.specs import WorkloadSpec
from results.domain.messages import LANGUAGES, ORIGINAL, Message
from results.domain.messages import gettext_lazy as _
from results.domain.nearest import suggestion
from results.domain.plan import Kinds, from_mapping, label_of
from results.domain.plan.fields import no_table, write_as_table

TABLE = "ready"
_TEXTS = ("source", "did", "found")
_KEYS = (*_TEXTS, "size", "laptop", "report", "compare")
_TRANSLATIONS = tuple(language for language in LANGUAGES if language != ORIGINAL)
_OPTIONAL = ("topic", "rank", "short", *_TRANSLATIONS)
_TRANSLATED = ("name", "description", *_TEXTS, "topic")
_SHORTER = ("replicates", "duration_s", "warmup_s", "parameters", "factors")
OTHER_TOPIC, LAST_RANK = _("Other"), 1000
_SLUG = re.compile(r"[a-z0-9][a-z0-9-]{0,80}")
EXAMPLE_AGENT = "agent"
EXAMPLES = ("16", "18")  # any two: a ready plan must be whole whatever is compared


class Compare(StrEnum):
    """What the chosen agent's PostgreSQL are to the plan."""

    INSTALLATIONS = "installations"  # levels of the factor `installation`
    BUILDS = "builds"  # installation and access method together: levels of the factor `build`
    ONE = "one"  # a single installation


class Build(NamedTuple):
    """An installation and one of its table access methods."""

    installation: str
    access_method: str

    @property
    def label(self) -> str:
        return f"{self.installation} {self.access_method}"


@dataclass(frozen=True)
class Recipe:
    """A ready plan.

    slug: the file's name without .toml.
    mapping: the plan's own keys.
    roles: whom an agent can play, the server that takes the load first.
    minimum_version: of PostgreSQL, as its server_version_num.
    size: the parameter that scales it.
    laptop, report: its two ends.
    topic, rank: where it stands among the others.
    short: what the short form changes, by the plan's keys; factor → labels that are left."""

    slug: str
    name: str
    description: str
    workload: str
    minimum_version: int
    roles: tuple[str, ...]
    mapping: Mapping[str, Any]
    source: str
    did: str
    found: str
    size: Parameter
    laptop: Scalar
    report: Scalar
    compare: Compare
    topic: str = OTHER_TOPIC
    rank: int = LAST_RANK
    short: Mapping[str, Any] = field(default_factory=dict)

    @property
    def question(self) -> str:
        """What it answers, in one sentence: the description's first question, or else its first sentence."""
        return Message(_question(self.description))

    def plan(
        self,
        *,
        size: object = None,
        agents: Mapping[str, str],
        installations: Sequence[str] = (),
        builds: Sequence[Build] = (),
        name: str = "",
        whole: bool = True,
    ) -> dict[str, Any]:
        """The plan in the structure of its TOML, for `plan.from_mapping`. Raises PlanError with all that is wrong with
        the choice, by the fields `size`, `agents.<role>`, `installations`, `builds`.

        size: None for a laptop's. installations or builds: what is compared. whole: not its short form."""
        problems: list[Problem] = []
        chosen = self._checked_size(self.laptop if size is None else size, problems)
        problems += self._agent_problems(agents)
        compared = self._compared(installations, builds, problems)
        if problems:
            raise PlanError(problems)
        own = dict(self.mapping) if whole else shortened(self.mapping, self.short)
        parameters = dict(own.get("parameters", {})) | {self.size.name: chosen}
        mapping = own | {"agents": dict(agents), "parameters": parameters}
        if self.compare is Compare.INSTALLATIONS:  # versions, whose clients' own speed is not what is compared
            mapping = {"client_programs": NEWEST} | mapping
        if name:
            mapping["name"] = name
        mapping["description"] = str(_after(self.description, self.source))
        if self.compare is Compare.ONE:
            return mapping | compared
        return mapping | {"factors": compared | dict(own.get("factors", {}))}

    def _checked_size(self, size: object, problems: list[Problem]) -> Scalar:
        try:
            return self.size.check(size)
        except ValueError as error:
            problems.append(Problem("size", _("{fault}.", fault=error.args[0]), self.size.help))
            return self.laptop

    def _agent_problems(self, agents: Mapping[str, str]) -> Iterator[Problem]:
        if not agents.get(self.roles[0]):
            yield Problem(f"agents.{self.roles[0]}", _("No agent is chosen."), _("Choose the machine to measure."))
        for role in agents:
            if role not in self.roles:
                todo = _("Roles are {roles}.", roles=", ".join(self.roles))
                yield Problem(f"agents.{role}", _("There is no role {role!r}.", role=role), todo)

    def _compared(
        self, installations: Sequence[str], builds: Sequence[Build], problems: list[Problem]
    ) -> dict[str, Any]:
        if self.compare is Compare.BUILDS:
            if not builds or installations:
                what = _("This plan compares builds: installations with an access method each.")
                problems.append(Problem("builds", what, _("Choose at least one.")))
            return {"build": [_level(build) for build in dict.fromkeys(builds)]}
        if builds:
            todo = _("Choose installations instead.")
            problems.append(Problem("builds", _("This plan compares no builds."), todo))
        names = list(dict.fromkeys(installations))
        if not names:
            problems.append(Problem("installations", _("No PostgreSQL is chosen."), _("Choose at least one.")))
        if self.compare is Compare.INSTALLATIONS:
            return {"installation": names}
        if len(names) > 1:
            what = _("{count} are chosen.", count=len(names))
            problems.append(Problem("installations", what, _("This plan measures one.")))
        return {"installation": names[0]} if names else {}


def shortened(mapping: Mapping[str, Any], short: Mapping[str, Any]) -> dict[str, Any]:
    """A plan's structure with fewer levels, replicates and seconds; combinations of what is left out go as well."""
    kept = {name: {label_of(label) for label in levels} for name, levels in short.get("factors", {}).items()}
    changed = {key: value for key, value in short.items() if key != "factors"}
    changed["parameters"] = dict(mapping.get("parameters", {})) | dict(short.get("parameters", {}))
    plan = dict(mapping) | changed
    if "factors" in mapping:
        plan["factors"] = {name: _kept_levels(levels, kept.get(name)) for name, levels in mapping["factors"].items()}
    plan["exclude"] = [combination for combination in mapping.get("exclude", []) if _is_left(combination, kept)]
    return plan if plan["exclude"] else {key: value for key, value in plan.items() if key != "exclude"}


def _kept_levels(levels: Sequence[Any], labels: Collection[str] | None) -> list[Any]:
    """Return the levels that are called so; all where nothing says which."""
    return [level for level in levels if labels is None or _label(level) in labels]


def _is_left(combination: Mapping[str, Any], kept: Mapping[str, Collection[str]]) -> bool:
    """Return whether a combination is one of levels that are kept."""
    return all(name not in kept or label_of(level) in kept[name] for name, level in combination.items())


def _label(level: Any) -> str:
    return str(level.get("label")) if isinstance(level, Mapping) else label_of(level)


@dataclass(frozen=True)
class BrokenRecipe:
    """A file that is meant to be a ready plan and is none."""

    slug: str
    error: PlanError


class Recipes(NamedTuple):
    """All ready plans of a folder by file name, and the files that are none though they say so."""

    plans: tuple[Recipe, ...]
    broken: tuple[BrokenRecipe, ...]

    def find(self, slug: str) -> Recipe | None:
        return next((plan for plan in self.plans if plan.slug == slug), None)


def read_all(folder: Path, kinds: Kinds) -> Recipes:
    """The ready plans of a folder's `*.toml`. Those without a table [ready] are plans as any other: passed over."""
    plans: list[Recipe] = []
    broken: list[BrokenRecipe] = []
    for path in sorted(folder.glob("*.toml")):
        try:
            mapping = toml_text.loads(path.read_text(encoding="utf-8"))
            if TABLE in mapping:
                plans.append(from_toml(path.stem, mapping, kinds))
        except tomllib.TOMLDecodeError as error:
            broken.append(BrokenRecipe(path.stem, _no_toml(error.args[0])))
        except UnicodeDecodeError as error:
            broken.append(BrokenRecipe(path.stem, _no_toml(str(error))))
        except PlanError as error:
            broken.append(BrokenRecipe(path.stem, error))
    return Recipes(tuple(sorted(plans, key=lambda plan: (plan.rank, plan.slug))), tuple(broken))


def _no_toml(why: str) -> PlanError:
    return PlanError([Problem("TOML", _("The file is not TOML: {error}.", error=why), _("Correct that line."))])


def from_toml(slug: str, mapping: Mapping[str, Any], kinds: Kinds) -> Recipe:
    """The ready plan that a TOML file's structure holds. Raises PlanError with every problem found, in the table
    [ready] and in the plan at both its sizes."""
    plan = {key: value for key, value in mapping.items() if key != TABLE}
    table = mapping.get(TABLE)
    if not isinstance(table, Mapping):
        raise PlanError([Problem(TABLE, no_table(table), write_as_table(TABLE))])
    workload, topology = kinds.workloads.get(str(plan.get("workload"))), kinds.topologies.get(_topology(plan))
    problems = [*_slug_problems(slug), *_key_problems(table), *_left_open(plan, table), *_kind_problems(plan, kinds)]
    size = None
    if workload is not None:
        size = next((parameter for parameter in workload.parameters if parameter.name == table.get("size")), None)
        problems += _unknown_size(workload, table) if size is None else _size_problems(size, table, plan)
    if problems or workload is None or topology is None or size is None:
        raise PlanError(problems)
    recipe = Recipe(
        slug=slug,
        name=Message(str(plan.get("name", ""))),
        description=Message(_prose(str(plan.get("description", "")))),
        workload=workload.name,
        minimum_version=workload.minimum_version,
        roles=tuple(dict.fromkeys([*topology.role_names, "client"])),
        mapping=plan,
        source=Message(_prose(table["source"]).rstrip(".")),
        did=Message(_prose(table["did"])),
        found=Message(_prose(table["found"])),
        size=size,
        laptop=table["laptop"],
        report=table["report"],
        compare=Compare(table["compare"]),
        topic=Message(table.get("topic", OTHER_TOPIC)),
        rank=int(table.get("rank", LAST_RANK)),
        short=table.get("short", {}),
    )
    _try(recipe, kinds)
    return recipe


def translations(mapping: Mapping[str, Any], language: str) -> dict[str, str]:
    """Return English text → text in a language of a ready plan's TOML; {} where it has none in that language.

    The first sentence of a translated description is its question."""
    table = mapping.get(TABLE)
    translated = table.get(language) if isinstance(table, Mapping) else None
    if not isinstance(table, Mapping) or not isinstance(translated, Mapping):
        return {}
    english = {**mapping, **table}
    pairs = {
        _prose(str(english[key])).rstrip("." if key == "source" else ""): _prose(str(translated[key]))
        for key in _TRANSLATED
        if key in english and key in translated
    }
    if "description" in translated:
        question = _question(_prose(str(mapping.get("description", ""))))
        pairs[question] = _prose(str(translated["description"])).partition("。")[0] + "。"
    return pairs


def plan_description(text: str) -> Message:
    """Return the description of a plan as a message, which is translated where it is still a ready plan's."""
    description, after, source = text.removesuffix(".").rpartition("\n\nAfter ")
    return _after(Message(description), Message(source)) if after and text.endswith(".") else Message(text)


def _after(description: str, source: str) -> Message:
    return _("{description}\n\nAfter {source}.", description=description, source=source)


def _question(description: str) -> str:
    first, mark, _rest = description.partition("?")
    return f"{first}?" if mark else f"{description.partition('.')[0]}."


def example(recipe: Recipe, size: Scalar, *, whole: bool = True) -> dict[str, Any]:
    """The plan at a size for two PostgreSQL that stand for any."""
    count = 1 if recipe.compare is Compare.ONE else len(EXAMPLES)
    agents = dict.fromkeys(recipe.roles, EXAMPLE_AGENT)
    if recipe.compare is Compare.BUILDS:
        builds = [Build(name, "heap") for name in EXAMPLES]
        return recipe.plan(size=size, agents=agents, builds=builds, whole=whole)
    return recipe.plan(size=size, agents=agents, installations=EXAMPLES[:count], whole=whole)


def _try(recipe: Recipe, kinds: Kinds) -> None:
    problems: dict[tuple[str, str], Problem] = {}
    for size, whole in ((recipe.laptop, False), (recipe.laptop, True), (recipe.report, True)):
        try:
            from_mapping(example(recipe, size, whole=whole), kinds)
        except PlanError as error:
            problems |= {(problem.field, problem.what): problem for problem in error.problems}
    if problems:
        raise PlanError(list(problems.values()))


def _prose(text: str) -> str:
    """Paragraphs, each in one line: a file's line ends mean nothing, but that an indented line stands by itself."""
    return "\n\n".join(_paragraph(part) for part in re.split(r"\n[ \t]*\n", text.strip("\n").rstrip()))


def _paragraph(text: str) -> str:
    lines: list[str] = []
    for line in text.split("\n"):
        indented = line.startswith(("  ", "\t"))
        if lines and not indented and not lines[-1].startswith(" "):
            lines[-1] += f" {line.strip()}"
        else:
            lines.append(f"    {line.strip()}" if indented else line.strip())
    return "\n".join(re.sub(r"(?<=\S)\s+", " ", line) for line in lines)


def _topology(plan: Mapping[str, Any]) -> str:
    return str(plan.get("topology", "single"))


def _slug_problems(slug: str) -> Iterator[Problem]:
    if not _SLUG.fullmatch(slug):
        what = _("{slug!r} is no name for a ready plan.", slug=slug)
        yield Problem("TOML", what, _("Small letters, digits and '-'."))


def _key_problems(table: Mapping[str, Any]) -> Iterator[Problem]:
    for key in table:
        if key not in (*_KEYS, *_OPTIONAL):
            what = _("There is no key {key!r} in [ready].", key=key)
            yield Problem(f"ready.{key}", what, suggestion(key, (*_KEYS, *_OPTIONAL)))
    for key in _KEYS:
        if key not in table:
            yield Problem(f"ready.{key}", _("It is missing."), _("Every key of [ready] is needed."))
    for key in _TEXTS:
        if key in table and (not isinstance(table[key], str) or not table[key].strip()):
            what = _("{value} says nothing.", value=repr(table[key]))
            yield Problem(f"ready.{key}", what, _("Write a sentence."))
    yield from _place_problems(table)
    yield from _translation_problems(table)
    if "compare" in table and table["compare"] not in list(Compare):
        what = _("{value} is nothing to compare.", value=repr(table["compare"]))
        yield Problem("ready.compare", what, _("One of {choices}.", choices=", ".join(Compare)))


def _translation_problems(table: Mapping[str, Any]) -> Iterator[Problem]:
    for language in _TRANSLATIONS:
        texts = table.get(language, {})
        if not isinstance(texts, Mapping):
            yield Problem(f"ready.{language}", no_table(texts), write_as_table(f"ready.{language}"))
            continue
        for key, text in texts.items():
            field = f"ready.{language}.{key}"
            if key not in _TRANSLATED:
                yield Problem(field, _("It is no text of a ready plan."), suggestion(key, _TRANSLATED))
            elif not isinstance(text, str) or not text.strip():
                yield Problem(field, _("{value} says nothing.", value=repr(text)), _("Write a sentence."))


def _place_problems(table: Mapping[str, Any]) -> Iterator[Problem]:
    """Topic, rank and short form, which may be left out."""
    if not isinstance(table.get("topic", ""), str):
        what = _("{value} is no topic.", value=repr(table["topic"]))
        yield Problem("ready.topic", what, _("Write a word or two."))
    if isinstance(rank := table.get("rank", 0), bool) or not isinstance(rank, int):
        yield Problem("ready.rank", _("{value} is no rank.", value=repr(rank)), _("Write a whole number."))
    short = table.get("short", {})
    if not isinstance(short, Mapping):
        yield Problem("ready.short", no_table(short), write_as_table("ready.short"))
        return
    for key in short:
        if key not in _SHORTER:
            yield Problem(f"ready.short.{key}", _("It cannot be shortened."), suggestion(key, _SHORTER))
    factors = short.get("factors", {})
    if not isinstance(factors, Mapping) or not all(isinstance(kept, list) for kept in factors.values()):
        what = _("{value} is no table of levels.", value=repr(factors))
        yield Problem("ready.short.factors", what, _("Write factor = [labels]."))


def _left_open(plan: Mapping[str, Any], table: Mapping[str, Any]) -> Iterator[Problem]:
    """What the one who runs it chooses stands in no ready plan."""
    if not str(plan.get("description", "")).strip():
        yield Problem("description", _("It is empty."), _("Say what the plan finds out."))
    open_targets = {"installation"} | ({"access_method"} if table.get("compare") == Compare.BUILDS else set())
    for key in sorted({"agents", *open_targets} & set(plan)):
        yield _left_to_others(key)
    for target in sorted((open_targets | {"build", str(table.get("size"))}) & _varied(plan)):
        yield _left_to_others(f"factors.{target}")


def _left_to_others(field: str) -> Problem:
    return Problem(field, _("A ready plan leaves this to whoever runs it."), _("Leave it out."))


def _kind_problems(plan: Mapping[str, Any], kinds: Kinds) -> Iterator[Problem]:
    if str(plan.get("workload")) not in kinds.workloads:
        what = _("There is no workload {workload}.", workload=repr(plan.get("workload")))
        yield Problem("workload", what, suggestion(str(plan.get("workload")), sorted(kinds.workloads)))
    if _topology(plan) not in kinds.topologies:
        what = _("There is no topology {topology!r}.", topology=_topology(plan))
        yield Problem("topology", what, suggestion(_topology(plan), sorted(kinds.topologies)))


def _varied(plan: Mapping[str, Any]) -> set[str]:
    """Names and targets of the factors, as far as they are well-formed."""
    factors = plan.get("factors")
    varied: set[str] = set()
    for name, levels in factors.items() if isinstance(factors, Mapping) else ():
        varied.add(name)
        for level in levels if isinstance(levels, list) else ():
            if isinstance(level, Mapping) and isinstance(level.get("values"), Mapping):
                varied |= set(level["values"])
    return varied


def _unknown_size(workload: WorkloadSpec, table: Mapping[str, Any]) -> Iterator[Problem]:
    if "size" in table:
        names = ", ".join(parameter.name for parameter in workload.parameters)
        what = _("The workload has no parameter {parameter}.", parameter=repr(table["size"]))
        yield Problem("ready.size", what, _("It has {parameters}.", parameters=names))


def _size_problems(size: Parameter, table: Mapping[str, Any], plan: Mapping[str, Any]) -> Iterator[Problem]:
    if size.kind not in (Kind.INTEGER, Kind.NUMBER):
        what = _("{parameter} is no number.", parameter=size.name)
        yield Problem("ready.size", what, _("Name a parameter that scales the experiment."))
        return
    if not isinstance(plan.get("parameters", {}), Mapping):
        yield Problem("parameters", no_table(plan["parameters"]), write_as_table("parameters"))
    ends = [table[key] for key in ("laptop", "report") if key in table]
    for key in ("laptop", "report"):
        try:
            size.check(table.get(key, size.default))
        except ValueError as error:
            yield Problem(f"ready.{key}", _("{fault}.", fault=error.args[0]), size.help)
            return
    if len(ends) == 2 and ends[0] > ends[1]:
        what = _("{laptop} is more than the report's {report}.", laptop=ends[0], report=ends[1])
        yield Problem("ready.laptop", what, _("The laptop's comes first."))


def _level(build: Build) -> dict[str, Any]:
    return {
        "label": build.label,
        "values": {"installation": build.installation, "access_method": build.access_method},
    }
