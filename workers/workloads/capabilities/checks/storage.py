"""TOAST, fill factor, pgstattuple."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass, replace

from results.domain.messages import gettext_lazy as _
from workers.workloads.capabilities.capability import Capability, Group
from workers.workloads.capabilities.check_context import CheckContext
from workers.workloads.capabilities.contents import word
from workers.workloads.capabilities.sections import sections

SQL = sections(__file__)
_LEAVES_SPACE, _LEAVES_NONE = 1.6, 1.1


@dataclass(frozen=True)
class Document:
    """A row of the table documents."""

    id: int
    kind: str
    body: str
    octets: bytes = b""

    def __str__(self) -> str:
        octets = hashlib.md5(self.octets, usedforsecurity=False).hexdigest() if self.octets else ""
        return f"{self.id} {self.kind} {len(self.body)} {word(self.body)} {octets} {self.body[10000:10020]}"


def documents() -> list[Document]:
    alike = [Document(i, "alike", word(str(i)) * 1000 * i) for i in range(1, 13)]
    random = [
        Document(100 + i, "random", _joined(f"{i}:", 800 * i), bytes.fromhex(_joined(f"{i}-", 400 * i)))
        for i in range(1, 13)
    ]
    outside = [Document(200 + i, "outside", word(str(i)) * 1000 * i) for i in range(1, 7)]
    return [*alike, *random, *outside]


def _joined(prefix: str, count: int) -> str:
    return "".join(word(f"{prefix}{k}") for k in range(1, count + 1))


def _changed(row: Document) -> Document:
    kind = f"{row.kind}!" if row.id % 2 == 0 else row.kind
    return replace(row, kind=kind, body=f"{row.body}end" if row.id % 3 == 0 else row.body)


async def toast(context: CheckContext) -> None:
    db = context.database
    await db.run(SQL["toast: table"])
    await db.run(SQL["toast: fill"] + SQL["toast: external"])
    rows = documents()
    largest = max(len(row.body) for row in rows) // 1000
    query = SQL["toast: contents"]
    context.expect_rows(
        _("values of up to {size} kB", size=largest), rows, await db.lines_by_scan(query), statement=query
    )
    await db.run(SQL["toast: change"])
    rows = [_changed(row) for row in rows if row.id % 5]
    context.expect_rows(_("after UPDATE, DELETE and VACUUM"), rows, await db.lines_by_scan(query), statement=query)
    whole = next(row.body for row in rows if row.id == 106)
    same = _("the same")
    outcome = same if await db.lines(SQL["toast: whole"]) == [whole] else _("another")
    what = _("one value of {length} characters, one by one", length=len(whole))
    context.expect_value(what, same, outcome, statement=SQL["toast: whole"])
    context.remark(_("Stored {place}.", place=(await db.run(SQL["toast: where"])).strip()))
    await context.expect_access_method()


async def fillfactor(context: CheckContext) -> None:
    db = context.database
    await db.run(SQL["fillfactor"], many=context.many)
    rows = [f"({i},{word(str(i))})" for i in range(1, context.many + 1)]
    await context.expect_table(rows, table="full_pages")
    await context.expect_table(rows, table="half_pages")
    full, half = map(int, (await db.run(SQL["fillfactor: sizes"])).split())
    message = _("{full} bytes at fillfactor 100, {half} at 50.", full=full, half=half)
    if half < full * _LEAVES_NONE:
        words = _("Accepted and ignored: {sizes}", sizes=message)
        context.report_missing(words, statement=SQL["fillfactor: sizes"])
    elif half < full * _LEAVES_SPACE:
        words = _("Leaves less space than asked for: {sizes}", sizes=message)
        context.report_missing(words, statement=SQL["fillfactor: sizes"])
    else:
        context.remark(message)


async def pgstattuple(context: CheckContext) -> None:
    rows, db = await context.fill(), context.database
    await context.extension("pgstattuple")
    left = [row for row in rows.values() if row.id % 4]
    counted = (await db.run(SQL["pgstattuple"])).strip()
    context.expect_value(_("live rows that pgstattuple counts"), len(left), counted, statement=SQL["pgstattuple"])
    await context.expect_table(left)


CHECKS = (
    Capability("toast", "TOAST", Group.STORAGE, toast),
    Capability("fillfactor", _("Fill factor"), Group.STORAGE, fillfactor),
    Capability("pgstattuple", "pgstattuple", Group.STORAGE, pgstattuple),
)
