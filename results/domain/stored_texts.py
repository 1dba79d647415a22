"""Texts as they are stored: in English, and beside them what they were made of, so that they are shown in the reader's
language.

A text without values is its own id. Bundles are written by others too: what is damaged there is shown in English.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from functools import lru_cache
from typing import Any

from results.domain.messages import DAMAGED, Message, from_json, to_json
from results.domain.secrets import masked_text, masked_values

MESSAGES = "messages"  # key of a JSON object: name of a text in it → what that was made of
_LONGEST = 8000  # characters of a stored message: what tools print is in it once more
_MORE = 100  # characters by which a value that a text does not show may be longer than it


def made_of(texts: Mapping[str, Any]) -> dict[str, Any]:
    """Return what is stored beside an object's texts: of those that are messages with values; {} for none."""
    stored = {
        name: message
        for name, text in texts.items()
        if isinstance(text, Message) and text.values and (message := _stored(text)) is not None
    }
    return {MESSAGES: stored} if stored else {}


def _stored(message: Message) -> dict[str, Any] | None:
    """Return a message as it is stored, without secrets; None where the text would not be made of it again, or that is
    no JSON, or a long one: then it is kept in English alone."""
    try:
        stored: dict[str, Any] = masked_values(to_json(message))
        is_short = len(json.dumps(stored, allow_nan=False)) <= _LONGEST
        return stored if is_short and from_json(stored) == masked_text(message) else None
    except DAMAGED:
        return None


def with_texts(fields: Mapping[str, Any], names: Iterable[str]) -> dict[str, Any]:
    """Return a JSON object with messages for these of its texts, and without what they were made of.

    A text that was changed since it was made, or whose message others damaged, stays as it is.
    """
    stored = fields.get(MESSAGES)
    messages = stored if isinstance(stored, Mapping) else {}
    restored = in_english(fields)
    for name in names:
        if isinstance(text := restored.get(name), str) and not isinstance(text, Message):
            message = messages.get(name)
            restored[name] = _plain(text) if message is None else _restored(text, message)
    return restored


@lru_cache(1_000)
def _plain(text: str) -> Message:
    """Return a text without values as a message: many rows of an answer have the same."""
    return Message(text)


def _restored(text: str, stored: Any) -> Message:
    """Return the message that a text was made of, else one without values."""
    try:
        message = from_json(stored, longest=len(text) + _MORE)
    except DAMAGED:
        return Message(text)
    return message if message == text else Message(text)


def in_english(fields: Mapping[str, Any]) -> dict[str, Any]:
    """Return a stored object without what its texts were made of."""
    english = dict(fields)
    english.pop(MESSAGES, None)
    return english
