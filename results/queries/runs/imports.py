"""Imported results: who imported which files of which program, and the runs that hold them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import date, datetime
from typing import Any

from results import sql
from results.domain.messages import gettext_lazy as _
from results.queries.shared.ids import NotFound


@dataclass(frozen=True)
class ImportRow:
    """One import.

    program: whose output it is, as its authors write it.
    note: what the user wrote: machine, settings, who measured.
    measured_on: as the user says; None where nothing was said.
    files: name, sha256 and size_bytes of each.
    headline: the metric that stands for a trial in lists."""

    slug: str
    name: str
    program: str
    note: str
    measured_on: date | None
    imported_at: datetime
    imported_by: str
    run_id: int
    standing: str
    workload: str
    headline: str
    trials: int
    configurations: int
    files: tuple[Mapping[str, Any], ...]


@dataclass(frozen=True)
class ImportedTrialRow:
    """A trial of an import.

    position: its place in the import, from 0.
    files: names of those that it was read of.
    facts: what they state besides.
    value: of the headline; None where it was not measured."""

    id: int
    position: int
    configuration: str
    source: str
    files: tuple[str, ...]
    facts: Mapping[str, str]
    unit: str
    value: float | None


def list_imports(
    *, before_run: int | None = None, slugs: Sequence[str] | None = None, limit: int | None = None
) -> list[ImportRow]:
    """Return imports, the newest first. One query.

    before_run: run of the last one of the page before.
    slugs: only these.
    limit: None for all."""
    chosen = None if slugs is None else list(slugs)
    return _imports(before_run=before_run, slugs=chosen, limit=limit)


def import_of(slug: str) -> ImportRow:
    """Return one import. One query. Raises NotFound."""
    rows = _imports(slugs=[slug])
    if not rows:
        raise NotFound(_("There is no import {slug!r}.", slug=slug))
    return rows[0]


@dataclass(frozen=True)
class ImportedFileRow:
    """A file of an import, and the first trial that was read of it."""

    name: str
    trial_id: int


def imported_trials(run_id: int, after: int = -1, limit: int | None = None) -> list[ImportedTrialRow]:
    """Return trials of an import in the order of its files. One query.

    after: position of the last one of the page before.
    limit: None for all."""
    page = {"run_id": run_id, "after": after, "limit": limit}
    return sql.rows(ImportedTrialRow, sql.load(__file__, "imported_trials"), page)


def imported_files(run_id: int) -> list[ImportedFileRow]:
    """Return the files of which trials of an import were read. One query."""
    return sql.rows(ImportedFileRow, sql.load(__file__, "imported_files"), {"run_id": run_id})


def _imports(**chosen: Any) -> list[ImportRow]:
    nothing = {"before_run": None, "slugs": None, "limit": None}
    return sql.rows(ImportRow, sql.load(__file__), nothing | chosen)
