"""Texts that are kept in English and shown in the reader's language.

A message is the English text itself: compared, logged and stored like any other. It also knows the id by which the
catalogues (locale/*/LC_MESSAGES/django.po) find its translations, and the values in it. As HTML, as in a template, it
is in the language of who reads; elsewhere `localized` says where that happens.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping
from html import escape
from string import Formatter
from typing import Any, Self

LANGUAGES = {"en": "English", "ja": "日本語"}  # by their own names
ORIGINAL = "en"  # the language that all texts are written in
# What is stored may have been written by others: a place is a name, with a form that makes no value long.
_PLACE = re.compile(r"[a-z_][a-z0-9_]*")
_FORM = re.compile(r"[+,]{0,2}\d{0,2}(?:\.\d{1,2})?[a-z%]?")
# What `from_json` raises for what is no message.
DAMAGED = (LookupError, ValueError, TypeError, AttributeError, ArithmeticError)
MOST_CHARACTERS, MOST_LEVELS = 1_000_000, 20  # of what is made of a stored message
Lookup = Callable[[str, str], str]  # of a context, '' for none, and a text
PluralLookup = Callable[[str, str, int], str]


class Message(str):
    """A text in English that can be shown in other languages.

    id: the text with its places, as the catalogues have it: 'Agent {agent} is unknown.'
    plural: the same for any number but one, '' where no number decides.
    number: what decides between the two.
    values: what stands in the places; messages among them are translated too.
    context: what tells apart texts that are the same in English, '' for none."""

    id: str
    plural: str
    number: int
    values: Mapping[str, Any]
    context: str

    def __new__(
        cls, text: str, plural: str = "", number: int = 1, values: Mapping[str, Any] | None = None, context: str = ""
    ) -> Self:
        values = values or {}
        form = plural if plural and number != 1 else text
        message = super().__new__(cls, form.format(**values) if values else form)
        message.id, message.plural, message.number, message.values = text, plural, number, values
        message.context = context
        return message

    def __reduce__(self) -> tuple[type[Message], tuple[str, str, int, Mapping[str, Any], str]]:
        return Message, (self.id, self.plural, self.number, self.values, self.context)

    def __html__(self) -> str:
        return escape(localized(self))


def gettext_lazy(text: str, /, **values: Any) -> Message:
    """Return the text as a message, with values in its places: _("Agent {agent} is unknown.", agent=name).

    Named as Django's, so that manage.py makemessages finds it. Braces are places only where there are values.
    """
    return Message(text, values=values)


def ngettext_lazy(text: str, plural: str, number: int, /, **values: Any) -> Message:
    """Return the first text for one, the second for any other number, which {number} stands for in both."""
    return Message(text, plural, number, {"number": number, **values})


def pgettext_lazy(context: str, text: str, /, **values: Any) -> Message:
    """Return a message of a text that means something else elsewhere: pgettext_lazy("verb", "run")."""
    return Message(text, values=values, context=context)


COMMA = pgettext_lazy("between the items of a list", ", ")
SEMICOLON = pgettext_lazy("between clauses", "; ")
AND = pgettext_lazy("between two", " and ")
OR = pgettext_lazy("between two", " or ")
BLANK = pgettext_lazy("two sentences", "{first} {second}", first="", second="")  # a translation may have none


def linked(separator: str, parts: Iterable[str]) -> str:
    """Return some parts with a separator between them as one message; the part alone of one, '' of none."""
    values = {f"part{number}": part for number, part in enumerate(parts)}
    if len(values) < 2:
        return next(iter(values.values()), "")
    text = "{separator}".join(f"{{{name}}}" for name in values)
    return Message(text, values={"separator": separator, **values})


class _Catalogues:
    """Where translations are looked up. English until `results` sets Django's, which know the reader's language."""

    lookup: Lookup = staticmethod(lambda context, text: text)
    plural_lookup: PluralLookup = staticmethod(lambda text, plural, number: text if number == 1 else plural)


def use_catalogues(lookup: Lookup, plural_lookup: PluralLookup) -> None:
    """Set the functions that translate: a text in its context; a text, its plural and a number."""
    _Catalogues.lookup, _Catalogues.plural_lookup = staticmethod(lookup), staticmethod(plural_lookup)


def to_json(message: Message) -> dict[str, Any]:
    """Return what of a message is stored beside its English text, so that `from_json` makes it again."""
    stored: dict[str, Any] = {"id": message.id}
    if message.context:
        stored["context"] = message.context
    if message.plural:
        stored |= {"plural": message.plural, "number": message.number}
    if message.values:
        stored["values"] = {name: _value_to_json(value) for name, value in message.values.items()}
    return stored


def _value_to_json(value: Any) -> Any:
    if isinstance(value, Message):
        return to_json(value)
    return value if isinstance(value, str | int | float | None) else str(value)


def from_json(stored: Mapping[str, Any], longest: int = MOST_CHARACTERS, levels: int = MOST_LEVELS) -> Message:
    """Return a message that was stored. Raises one of DAMAGED for what is none.

    longest: characters that it, and each message in it, may have
    levels: of messages in messages
    """
    text, plural, context = stored["id"], stored.get("plural", ""), stored.get("context", "")
    number = stored.get("number", 1)
    if not isinstance(context, str) or type(number) is not int:
        raise TypeError("a context is a text, and a number a whole number")
    if not levels:
        raise ValueError("it has too many levels")
    values = {name: _value_of(value, longest, levels - 1) for name, value in stored.get("values", {}).items()}
    for form in (text, plural):
        _require_plain_places(form)
    if _length(plural if plural and number != 1 else text, values) > longest:
        raise ValueError(f"it has more than {longest:,} characters")
    return Message(text, plural, number, values, context)


def _value_of(value: Any, longest: int, levels: int) -> Any:
    if isinstance(value, Mapping):
        return from_json(value, longest, levels)
    if not isinstance(value, str | int | float | None):
        raise TypeError("a value is a text, a number or a message")
    return value


def _require_plain_places(text: str) -> None:
    """Raise ValueError for a place that is more than a name: it could reach what a value belongs to."""
    for _, place, form, _ in Formatter().parse(text):
        if place is not None and not (_PLACE.fullmatch(place) and _FORM.fullmatch(form or "")):
            raise ValueError(f"{place!r} is no place of a message")


def _length(text: str, values: Mapping[str, Any]) -> int:
    """Return how long a text is with its values, before it is made: few places may stand for much."""
    if not values:
        return len(text)
    pieces = [(len(literal), place) for literal, place, _, _ in Formatter().parse(text)]
    lengths = {place: len(str(values[place])) for _, place in pieces if place is not None}
    return sum(length + lengths.get(place or "", 0) for length, place in pieces)


def localized(text: str) -> str:
    """Return a text in the reader's language where it is a message, else unchanged."""
    if not isinstance(text, Message):
        return text
    if not text.id:
        return ""
    if text.plural:
        form = _Catalogues.plural_lookup(text.id, text.plural, text.number)
    else:
        form = _Catalogues.lookup(text.context, text.id)
    if not text.values:
        return form
    values = {name: localized(value) if isinstance(value, str) else value for name, value in text.values.items()}
    try:
        return form.format(**values)
    except DAMAGED:
        return str(text)  # the translation has other places, as one of a guest's kind may
