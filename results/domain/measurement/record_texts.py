"""Checks, events and gaps of a trial as JSON: their texts in English, and beside them what they were made of, so that
pages show them in the reader's language. Pure."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import asdict
from typing import Any

from results.domain.stored_texts import in_english, made_of, with_texts

TEXTS: Mapping[str, tuple[str, ...]] = {  # field of `ParsedTrial` → texts for people in its records
    "checks": ("name", "expected", "actual"),
    "events": ("text",),
    "gaps": ("reason",),
}


def to_json(name: str, records: Iterable[Any]) -> list[dict[str, Any]]:
    """Return records as they are stored.

    name: of the field of `ParsedTrial` that they are of, whether it has texts or not
    """
    texts = TEXTS.get(name, ())
    return [asdict(one) | made_of({text: getattr(one, text) for text in texts}) for one in records]


def holder_to_json(holder: Any) -> dict[str, Any]:
    """Return a dataclass that has such records in fields of these names, such as a manifest, as it is stored."""
    fields = asdict(holder)
    return fields | {name: to_json(name, getattr(holder, name)) for name in TEXTS if name in fields}


def with_messages(name: str, records: Iterable[Any]) -> list[Any]:
    """Return stored records with messages for their texts; what is none stays."""
    return [with_texts(one, TEXTS[name]) if isinstance(one, Mapping) else one for one in records]


def holder_with_messages(holder: Mapping[str, Any]) -> dict[str, Any]:
    """Return what `holder_to_json` made with messages for the texts of its records; what is no record stays."""
    lists = {name: holder[name] for name in TEXTS if isinstance(holder.get(name), list)}
    return {**holder, **{name: with_messages(name, records) for name, records in lists.items()}}


def without_messages(records: Iterable[Mapping[str, Any]]) -> list[dict[str, Any]]:
    """Return stored records in English alone, as they are compared."""
    return [in_english(one) for one in records]
