"""Errors out of bundles and the warehouse, which others may have written, for who reads them. Pure."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from results.domain.errors import restored
from results.domain.messages import Message

_SENTENCES = ("what", "where", "why", "todo")
_DAMAGED = (LookupError, ValueError, TypeError, AttributeError)


def shown_error(error: Mapping[str, Any]) -> dict[str, Any]:
    """Return `TeitenError.as_dict()` with messages for its sentences, which are shown in the reader's language.

    A sentence that was changed since it was made, or that is kept in another form than Teiten's, stays as it is.
    """
    plain = {name: value for name, value in error.items() if name not in ("messages", "problems")}
    made = _made(error, plain)
    for name in _SENTENCES:
        text = plain.get(name)
        if isinstance(text, Message):
            made[name] = text
        elif isinstance(text, str) and made.get(name) != text:
            made[name] = Message(text)
    problems = error.get("problems")
    if isinstance(problems, list | tuple):
        made["problems"] = [shown_error(one) if isinstance(one, Mapping) else one for one in problems]
    return made


def _made(error: Mapping[str, Any], plain: dict[str, Any]) -> dict[str, Any]:
    stored = error.get("messages")
    try:
        return restored({**plain, "messages": stored}) if stored else restored(plain)
    except _DAMAGED:
        return restored(plain)
