"""What the ready views share: which runs a view is made of, and which dimensions tell its configurations apart."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

from results import sql
from results.domain.kinds.parameter_names import parameter_level
from results.domain.messages import gettext_lazy as _
from results.domain.messages import linked
from results.queries.comparison.compare import Point
from results.queries.shared.composites import Parts
from results.queries.shared.configurations import ConfigurationRow
from results.queries.shared.facets import Facet
from results.queries.shared.ordering import DEFAULT
from results.queries.shared.run_filter import RunFilter, RunSearch, conditioned, parameters
from results.queries.shared.selection import JOINT, LABEL, PUBLISHED

NEWEST = 200  # measured runs that are looked at; published ones are few and all are

# say which server or which execution it was, or follow from other dimensions
_NOT_MATCHED = frozenset({"run", "version", "major", "installation", "threads", "collectors", "workload"})


@dataclass(frozen=True)
class Source:
    """A run with counted trials. versions, topologies: of its configurations."""

    run_id: int
    workload: str
    headline: str
    published: bool
    versions: tuple[str, ...]
    topologies: tuple[str, ...]


class _Run(NamedTuple):
    """versions, topologies: empty of a run that is known."""

    id: int
    created_us: int
    workload: str
    headline: str
    published: bool
    versions: list[str]
    topologies: list[str]


class _Made(NamedTuple):
    """What the configurations of a run have, which are made with it and never change."""

    created_us: int
    versions: tuple[str, ...]
    topologies: tuple[str, ...]


_known: dict[int, _Made] = {}  # by run
_MOST_KNOWN = 1_000


def sources(chosen: RunFilter, workloads: Sequence[str] = (), *, published: bool = True) -> list[Source]:
    """The newest kept runs that the filter lets through, of these workloads or of all, and all published ones among
    them or none, newest first; see `count_runs` for which are left out. One query."""
    own = {"newest": NEWEST, "published": published}
    search = parameters(RunSearch(chosen, workloads=tuple(workloads))) | own
    every = []
    for row, made in _with_made(search):
        if made.versions:
            every.append(Source(row.id, row.workload, row.headline, row.published, made.versions, made.topologies))
    return every


def _with_made(search: Mapping[str, Any]) -> list[tuple[_Run, _Made]]:
    """Return the runs of a search, and what their configurations have. One query."""
    known = dict(_known)  # other threads add to it
    rows = sql.tuples(_Run, conditioned(sql.load(__file__)), {**search, "known": sql.array(known)})
    for row in rows:
        if row.id not in known:
            known[row.id] = _Made(row.created_us, tuple(row.versions), tuple(row.topologies))
        elif known[row.id].created_us != row.created_us:  # another run took its number: this is another warehouse
            _known.clear()
            return _with_made(search)
    if len(known) > _MOST_KNOWN:
        _known.clear()
    _known.update((row.id, known[row.id]) for row in rows)
    return [(row, known[row.id]) for row in rows]


def matched_by(facets: Sequence[Facet], parts: Parts, *others: str) -> tuple[str, ...]:
    """The dimensions by which configurations are matched: those that vary, but for the server's and `others`; a factor
    that sets several things at once by these."""
    left_out = _NOT_MATCHED | set(others) | parts.keys()
    return tuple(sorted(facet.name for facet in facets if facet.varies and facet.name not in left_out))


def fewest_that_tell_apart(rows: Sequence[ConfigurationRow], names: Sequence[str]) -> tuple[str, ...]:
    """Return as few of these dimensions as tell the same configurations apart that all of them do, those first that
    tell most apart, and of these the ones with plain names: what follows from the number of nodes is not named."""
    levels = {name: [row.level(name) for row in rows] for name in names}
    kept: list[str] = []
    while _distinct(levels, kept) < _distinct(levels, names):
        left = [name for name in names if name not in kept]
        kept.append(max(left, key=lambda name: (_distinct(levels, [*kept, name]), "." not in name)))
    return tuple(sorted(kept))


def _distinct(levels: Mapping[str, Sequence[str]], names: Sequence[str]) -> int:
    return len(set(zip(*(levels[name] for name in names), strict=True)))


def level_name(names: Sequence[str], text: str, whole: str = "") -> str:
    """A joint level in words: ('clients', 'scale'), '4 · 10' → 'clients 4 · scale 10'. What is not set is left out.

    whole: the label that stands for all of a metric, as a message
    """
    parts = text.split(JOINT)
    if len(parts) != len(names):
        return text
    words = [
        _level_in_words(name, whole if name == LABEL and part == whole else part)
        for name, part in zip(names, parts, strict=True)
        if part not in (DEFAULT, "") and name != PUBLISHED
    ]
    return linked(JOINT, words) or _("the only configuration")


def _level_in_words(name: str, level: str) -> str:
    if name in (LABEL, "access_method"):
        return level
    return parameter_level(name.removeprefix("setting."), level)


def trial_ids(points: Sequence[Point]) -> tuple[int, ...]:
    return tuple(dict.fromkeys(one.trial_id for point in points for one in point.values))
