"""Savepoints, snapshots, serializable isolation, row locks: sessions side by side, in a given order."""

from __future__ import annotations

from dataclasses import replace

from results.domain.messages import gettext_lazy as _
from workers.workloads.capabilities.capability import Capability, Group
from workers.workloads.capabilities.check_context import CheckContext
from workers.workloads.capabilities.contents import Item, word
from workers.workloads.capabilities.sections import sections
from workers.workloads.capabilities.sessions import Step

SQL = sections(__file__)
_SERIALIZATION_FAILURE = "40001"
_LOCK_NOT_AVAILABLE = "55P03"


async def savepoints(context: CheckContext) -> None:
    rows = await context.fill()
    await context.database.run(SQL["savepoints"])
    for i in range(1, 11):
        rows[i] = replace(rows[i], word="kept")
    rows[12] = replace(rows[12], part=50)
    rows[-2] = Item(-2, 2, "kept")
    for i in range(21, 121, 2):
        rows[i] = replace(rows[i], part=rows[i].part + 100)
    await context.expect_table(rows.values(), _("after ROLLBACK TO, RELEASE and subtransactions"))


async def snapshots(context: CheckContext) -> None:
    rows = await context.fill()
    answers = await context.run_interleaved(
        [
            Step("a", SQL["snapshots: begin"]),
            Step("b", SQL["snapshots: change"]),
            Step("a", SQL["snapshots: again"]),
        ]
    )
    seen, query = answers["a"].splitlines(), SQL["snapshots: again"]
    context.expect_rows(
        _("as the older transaction sees it"), [context.row_count, *rows.values()], seen, statement=query
    )
    rows = {i: _changed(row) for i, row in rows.items() if i % 5} | {-1: Item(-1, 1, "new")}
    await context.expect_table(rows.values(), _("as a new transaction sees it"))
    steps = [
        Step("a", SQL["snapshots: late update"]),
        Step("b", SQL["snapshots: first update"]),
        Step("a", SQL["snapshots: second update"]),
    ]
    await context.run_interleaved(steps, refused={"a": _SERIALIZATION_FAILURE})
    rows[1] = replace(rows[1], part=rows[1].part + 1)
    await context.expect_table(rows.values(), _("after the older transaction's update was refused"))


def _changed(row: Item) -> Item:
    if row.id % 2 == 0:
        row = replace(row, part=row.part + 1, word=word(row.word))
    return replace(row, word=word(row.word)) if row.id % 4 == 0 else row


async def serializable(context: CheckContext) -> None:
    """Two transactions that each read what the other writes: one of them must be refused."""
    rows = await context.fill()
    for kind in ("", "phantom "):
        steps = [
            Step("a", SQL[f"serializable: {kind}one"]),
            Step("b", SQL[f"serializable: {kind}two"]),
            Step("a", SQL["commit"]),
            Step("b", SQL["commit"]),
        ]
        await context.run_interleaved(steps, refused={"b": _SERIALIZATION_FAILURE})
    rows[1] = replace(rows[1], part=-100)
    rows[-1] = Item(-1, 8, "first")
    await context.expect_table(rows.values(), _("after write skew was refused twice"))


async def row_locks(context: CheckContext) -> None:
    """a locks row 1 against all, b shares row 2, c tries what is left; then a locks row 4 but for its key."""
    rows = await context.fill()
    answers = await context.run_interleaved(
        [
            Step("a", SQL["locks: update"]),
            Step("b", SQL["locks: share"]),
            Step("c", SQL["locks: skip"] + SQL["locks: share too"] + SQL["locks: nowait"]),
            Step("a", SQL["locks: no key update"]),
            Step("c", SQL["locks: key share"] + SQL["locks: nowait key"]),
            Step("a", SQL["commit"]),
            Step("b", SQL["commit"]),
        ]
    )
    expected = ["3", "2", _LOCK_NOT_AVAILABLE, _LOCK_NOT_AVAILABLE, "4", _LOCK_NOT_AVAILABLE]
    nowait = SQL["locks: nowait"] + SQL["locks: nowait key"]
    context.expect_answers(_("beside other sessions' locks"), expected, answers["c"].split(), statement=nowait)
    for late in ("locks: wait and add", "locks: wait and find none"):
        steps = [Step("a", SQL["locks: add"]), Step("b", SQL[late], waits=True), Step("a", SQL["commit"])]
        await context.run_interleaved(steps)
    rows[1] = replace(rows[1], part=rows[1].part + 12)
    await context.expect_table(rows.values(), _("after updates that waited"))


CHECKS = (
    Capability("savepoints", _("Savepoints"), Group.TRANSACTIONS, savepoints),
    Capability("snapshots", _("Snapshots"), Group.TRANSACTIONS, snapshots),
    Capability("serializable", _("Serializable isolation"), Group.TRANSACTIONS, serializable),
    Capability("row_locks", "SELECT FOR UPDATE, FOR SHARE", Group.TRANSACTIONS, row_locks),
)
