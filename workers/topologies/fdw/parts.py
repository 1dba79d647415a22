"""How a table is shared out, and how its parts are known again. Pure."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from .spec import HASH


@dataclass(frozen=True)
class Part:
    """What one shard gets. bounds: of its partition; condition: on the rows; both in SQL."""

    bounds: str
    condition: str


def parts(method: str, count: int, *, key: str, parent: str, first: int, last: int) -> list[Part]:
    """By hash, or by `count` ranges of equal length between the smallest and the largest key. key: the column, as SQL
    wants it; parent: the partitioned table's name, as an SQL literal."""
    if method == HASH:
        return [
            Part(
                f"WITH (MODULUS {count}, REMAINDER {number})",
                f"satisfies_hash_partition({parent}::regclass, {count}, {number}, {key})",
            )
            for number in range(count)
        ]
    cuts = [first + (last - first + 1) * number // count for number in range(1, count)]
    found = []
    for start, end in zip([None, *cuts], [*cuts, None], strict=True):
        lower, upper = ("MINVALUE" if start is None else str(start)), ("MAXVALUE" if end is None else str(end))
        conditions = [f"{key} >= {start}"] * (start is not None) + [f"{key} < {end}"] * (end is not None)
        found.append(Part(f"FROM ({lower}) TO ({upper})", " AND ".join(conditions) or "true"))
    return found


def label(number: int, count: int, identity: str) -> str:
    """What is said of a shard's database when it holds its part. number: from 1; identity: of the primary's
    database, which no other ever has."""
    return f"shard {number} of {count} of {identity}"


def whole(database: str, shards: Sequence[Mapping[str, str]], identity: str) -> bool:
    """Whether these shards hold their parts of the primary's database, as far as they are among those that share it.
    shards: of each, its databases and what is said of them."""
    said = shards[0].get(database, "").split()
    if len(said) < 4 or not said[3].isdigit():
        return False
    count = int(said[3])
    return all(shard.get(database) == label(number, count, identity) for number, shard in enumerate(shards[:count], 1))
