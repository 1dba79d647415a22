"""Indexes of every kind: built over rows, kept up by INSERT, UPDATE, DELETE and VACUUM, answering as the rows do."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace

from results.domain.messages import gettext_lazy as _
from workers.workloads.capabilities.capability import Capability, Group
from workers.workloads.capabilities.check_context import CheckContext
from workers.workloads.capabilities.contents import word
from workers.workloads.capabilities.sections import sections

SQL = sections(__file__)
_UNIQUE_VIOLATION = "23505"


@dataclass(frozen=True)
class Thing:
    """A row of the table things.

    spot: x, y.
    span: first, and one after the last."""

    id: int
    n: int
    word: str
    tags: frozenset[str]
    spot: tuple[int, int]
    span: tuple[int, int]

    def __str__(self) -> str:
        return f"{self.id} {self.word}"


def things(first: int, last: int) -> list[Thing]:
    return [
        Thing(i, i, word(str(i)), frozenset((f"t{i % 7}", f"u{i % 11}")), (i % 50, i // 50), (i, i + 10))
        for i in range(first, last + 1)
    ]


def changed(rows: Iterable[Thing]) -> list[Thing]:
    return [_updated(row) if row.id % 10 == 0 else row for row in rows if row.id % 13]


def _updated(row: Thing) -> Thing:
    return replace(
        row,
        n=row.n + 100_000,
        word=word(row.word),
        tags=row.tags | {"v"},
        spot=(row.spot[0] + 1, row.spot[1] + 1),
        span=(row.span[0] + 5, row.span[1] + 5),
    )


MEANT: dict[str, Callable[[Thing], bool]] = {
    "btree": lambda row: 100 <= row.n <= 300,
    "hash": lambda row: row.word == word("77"),
    "gin": lambda row: bool({"u5", "v"} & row.tags),
    "gist": lambda row: row.span[0] < 120 and row.span[1] > 100,
    "spgist": lambda row: 3 <= row.spot[0] <= 12 and 3 <= row.spot[1] <= 7,
    "brin": lambda row: 100 <= row.n <= 300,
    "partial": lambda row: row.id % 3 == 0 and 100 <= row.n <= 300,
    "expression": lambda row: row.word == word("77"),
    "unique": lambda row: row.word == word("77"),
}
"""Which rows the query of each kind is about."""


async def indexed(context: CheckContext, kind: str) -> None:
    """Half of the rows are there when the index is made, the others come later."""
    db, half = context.database, context.row_count // 2
    await db.run(SQL["things"] + SQL["fill"], first=1, last=half)
    await db.run(SQL[f"{kind}: index"])
    await _compare(context, kind, things(1, half), _("built over rows"))
    await db.run(SQL["fill"], first=half + 1, last=context.row_count)
    await db.run(SQL["change"])
    rows = changed(things(1, context.row_count))
    await _compare(context, kind, rows, _("after INSERT, UPDATE and DELETE"))
    await db.run(SQL["vacuum"])
    await _compare(context, kind, rows, _("after VACUUM"))
    context.expect_rows(_("all rows"), rows, await db.lines_by_scan(SQL["all"]), statement=SQL["all"])
    await context.expect_access_method()


async def unique(context: CheckContext) -> None:
    await indexed(context, "unique")
    await context.expect_refusal(SQL["unique: twice"], _UNIQUE_VIOLATION, _("a second row of the same key"))
    await context.expect_refusal(
        SQL["unique: twice at once"], _UNIQUE_VIOLATION, _("two rows of the same key in one statement")
    )
    await context.expect_refusal(SQL["unique: update"], _UNIQUE_VIOLATION, _("an UPDATE to a key that is there"))
    await context.expect_refusal(SQL["unique: build"], _UNIQUE_VIOLATION, _("a unique index over equal rows"))
    await context.database.run(SQL["unique: again"])
    await _compare(
        context, "unique", changed(things(1, context.row_count)), _("after its key was deleted and came back")
    )


async def _compare(context: CheckContext, kind: str, rows: Iterable[Thing], when: str) -> None:
    query = SQL[f"{kind}: query"]
    await context.expect_by_index(query, [row for row in rows if MEANT[kind](row)], index="chosen", what=when)


def _capability(kind: str, title: str) -> Capability:
    async def run(context: CheckContext) -> None:
        await indexed(context, kind)

    return Capability(f"index_{kind}", title, Group.INDEXES, run)


CHECKS = (
    _capability("btree", "B-tree"),
    _capability("hash", _("Hash")),
    _capability("gin", "GIN"),
    _capability("gist", "GiST"),
    _capability("spgist", "SP-GiST"),
    _capability("brin", "BRIN"),
    _capability("partial", _("Partial")),
    _capability("expression", _("On an expression")),
    Capability("index_unique", _("Unique"), Group.INDEXES, unique),
)
