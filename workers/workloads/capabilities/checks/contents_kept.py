"""INSERT, UPDATE, DELETE over and over, COPY both ways, ON CONFLICT, foreign keys."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from results.domain.messages import gettext_lazy as _
from workers.workloads.capabilities.capability import Capability, Group
from workers.workloads.capabilities.check_context import CheckContext
from workers.workloads.capabilities.contents import Item, items, word
from workers.workloads.capabilities.sections import sections
from workers.workloads.capabilities.sessions import Step

SQL = sections(__file__)
_ROUNDS = 5
_FOREIGN_KEY_VIOLATION = "23503"
_CARDINALITY_VIOLATION = "21000"
_AWKWARD = (
    "",
    "a\tb",
    "back\\slash",
    "new\nline",
    "\\N",
    "quote\"d 'twice', or so",
    "定点観測",
    "\\.",
    " blank ",
    "\r",
)


async def updates(context: CheckContext) -> None:
    rows, db = await context.fill(), context.database
    await db.run(SQL["updates: indexes"])
    for _turn in range(_ROUNDS):
        await db.run(SQL["updates: round"])
        rows = {i: _round(row) for i, row in rows.items()}
    await context.expect_table(rows.values(), _("after {number} rounds of updates", number=_ROUNDS))
    await db.run(SQL["updates: moved"], rows=context.row_count)
    left = [row for row in rows.values() if row.id % 7]
    moved = [replace(row, id=row.id + 1_000_000) if row.id % 11 == 0 else row for row in left]
    moved += [row for row in items(context.row_count).values() if row.id % 7 == 0]
    await context.expect_table(moved, _("after DELETE, UPDATE of the key, INSERT"))
    await context.expect_by_index(SQL["updates: query"], [row for row in moved if row.part == 9], index="items_part")


def _round(row: Item) -> Item:
    if row.id % 2 == 0:
        row = replace(row, part=row.part + 1, word=word(row.word))
    return replace(row, word=word(row.word)) if row.id % 3 == 0 else row


async def copy(context: CheckContext) -> None:
    """In as text, out as text, as CSV, and as binary through a file."""
    db = context.database
    unicode = (await db.run("SHOW server_encoding")).strip() == "UTF8"
    words = [word for word in _AWKWARD if unicode or word.isascii()]
    lines = [_copied(i, words) for i in range(1, context.row_count + 1)]
    await db.run(SQL["copy: table"])
    await db.run(SQL["copy: in"] + "\n".join(lines) + "\n\\.\n")
    context.expect_rows(_("out as text"), lines, await db.lines(SQL["copy: out"]), statement=SQL["copy: out"])
    csv = next((line for line in await db.lines(SQL["copy: out as csv"]) if line.startswith("2,")), "")
    context.expect_value(_("a line of CSV"), "2,back\\slash,none", csv, statement=SQL["copy: out as csv"])
    await db.run(SQL["copy: binary"])
    context.expect_rows(
        _("out and in as binary"), lines, await db.lines(SQL["copy: again"]), statement=SQL["copy: binary"]
    )
    await context.expect_access_method()


def _copied(i: int, words: Sequence[str]) -> str:
    """The line of COPY's text format for row i."""
    text = words[i % len(words)]
    for character, escape in (("\\", "\\\\"), ("\t", "\\t"), ("\n", "\\n"), ("\r", "\\r")):
        text = text.replace(character, escape)
    number = f"{i}.{i:04}" if i % 2 else "\\N"
    return f"{i}\t{text}\t{number}"


async def on_conflict(context: CheckContext) -> None:
    rows, db = await context.fill(), context.database
    await db.run(SQL["on conflict: key"])
    await db.run(SQL["on conflict"], rows=context.row_count)
    for i in range(context.row_count + 1, context.row_count + 11):
        rows[i] = Item(i, 0, "nothing")
    for i in range(1, 61, 3):
        if i % 2 == 0:
            rows[i] = Item(i, rows[i].part + 100, "instead")
    await context.expect_table(rows.values(), _("after DO NOTHING and DO UPDATE"))
    await context.expect_refusal(SQL["on conflict: twice"], _CARDINALITY_VIOLATION, _("one row that is changed twice"))
    await context.run_interleaved(
        [
            Step("a", SQL["on conflict: insert"]),
            Step("b", SQL["on conflict: meanwhile"], waits=True),
            Step("a", SQL["commit"]),
        ]
    )
    await context.expect_table([*rows.values(), Item(-1, 6, "first")], _("after two sessions met at one key"))


async def foreign_keys(context: CheckContext) -> None:
    rows, db = await context.fill(), context.database
    await db.run(SQL["on conflict: key"])
    await db.run(SQL["foreign keys: tables"])
    refusals = {
        "foreign keys: no parent": _("a row without its parent"),
        "foreign keys: to no parent": _("an UPDATE to a parent that is not there"),
        "foreign keys: parent needed": _("the DELETE of a parent that is needed"),
    }
    for section, what in refusals.items():
        await context.expect_refusal(SQL[section], _FOREIGN_KEY_VIOLATION, what)
    await db.run(SQL["foreign keys: change"])
    parents = [replace(row, id=_moved(row.id)) for row in rows.values() if not 101 <= row.id <= 150]
    notes = [(i, i % 200 + 101) for i in range(1, 401)]
    orders = [f"({i},{_moved(i)})" for i in range(1, 101)]
    await context.expect_table(parents, _("parents"))
    await context.expect_table([f"({i},{_moved(item)})" for i, item in notes if item > 150], table="notes")
    await context.expect_table(orders, table="orders")
    steps = [
        Step("a", SQL["foreign keys: child"]),
        Step("b", SQL["foreign keys: delete parent"], waits=True),
        Step("a", SQL["commit"]),
    ]
    await context.run_interleaved(steps, refused={"b": _FOREIGN_KEY_VIOLATION})
    await context.expect_table(
        [*orders, "(1001,500)"], _("orders, after a DELETE of the parent had to wait"), table="orders"
    )


def _moved(item: int) -> int:
    return item + 1_000_000 if 91 <= item <= 110 or 151 <= item <= 160 else item


CHECKS = (
    Capability("updates", "INSERT, UPDATE, DELETE", Group.CONTENTS, updates),
    Capability("copy", "COPY", Group.CONTENTS, copy),
    Capability("on_conflict", "INSERT … ON CONFLICT", Group.CONTENTS, on_conflict),
    Capability("foreign_keys", _("Foreign keys"), Group.CONTENTS, foreign_keys),
)
