"""The form of a host factor. It makes the same mapping as the TOML; `kinds.host_factors.factor_of` checks it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from django.http import QueryDict

from results.domain.errors import DefinitionError, Problem
from results.domain.kinds.host_factors import HostFactor, HostLevel, factor_of
from results.domain.messages import gettext_lazy as _
from results.domain.messages import localized

SPARE = 2
_LEVEL = ("label", "apply", "check", "expected", "revert")


@dataclass(frozen=True)
class LevelRow:
    """One level as typed.

    problem: what is wrong with it."""

    label: str = ""
    apply: str = ""
    check: str = ""
    expected: str = ""
    revert: str = ""
    problem: str = ""


@dataclass(frozen=True)
class HostForm:
    """What the page shows.

    roles: with blanks between.
    problems: field → what is wrong with it."""

    name: str = ""
    help: str = ""
    show: str = ""
    revert: str = ""
    roles: str = ""
    needs_stopped_servers: bool = False
    keeps_data_apart: bool = False
    levels: tuple[LevelRow, ...] = (LevelRow(),) * SPARE
    problems: Mapping[str, str] = field(default_factory=dict)


def described(factor: HostFactor) -> HostForm:
    """A definition → the form, with an empty level to fill."""
    return HostForm(
        name=factor.name,
        help=factor.help,
        show=factor.show,
        revert=factor.revert,
        roles=" ".join(factor.roles),
        needs_stopped_servers=factor.needs_stopped_servers,
        keeps_data_apart=factor.keeps_data_apart,
        levels=(*(_row(level) for level in factor.levels), LevelRow()),
    )


def factor_posted(posted: QueryDict, name: str = "") -> HostFactor:
    """What was posted → the factor. Raises DefinitionError.

    name: of the one that is changed, '' for a new one."""
    rows = [row for row in _posted_levels(posted) if any(vars(row).values())]
    problems = list(_same_labels(rows))
    mapping: dict[str, Any] = {
        "help": _line(posted, "help"),
        "show": _text(posted, "show"),
        "revert": _text(posted, "revert"),
        "roles": _line(posted, "roles").replace(",", " ").split(),
        "needs_stopped_servers": "needs_stopped_servers" in posted,
        "keeps_data_apart": "keeps_data_apart" in posted,
        "levels": {row.label: _level_mapping(row) for row in rows},
    }
    try:
        factor = factor_of(name or _line(posted, "name"), mapping)
    except DefinitionError as error:
        problems += error.problems
    if problems:
        raise DefinitionError(problems)
    return factor


def _same_labels(rows: Iterable[LevelRow]) -> Iterator[Problem]:
    counts = Counter(row.label for row in rows)
    for label in sorted(label for label, count in counts.items() if count > 1):
        yield Problem(f"levels.{label}", _("Two levels are called {label}.", label=repr(label)), _("Rename one."))


def _level_mapping(row: LevelRow) -> dict[str, str]:
    """A level as the TOML has it, below its label: what is empty is left out."""
    return {key: text for key in _LEVEL[1:] if (text := getattr(row, key))}


def refused(posted: QueryDict, error: DefinitionError) -> HostForm:
    """What was posted, with each problem beside its field."""
    rows = _posted_levels(posted)
    labels = [f"levels.{row.label}" for row in rows]
    own: dict[str, list[Problem]] = {}
    for problem in error.problems:
        if not _of_level(problem, labels):
            own.setdefault(problem.field, []).append(problem)
    return HostForm(
        name=_line(posted, "name"),
        help=_line(posted, "help"),
        show=_text(posted, "show"),
        revert=_text(posted, "revert"),
        roles=_line(posted, "roles"),
        needs_stopped_servers="needs_stopped_servers" in posted,
        keeps_data_apart="keeps_data_apart" in posted,
        levels=tuple(_refused_level(row, label, error) for row, label in zip(rows, labels, strict=True)),
        problems={name: _message(problems) for name, problems in own.items()},
    )


def _refused_level(row: LevelRow, label: str, error: DefinitionError) -> LevelRow:
    if not any(vars(row).values()):
        return row
    return replace(row, problem=_message(problem for problem in error.problems if _of_level(problem, [label])))


def _of_level(problem: Problem, labels: list[str]) -> bool:
    return any(problem.field == label or problem.field.startswith(f"{label}.") for label in labels)


def _message(problems: Iterable[Problem]) -> str:
    return " ".join(
        f"{_place(problem)}{localized(problem.what)} {localized(problem.todo)}".strip() for problem in problems
    )


def _place(problem: Problem) -> str:
    last = problem.field.rpartition(".")[2]
    return f"{last}: " if problem.field.startswith("levels.") and last in _LEVEL else ""


def _posted_levels(posted: QueryDict) -> list[LevelRow]:
    columns = [posted.getlist(f"level-{name}") for name in _LEVEL]
    return [LevelRow(*(text.replace("\r\n", "\n").strip() for text in texts)) for texts in zip(*columns, strict=False)]


def _row(level: HostLevel) -> LevelRow:
    return LevelRow(level.label, level.apply, level.check, level.expected, level.revert)


def _line(posted: QueryDict, name: str) -> str:
    return (posted.get(name) or "").strip()


def _text(posted: QueryDict, name: str) -> str:
    return _line(posted, name).replace("\r\n", "\n")
