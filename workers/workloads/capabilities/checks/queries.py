"""Declarative partitioning with pruning, parallel query."""

from __future__ import annotations

from dataclasses import replace

from results.domain.errors import CommandError
from results.domain.messages import gettext_lazy as _
from workers.workloads.capabilities import query_plan
from workers.workloads.capabilities.capability import Capability, Group
from workers.workloads.capabilities.check_context import CheckContext
from workers.workloads.capabilities.contents import items
from workers.workloads.capabilities.outcome import NotTried
from workers.workloads.capabilities.refusal import REFUSED, read
from workers.workloads.capabilities.sections import sections

SQL = sections(__file__)
_CHECK_VIOLATION = "23514"
_FIRST_DEBUG_PARALLEL_QUERY = 160000
_TRIES = 5


async def partitioning(context: CheckContext) -> None:
    db, rows = context.database, items(context.row_count)
    await db.run(SQL["partitions"], rows=context.row_count)
    await context.expect_table(rows.values(), _("all partitions"), table="measured")
    await context.expect_table(
        (row for i, row in rows.items() if 200 <= i < 400), _("the second partition"), table="measured_2"
    )
    query = SQL["partitions: one"]
    read = query_plan.relations(await db.plan(query))
    if read != ["measured_2"]:
        words = _("A query for one partition reads {tables}.", tables=", ".join(read))
        context.report_not_chosen(words, f"EXPLAIN {query}")
    meant = (row for i, row in rows.items() if 210 <= i <= 290)
    context.expect_rows(_("one partition's query"), meant, await db.lines(query), statement=query)
    await db.run(SQL["partitions: move"])
    rows = {i: replace(row, id=i + 1_000_000) if 150 <= i <= 160 else row for i, row in rows.items()}
    last = [row for row in rows.values() if row.id >= 400]
    await context.expect_table(last, _("the last partition, after rows moved into it"), table="measured_3")
    await context.expect_refusal(SQL["partitions: no place"], _CHECK_VIOLATION, _("a row that no partition takes"))
    await db.run(SQL["partitions: detach"])
    await context.expect_table(
        (row for row in rows.values() if row.id >= 200), _("without the first partition"), table="measured"
    )
    await db.run(SQL["partitions: attach"])
    await context.expect_table(rows.values(), _("with the first partition again"), table="measured")


async def parallel_query(context: CheckContext) -> None:
    """The leader takes no part, so whatever is answered was read by workers."""
    await context.fill()
    db, rows = context.database, items(context.row_count * 10)
    await db.run(SQL["parallel: more rows"], rows=context.row_count)
    before = await _settings(context)
    if before is not None:
        gather = await _launched(context, before)
        launched, planned = gather["Workers Launched"], gather["Workers Planned"]
        context.remark(_("{launched} of {planned} workers.", launched=launched, planned=planned))
    before = before or SQL["parallel: settings"]
    query, meant = SQL["parallel: rows"], (row for row in rows.values() if row.part == 3)
    context.expect_rows(_("a part of the rows"), meant, await db.lines(before + query), statement=before + query)
    parts = [[row.id for row in rows.values() if row.part == part] for part in range(10)]
    sums = [f"{part} {len(ids)} {sum(ids)}" for part, ids in enumerate(parts)]
    query = SQL["parallel: sum"]
    context.expect_rows(_("counts and sums"), sums, await db.lines(before + query), statement=before + query)
    await context.expect_table(rows.values())


async def _settings(context: CheckContext) -> str | None:
    """The settings under which the planner lets workers share the scan: where they cost nothing, else where the table
    asks for them, else where they are forced. None, and it chose not to, where nothing helps."""
    db, query, settings = context.database, SQL["parallel: rows"], SQL["parallel: settings"]
    plan = await db.plan(query, before=settings)
    if query_plan.shares_a_scan(plan):
        return settings
    try:
        await db.run(SQL["parallel: of the table"])
    except CommandError as error:
        if error.exit_status != REFUSED:
            raise
        message = read(error.stderr).message
        context.remark(_("The table takes no parallel_workers: {message}", message=message))
    if query_plan.shares_a_scan(await db.plan(query, before=settings)):
        context.remark(_("Only where the table itself asks for parallel_workers."))
        return settings
    by_force = "parallel: forced" if context.version >= _FIRST_DEBUG_PARALLEL_QUERY else "parallel: forced before 16"
    forced = settings + SQL[by_force]
    plan = await db.plan(query, before=forced)
    if query_plan.shares_a_scan(plan):
        context.remark(_("Only where a parallel plan is forced."))
        return forced
    words = _(
        "The planner has no workers share the scan, though they cost nothing, the table asks for them and they are "
        "forced: {plan}.",
        plan=query_plan.shape(plan),
    )
    statement = f"{SQL['parallel: of the table']}{forced}EXPLAIN {query}"
    context.report_not_chosen(words, statement)
    return None


async def _launched(context: CheckContext, before: str) -> query_plan.Node:
    """The Gather node of a run that had workers. A server may have none free for a moment."""
    for _attempt in range(_TRIES):
        plan = await context.database.plan(SQL["parallel: rows"], before=before, analyze=True)
        gather = next(node for node in plan if "Workers Planned" in node)
        if gather["Workers Launched"] > 0:
            return gather
    planned = gather["Workers Planned"]
    raise NotTried(
        _("The server started none of {planned} planned workers, {tries} times over.", planned=planned, tries=_TRIES)
    )


CHECKS = (
    Capability("partitioning", _("Declarative partitioning with pruning"), Group.QUERIES, partitioning),
    Capability("parallel_query", _("Parallel query"), Group.QUERIES, parallel_query),
)
