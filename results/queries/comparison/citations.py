"""Comparisons as they were cited, and whether the warehouse would say the same today."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any

from results import sql
from results.domain.messages import gettext_lazy as _
from results.domain.statistics.verdict import Kind
from results.queries.comparison.cells import Comparison, Key
from results.queries.comparison.dataclass_values import from_json, to_json
from results.queries.shared.ids import NotFound

HASH_DIGITS = 16


@dataclass(frozen=True)
class SnapshotRow:
    """A citation without its content.

    query: as in the address of the comparison, complete.
    rule: the verdicts' version.
    runs: ids, as text.
    references: names of the lines of it that are saved as references."""

    hash: str
    query: str
    rule: int
    created_by: str
    created_at: datetime
    runs: tuple[str, ...]
    trials: int
    metric: str
    references: tuple[str, ...]


@dataclass(frozen=True)
class Citation:
    row: SnapshotRow
    comparison: Comparison


@dataclass(frozen=True)
class ChangedValue:
    """A trial's value in one cell as cited, and as read again since."""

    trial_id: int
    cited: float
    today: float
    panel: str = ""
    x: str = ""
    series: str = ""


@dataclass(frozen=True)
class ChangedVerdict:
    """A cell with another verdict today."""

    panel: str
    x: str
    series: str
    cited: Kind
    today: Kind


@dataclass(frozen=True)
class Standing:
    """What the warehouse would say otherwise today.

    gone: cited trials that are deleted, or of which a cited value does not count any more.
    changed: values that were read again as others.
    added: trials that the same question finds besides, or of which it finds another value.
    cells: cited ones (panel, x, series) that are not there.
    rule: today's.
    why: where the question cannot be asked any more."""

    gone: tuple[int, ...] = ()
    changed: tuple[ChangedValue, ...] = ()
    added: tuple[int, ...] = ()
    turned: tuple[ChangedVerdict, ...] = ()
    rule: int = 0
    why: str = ""
    cells: tuple[Key, ...] = ()

    @property
    def unchanged(self) -> bool:
        return not (self.gone or self.changed or self.added or self.turned or self.why or self.cells)


def list_snapshots(
    *, before: str = "", hashes: Sequence[str] | None = None, limit: int | None = None
) -> list[SnapshotRow]:
    """Newest first. One query.

    before: hash of the last one of the page before; what is no citation's begins with the newest.
    hashes: only these.
    limit: None for all."""
    chosen = None if hashes is None else list(hashes)
    return sql.rows(SnapshotRow, sql.load(__file__), {"before": before, "hashes": chosen, "limit": limit})


def cited(hash_: str) -> Citation:
    """Two queries. Raises NotFound."""
    rows = list_snapshots(hashes=[hash_])
    if not rows:
        raise NotFound(_("There is no citation {hash}.", hash=hash_))
    text = "SELECT content::json AS content FROM results_snapshot WHERE hash = %(hash)s"
    (stored,) = sql.rows(_Content, text, {"hash": hash_})
    return Citation(rows[0], from_json(Comparison, stored.content))


def content_of(comparison: Comparison) -> dict[str, Any]:
    """What is kept of a comparison: all but what could be chosen besides. A metric that is made of the one compared
    stays, since its parts are drawn as such."""
    whole = tuple(choice for choice in comparison.metrics if choice.parts == comparison.metric.name != choice.name)
    bare = replace(comparison, first=comparison.selection, facets=(), metrics=whole, references=())
    content: dict[str, Any] = to_json(bare)
    return content


def attempts_of(comparison: Comparison) -> list[int]:
    return sorted({replicate.attempt_id for point in comparison.points for replicate in point.values})


def hash_of(query: str, comparison: Comparison) -> str:
    """The same question, attempts, rule and answer have the same hash."""
    parts = {
        "query": query,
        "attempts": attempts_of(comparison),
        "rule": comparison.rule,
        "content": content_of(comparison),
    }
    text = json.dumps(parts, sort_keys=True, separators=(",", ":"), ensure_ascii=False)
    return hashlib.sha256(text.encode()).hexdigest()[:HASH_DIGITS]


def standing(then: Comparison, today: Comparison) -> Standing:
    """Of a citation, given the answer to the same question today. Pure."""
    old, new = _values(then), _values(today)
    there = {point.key for point in today.points}
    return Standing(
        gone=tuple(dict.fromkeys(trial for cell, trial in old if (cell, trial) not in new)),
        changed=tuple(
            ChangedValue(trial, value, new[cell, trial], *cell)
            for (cell, trial), value in old.items()
            if new.get((cell, trial), value) != value
        ),
        added=tuple(sorted({trial for cell, trial in new if (cell, trial) not in old})),
        turned=tuple(_turned(then, today)),
        rule=today.rule,
        cells=tuple(point.key for point in then.points if point.key not in there),
    )


def _values(comparison: Comparison) -> dict[tuple[Key, int], float]:
    """(cell, trial) → its value: a trial has one for each label or node that cells are told apart by."""
    return {(point.key, r.trial_id): r.value for point in comparison.points for r in point.values}


def _turned(then: Comparison, today: Comparison) -> list[ChangedVerdict]:
    verdicts = _verdicts(today)
    return [
        ChangedVerdict(*key, kind, verdicts[key])
        for key, kind in _verdicts(then).items()
        if key in verdicts and verdicts[key] != kind
    ]


def _verdicts(comparison: Comparison) -> dict[Key, Kind]:
    return {point.key: point.verdict.kind for point in comparison.points if point.verdict}


@dataclass(frozen=True)
class _Content:
    content: Any
