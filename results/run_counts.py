"""Whether the counts of runs, which triggers keep, are right; and how they become so where the triggers did not fire,
as with `session_replication_role = replica` or TRUNCATE, or fired while `results_runcount` was loaded as well."""

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
    wrong = miscounted()
    if wrong:
        sql.execute("DELETE FROM results_runcount")  # then all counts are too small, by what they have to be
        columns = ", ".join(field.name for field in fields(_Kind))
        sql.execute(f"INSERT INTO results_runcount ({columns}) {sql.load(__file__)}")
    return wrong
