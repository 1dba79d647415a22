"""The OpenAPI schema in the reader's language.

Its texts are docstrings and help texts, which xgettext does not find. They have a catalogue of their own,
locale/LANGUAGE/LC_MESSAGES/api.po, which `manage.py makemessages` brings up to date from the schema.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from django.utils import translation
from django.utils.translation import pgettext
from drf_spectacular.generators import SchemaGenerator

from results.domain.messages import ORIGINAL

CONTEXT = "API"  # tells its texts apart from the same words on pages
_TEXTS = ("description", "summary", "title")


class Generator(SchemaGenerator):
    """Generates the schema in English whoever asks, since libraries have texts in it too, and then translates it."""

    def get_schema(self, request: Any = None, public: bool = False) -> dict[str, Any]:
        with translation.override(ORIGINAL):
            schema: dict[str, Any] = super().get_schema(request=request, public=public)
        for _place, holder, key in _texts(schema):
            holder[key] = pgettext(CONTEXT, holder[key])
        return schema


def english_texts() -> dict[str, str]:
    """Return every text of the schema → where it stands first: '/api/v1/agents/ get', 'Agent key_path'."""
    with translation.override(ORIGINAL):
        schema = Generator().get_schema(public=True)
    texts: dict[str, str] = {}
    for place, holder, key in _texts(schema):
        texts.setdefault(holder[key], " ".join(place))
    return texts


def _texts(part: Any, place: tuple[str, ...] = ()) -> Iterator[tuple[tuple[str, ...], dict[str, Any], str]]:
    """Yield (where, object, key) of each text that people read: a property of that name has an object there."""
    if isinstance(part, dict):
        for key, value in part.items():
            if key in _TEXTS and isinstance(value, str) and value:
                yield place, part, key
            else:
                yield from _texts(value, (*place, key) if _tells(key, place) else place)
    elif isinstance(part, list):
        for item in part:
            yield from _texts(item, place)


def _tells(key: str, place: tuple[str, ...]) -> bool:
    """Return whether a key is part of a place's name: the path or schema, and what is next below it."""
    return len(place) < 2 and key not in ("paths", "components", "schemas", "properties")
