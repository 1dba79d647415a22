"""VACUUM, VACUUM FULL, ANALYZE, CLUSTER, REINDEX, TRUNCATE: contents stay, and each does what it is for."""

from __future__ import annotations

from dataclasses import replace

from results.domain.errors import CommandError
from results.domain.messages import gettext_lazy as _
from workers.workloads.capabilities.capability import Capability, Group
from workers.workloads.capabilities.check_context import CheckContext
from workers.workloads.capabilities.contents import Item, word
from workers.workloads.capabilities.outcome import Differs
from workers.workloads.capabilities.refusal import read
from workers.workloads.capabilities.sections import sections

SQL = sections(__file__)
_FIRST_REINDEX_CONCURRENTLY = 120000
_REUSED = 1.25  # after as many rows as were deleted came back, a table may be this much larger
_SHRUNK = 0.5  # a fifth of the rows is left
_NEAR = 0.1


async def vacuum(context: CheckContext) -> None:
    rows, db = await context.fill(context.many), context.database
    await db.run(SQL["index"] + SQL["vacuum: halve"])
    await context.expect_table((row for row in rows.values() if row.id % 2 == 0), _("after DELETE and VACUUM"))
    before = await db.number(SQL["size"])
    await db.run(SQL["vacuum: refill"], rows=context.many)
    after = await db.number(SQL["size"])
    await context.expect_table(rows.values(), _("after the rows came back"))
    await context.expect_by_index(SQL["some"], _some(rows), index="items_id")
    if after > _REUSED * before:
        words = _(
            "The space of deleted rows is not used again: {before:g} bytes became {after:g}.",
            before=before,
            after=after,
        )
        context.report_missing(words, statement=SQL["vacuum: halve"])


async def vacuum_full(context: CheckContext) -> None:
    rows, db = await context.fill(context.many), context.database
    await db.run(SQL["index"])
    before = await db.number(SQL["size"])
    await db.run(SQL["vacuum full"])
    left = {row.id: row for row in rows.values() if row.id % 5 == 0}
    await context.expect_table(left.values(), _("the fifth that is left"))
    await context.expect_by_index(SQL["some"], _some(left), index="items_id")
    after = await db.number(SQL["size"])
    if after > _SHRUNK * before:
        words = _("With a fifth of the rows, {before:g} bytes became {after:g}.", before=before, after=after)
        context.report_missing(words, statement=SQL["vacuum full"])


async def analyze(context: CheckContext) -> None:
    rows, db = await context.fill(), context.database
    await db.run(SQL["analyze"])
    lines = await db.lines(SQL["analyze: columns"], rows=context.row_count)
    statistics = {name: (float(nulls), float(distinct)) for name, nulls, distinct in map(str.split, lines)}
    if not statistics:
        raise Differs(_("ANALYZE left no statistics in pg_stats."), statement=SQL["analyze: columns"])
    for column, distinct in {"id": context.row_count, "part": 10, "word": context.row_count}.items():
        if column not in statistics or statistics[column][0] or not _near(statistics[column][1], distinct):
            words = _(
                "Of {column}, with {distinct} distinct values and no null, pg_stats says {statistics}.",
                column=column,
                distinct=distinct,
                statistics=str(statistics.get(column)),
            )
            context.report_missing(words, statement=SQL["analyze: columns"])
    counted = await db.number(SQL["analyze: rows"])
    if not _near(counted, context.row_count):
        context.report_missing(_("pg_class says {rows:g} rows.", rows=counted), statement=SQL["analyze: rows"])
    await context.expect_table(rows.values())


async def cluster(context: CheckContext) -> None:
    rows, db = await context.fill(), context.database
    await db.run(SQL["index"] + SQL["cluster"])
    rows |= {row.id: replace(row, part=row.part + 1) for row in rows.values() if row.id % 3 == 0}
    await context.expect_table(rows.values())
    await context.expect_by_index(SQL["some"], _some(rows), index="items_id")
    words = await db.lines_by_scan(SQL["words"])
    if words != sorted(words):
        context.report_missing(_("The rows do not lie in the order of the index."), statement=SQL["cluster"])


async def reindex(context: CheckContext) -> None:
    rows, db = await context.fill(), context.database
    await db.run(SQL["index"] + SQL["reindex: prepare"])
    rows = {
        row.id: replace(row, word=word(row.word)) if row.id % 4 == 0 else row for row in rows.values() if row.id % 6
    }
    before = await db.run(SQL["reindex: file"])
    await db.run(SQL["reindex"])
    if await db.run(SQL["reindex: file"]) == before:
        raise Differs(_("REINDEX did not make the index anew: its file is the same."), statement=SQL["reindex"])
    await context.expect_by_index(SQL["some"], _some(rows), index="items_id")
    if context.version >= _FIRST_REINDEX_CONCURRENTLY:
        try:
            await db.run(SQL["reindex: at once"])
            await context.expect_by_index(
                SQL["some"], _some(rows), index="items_id", what=_("after REINDEX CONCURRENTLY")
            )
        except CommandError as error:
            refusal = read(error.stderr)
            context.report_missing(_("REINDEX CONCURRENTLY: {message}", message=refusal.message), refusal)
    await context.expect_table(rows.values())


async def truncate(context: CheckContext) -> None:
    rows, db = await context.fill(context.many), context.database
    before = await db.number(SQL["size"])
    script = SQL["truncate: taken back"]
    context.expect_value(_("rows seen in the transaction"), 0, (await db.run(script)).strip(), statement=script)
    await context.expect_table(rows.values(), _("after TRUNCATE was rolled back"))
    await db.run(SQL["truncate"])
    await context.expect_table((), _("after TRUNCATE"))
    after = await db.number(SQL["size"])
    if after > _SHRUNK * before:
        words = _("The empty table takes {after:g} bytes of {before:g}.", after=after, before=before)
        context.report_missing(words, statement=SQL["truncate"])
    await db.run(SQL["truncate: refill"], rows=context.many)
    await context.expect_table(rows.values(), _("after the rows came back"))


def _some(rows: dict[int, Item]) -> list[Item]:
    return [row for row in rows.values() if 100 <= row.id <= 300]


def _near(actual: float, expected: float) -> bool:
    return abs(actual - expected) <= _NEAR * expected


CHECKS = (
    Capability("vacuum", "VACUUM", Group.MAINTENANCE, vacuum),
    Capability("vacuum_full", "VACUUM FULL", Group.MAINTENANCE, vacuum_full),
    Capability("analyze", "ANALYZE", Group.MAINTENANCE, analyze),
    Capability("cluster", "CLUSTER", Group.MAINTENANCE, cluster),
    Capability("reindex", "REINDEX", Group.MAINTENANCE, reindex),
    Capability("truncate", "TRUNCATE", Group.MAINTENANCE, truncate),
)
