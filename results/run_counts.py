"""Whether the counts of runs, which triggers keep, are right; and how they become so where the triggers did not run, as
with `session_replication_role = replica`, TRUNCATE, or a copy of the tables by hand."""

from __future__ import annotations

from dataclasses import dataclass, fields

from django.db import transaction

from results import sql


@dataclass(frozen=True)
class _Kind:
    """Runs that are alike in all that a RunCount names.

    runs: how many more there are than are counted."""

    plan_id: int
    name: str
    workload: str
    standing: str
    archived: bool
    published: bool
    tags: tuple[str, ...]
    agents: tuple[int, ...]
    runs: int


def miscounted() -> int:
    """Return for how many kinds of runs the counts are wrong. Reads all runs."""
    return len(sql.rows(_Kind, sql.load(__file__)))


@transaction.atomic
def mend() -> int:
    """Make the counts right; return for how many kinds they were wrong. Meanwhile runs can be read, and whoever changes
    one waits."""
    sql.execute("LOCK TABLE results_run IN SHARE ROW EXCLUSIVE MODE")
    columns = ", ".join(field.name for field in fields(_Kind))
    return sql.execute(f"INSERT INTO results_runcount ({columns}) {sql.load(__file__)}")
