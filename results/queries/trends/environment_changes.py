"""What changed around a series: the layers of the environment between neighbouring points."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any

from results import sql
from results.domain.environment.layers import KeyDifference, LayerKind, difference, flatten
from results.domain.environment.rules import COMPILED, TOLD_DEFAULTS, Cause, rule_of

MOST_STEPS = 100  # the newest
# what is told first, then every other kind; builds only where the version is not what is followed
_FIRST = (LayerKind.BUILD, LayerKind.KERNEL, LayerKind.HARDWARE, LayerKind.STORAGE, LayerKind.HOST)
_ORDER = {kind: number for number, kind in enumerate(dict.fromkeys((*_FIRST, *LayerKind)))}
_LONGEST = 60

_Use = tuple[str, str]  # role, kind of layer
_Contents = dict[_Use, dict[str, Any]]


@dataclass(frozen=True)
class Step:
    """Two neighbouring points of a line that ran in different environments (their hashes)."""

    line: str
    left: str
    right: str
    at: datetime
    trials: tuple[int, int]
    attempts: tuple[int, int]
    environments: tuple[str, str]


@dataclass(frozen=True)
class ChangedKey:
    """One key of a layer whose value differs, in words; '–' where a side lacks it."""

    kind: str
    key: str
    left: str
    right: str

    @property
    def text(self) -> str:
        return f"{self.kind.replace('_', ' ')}: {self.key} {self.left} → {self.right}"


@dataclass(frozen=True)
class EnvironmentChange:
    """What differs between two neighbouring levels of x, on the lines named. trials: one of each, to look further."""

    left: str
    right: str
    at: datetime
    left_trial: int
    right_trial: int
    lines: tuple[str, ...]
    keys: tuple[ChangedKey, ...]


def environment_changes(steps: Sequence[Step], *, builds: bool) -> list[EnvironmentChange]:
    """Return what changed, in the order of time; lines with the same change between the same levels are told together.
    One query, none where nothing differs.

    builds: tell other builds as well."""
    newest = sorted(steps, key=lambda step: step.at)[-MOST_STEPS:]
    attempts = sorted({attempt for step in newest for attempt in step.attempts})
    layers = _layers(attempts) if attempts else {}
    changes: dict[tuple[str, str, tuple[ChangedKey, ...]], EnvironmentChange] = {}
    known: dict[tuple[str, str], tuple[ChangedKey, ...]] = {}
    for step in newest:
        if step.environments not in known:
            left, right = (layers[attempt] for attempt in step.attempts)
            known[step.environments] = _changed(left, right, builds)
        if keys := known[step.environments]:
            change = (step.left, step.right, keys)
            first = changes.get(change) or EnvironmentChange(step.left, step.right, step.at, *step.trials, (), keys)
            changes[change] = replace(first, lines=(*first.lines, step.line))
    return list(changes.values())


@dataclass(frozen=True)
class _Layer:
    attempt: int
    node: str
    kind: str
    content: str | None


def _layers(attempts: Sequence[int]) -> dict[int, list[_Layer]]:
    layers: dict[int, list[_Layer]] = {attempt: [] for attempt in attempts}
    parameters = {"attempts": list(attempts), "count": len(attempts)}
    for layer in sql.rows(_Layer, sql.load(__file__), parameters):
        layers[layer.attempt].append(layer)
    return layers


def _changed(left: Sequence[_Layer], right: Sequence[_Layer], builds: bool) -> tuple[ChangedKey, ...]:
    """Each changed key once, though several roles share it; none that does no harm."""
    a, b = _by_use(left), _by_use(right)
    keys: dict[ChangedKey, None] = {}
    for node, kind in sorted(a.keys() | b.keys(), key=lambda use: (_ORDER[LayerKind(use[1])], use[0])):
        if kind == LayerKind.BUILD and not builds:
            continue
        for one in _differing((node, kind), a, b):
            keys[ChangedKey(kind, one.key, _short(one.left), _short(one.right))] = None
    return tuple(keys)


def _differing(use: _Use, left: _Contents, right: _Contents) -> Iterator[KeyDifference]:
    of_server = use[1] in (LayerKind.SETTINGS, LayerKind.DEFAULTS)
    differing = _in_force(use, left, right) if of_server else difference(left.get(use, {}), right.get(use, {}))
    for one in differing:
        rule = rule_of(use[0], LayerKind.SETTINGS if of_server else use[1], one.key)
        if rule is not None and rule.cause is Cause.HARMLESS:
            continue
        if one.key == "full_version" and _compiled(one.left) == _compiled(one.right):
            continue  # the version and the commit, of which another key and another axis tell
        yield one


def _in_force(use: _Use, left: _Contents, right: _Contents) -> Iterator[KeyDifference]:
    """Give of the settings those that were set on a side, of the defaults the others: as they were in force, so that
    what is set to the default of another version is no change. Another version brings other defaults: of these only
    what a comparison warns of as well. Defaults that a side has not recorded are no change."""
    node, kind = use
    recorded = all((node, LayerKind.DEFAULTS) in side for side in (left, right))
    base, other = (_Settings(node, side, recorded) for side in (left, right))
    chosen = base.chosen.keys() | other.chosen.keys()
    same_version = base.version == other.version
    for one in difference(base.in_force, other.in_force):
        in_force = same_version or one.key in TOLD_DEFAULTS or one.key in COMPILED
        if one.key in chosen if kind == LayerKind.SETTINGS else one.key not in chosen and in_force:
            yield one


class _Settings:
    """The settings of one server.

    defaults: whether to read its defaults as well."""

    def __init__(self, node: str, contents: _Contents, defaults: bool) -> None:
        self.chosen = flatten(contents.get((node, LayerKind.SETTINGS), {}))
        self.version = contents.get((node, LayerKind.BUILD), {}).get("version_num")
        self.in_force = (flatten(contents[node, LayerKind.DEFAULTS]) if defaults else {}) | self.chosen


def _by_use(layers: Sequence[_Layer]) -> _Contents:
    """A role may have several layers of a kind, such as tools."""
    contents: _Contents = {}
    for layer in layers:
        contents.setdefault((layer.node, layer.kind), {}).update(json.loads(layer.content or "{}"))
    return contents


def _compiled(full_version: Any) -> str:
    """'PostgreSQL 18.1-gabc on x86_64, compiled by gcc' → 'x86_64, compiled by gcc'."""
    return str(full_version).partition(" on ")[2]


def _short(value: Any) -> str:
    text = "–" if value is None else value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
    return text if len(text) <= _LONGEST else f"{text[: _LONGEST - 1]}…"
