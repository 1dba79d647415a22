"""The parts of a table that shards get, and the labels by which a later trial recognises them. Pure."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from .spec import HASH


@dataclass(frozen=True)
class Part:
    """What one shard gets.

    bounds: of its partition, as SQL.
    condition: on the rows, as SQL.
    """

    bounds: str
    condition: str


def parts(method: str, count: int, *, key: str, parent: str, first: int, last: int) -> list[Part]:
    """Divide a table by hash, or into `count` ranges of equal length between the smallest and the largest key.

    key: the column, quoted for SQL.
    parent: the partitioned table's name, as an SQL literal.
    first, last: the smallest and the largest key.
    """
    if method == HASH:
        return [
            Part(
                f"WITH (MODULUS {count}, REMAINDER {number})",
                f"satisfies_hash_partition({parent}::regclass, {count}, {number}, {key})",
            )
            for number in range(count)
        ]
    bounds = [first + (last - first + 1) * number // count for number in range(1, count)]
    ranges = []
    for start, end in zip([None, *bounds], [*bounds, None], strict=True):
        lower, upper = ("MINVALUE" if start is None else str(start)), ("MAXVALUE" if end is None else str(end))
        conditions = [f"{key} >= {start}"] * (start is not None) + [f"{key} < {end}"] * (end is not None)
        ranges.append(Part(f"FROM ({lower}) TO ({upper})", " AND ".join(conditions) or "true"))
    return ranges


def label(number: int, count: int, identity: str) -> str:
    """Return the comment of a shard's database that holds its part.

    number: the shard's, from 1.
    identity: of the primary's database, unique for ever.
    """
    return f"shard {number} of {count} of {identity}"


def is_complete(database: str, shards: Sequence[Mapping[str, str]], identity: str) -> bool:
    """Tell whether these shards hold all parts of the primary's database.

    shards: database → comment, of each shard.
    identity: of the primary's database.
    """
    label_words = shards[0].get(database, "").split()
    if len(label_words) < 4 or not label_words[3].isdigit():
        return False
    count = int(label_words[3])
    return all(shard.get(database) == label(number, count, identity) for number, shard in enumerate(shards[:count], 1))
