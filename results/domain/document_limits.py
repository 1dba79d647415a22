"""How much a document may ask for that somebody else wrote, as TOML or JSON. Pure."""

from __future__ import annotations

from typing import Any

from results.domain.messages import gettext_lazy as _

MOST_DEPTH = 32  # of lists and tables in each other
MOST_VALUES = 100_000  # and names, with those inside others
LONGEST_BITS = 1024  # Python refuses to print an integer of more than some 14,000


def is_storable(text: str) -> bool:
    """Return whether PostgreSQL can hold a text: one without NUL, and without half of a surrogate pair."""
    if "\0" in text:
        return False
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return True


def excess(document: Any) -> str:
    """Return why Teiten does not take a document that was read, '' where it does: values nested too deeply for code
    that follows them, too many of them, an integer too long to be printed, and a text that cannot be stored."""
    level, count = [document], 0
    for _level in range(MOST_DEPTH + 1):
        count += len(level)
        if count > MOST_VALUES:
            return _("It has more than {most} names and values", most=MOST_VALUES)
        if wrong := next(filter(None, map(_wrong, level)), ""):
            return wrong
        level = [entry for value in level for entry in _entries(value)]
        if not level:
            return ""
    return _("Its lists or tables are nested too deeply: at most {most} in each other are read", most=MOST_DEPTH)


def _entries(value: Any) -> list[Any]:
    if isinstance(value, dict):
        return [*value, *value.values()]
    return value if isinstance(value, list) else []


def _wrong(value: Any) -> str:
    if isinstance(value, str) and not is_storable(value):
        return _("A NUL character (\\u0000), or half of a surrogate pair, is in a text or name of it")
    if isinstance(value, int) and value.bit_length() > LONGEST_BITS:
        return _("An integer has {bits} bits; at most {most} are read", bits=value.bit_length(), most=LONGEST_BITS)
    return ""
