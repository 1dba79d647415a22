"""Declarative partitioning with pruning, parallel query."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from workers.workloads.capabilities.capability import Capability, Group
from workers.workloads.capabilities.contents import items
from workers.workloads.capabilities.lab import Lab
from workers.workloads.capabilities.outcome import Differs, NotTried
from workers.workloads.capabilities.sections import sections

SQL = sections(__file__)
_CHECK_VIOLATION = "23514"
_TRIES = 5


async def partitioning(lab: Lab) -> None:
    db, rows = lab.database, items(lab.row_count)
    await db.run(SQL["partitions"], rows=lab.row_count)
    await lab.holds(rows.values(), "all partitions", table="measured")
    await lab.holds((row for i, row in rows.items() if 200 <= i < 400), "the second partition", table="measured_2")
    plan = await db.plan(SQL["partitions: one"])
    read = sorted({str(node["Relation Name"]) for node in plan if "Relation Name" in node})
    if read != ["measured_2"]:
        raise Differs(f"A query for one partition reads {', '.join(read)}.")
    lab.same(
        "one partition's query", (r for i, r in rows.items() if 210 <= i <= 290), await db.lines(SQL["partitions: one"])
    )
    await db.run(SQL["partitions: move"])
    rows = {i: replace(row, id=i + 1_000_000) if 150 <= i <= 160 else row for i, row in rows.items()}
    last = [row for row in rows.values() if row.id >= 400]
    await lab.holds(last, "the last partition, after rows moved into it", table="measured_3")
    await db.refuses(SQL["partitions: no place"], _CHECK_VIOLATION, "a row that no partition takes")
    await db.run(SQL["partitions: detach"])
    await lab.holds((row for row in rows.values() if row.id >= 200), "without the first partition", table="measured")
    await db.run(SQL["partitions: attach"])
    await lab.holds(rows.values(), "with the first partition again", table="measured")


async def parallel_query(lab: Lab) -> None:
    """The leader takes no part, so whatever is answered was read by workers."""
    await lab.fill()
    db, rows = lab.database, items(lab.row_count * 10)
    await db.run(SQL["parallel: more rows"], rows=lab.row_count)
    gather = await _launched(lab)
    lab.notes(f"{gather['Workers Launched']} of {gather['Workers Planned']} workers.")
    before = SQL["parallel: settings"]
    lab.same(
        "a part of the rows", (r for r in rows.values() if r.part == 3), await db.lines(before + SQL["parallel: rows"])
    )
    parts = [[row.id for row in rows.values() if row.part == part] for part in range(10)]
    sums = [f"{part} {len(ids)} {sum(ids)}" for part, ids in enumerate(parts)]
    lab.same("counts and sums", sums, await db.lines(before + SQL["parallel: sum"]))
    await lab.holds(rows.values())


async def _launched(lab: Lab) -> dict[str, Any]:
    """The Gather node of a run that had workers. A server may have none free for a moment."""
    for _ in range(_TRIES):
        plan = await lab.database.plan(SQL["parallel: rows"], before=SQL["parallel: settings"], analyze=True)
        gather = next((node for node in plan if "Workers Planned" in node), {})
        if not gather:
            raise Differs(
                f"The plan has no workers, though they cost nothing: {' '.join(n['Node Type'] for n in plan)}."
            )
        if gather["Workers Launched"] > 0:
            return gather
    raise NotTried(f"The server started none of {gather['Workers Planned']} planned workers, {_TRIES} times over.")


CHECKS = (
    Capability("partitioning", "Declarative partitioning with pruning", Group.QUERIES, partitioning),
    Capability("parallel_query", "Parallel query", Group.QUERIES, parallel_query),
)
