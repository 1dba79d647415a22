"""The commands of attempts, with the scripts in them stored once. `results_commands()` in SQL puts them together."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from results import models, sql
from results.domain.measurement.command_pieces import command_pieces

_WHOLE = "SELECT results_commands(commands)::json AS commands FROM results_attempt WHERE id = %(attempt_id)s"


def shared(commands: Iterable[Mapping[str, Any]], own: Sequence[str]) -> list[dict[str, Any]]:
    """Store what other attempts have in their commands as well, and return the commands as an attempt holds them: with
    lists of texts, and of ids of `CommandText`.

    own: texts that only this attempt has
    """
    pieces = [(one, command_pieces(one["command"], own)) for one in commands]
    ids = _ids({text for _one, parts in pieces for text, is_shared in parts if is_shared})
    return [{**one, "command": _joined([ids.get(text, text) for text, _shared in parts])} for one, parts in pieces]


def _joined(parts: list[int | str]) -> str | list[int | str]:
    return parts[0] if len(parts) == 1 and isinstance(parts[0], str) else parts


def _ids(texts: Iterable[str]) -> dict[str, int]:
    by_hash = {hashlib.sha256(text.encode()).hexdigest(): text for text in texts}
    stored = models.CommandText.objects.filter(hash__in=by_hash)
    ids = dict(stored.values_list("hash", "id"))
    if missing := sorted(by_hash.keys() - ids.keys()):  # in order, so that two attempts do not wait for each other
        models.CommandText.objects.bulk_create(
            [models.CommandText(hash=hash, text=by_hash[hash]) for hash in missing], ignore_conflicts=True
        )
        ids = dict(stored.all().values_list("hash", "id"))
    return {by_hash[hash]: id for hash, id in ids.items()}


def whole(attempt_id: int) -> list[dict[str, Any]]:
    """Return the commands of an attempt, exactly as run."""
    [row] = sql.rows(_Commands, _WHOLE, {"attempt_id": attempt_id})
    return list(row.commands)


@dataclass(frozen=True)
class _Commands:
    commands: tuple[dict[str, Any], ...]
