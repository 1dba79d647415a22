"""Texts that are stored in English, and names of what is asked for, as messages: shown in the reader's language."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from results.domain.messages import Message, pgettext_lazy

_NAMES = {
    "agent": pgettext_lazy("what there is none of", "agent"),
    "axis": pgettext_lazy("what there is none of", "axis"),
    "configuration": pgettext_lazy("what there is none of", "configuration"),
    "dimension": pgettext_lazy("what there is none of", "dimension"),
    "label": pgettext_lazy("what there is none of", "label"),
    "metric": pgettext_lazy("what there is none of", "metric"),
    "node": pgettext_lazy("what there is none of", "node"),
    "per": pgettext_lazy("what there is none of", "per"),
    "plan": pgettext_lazy("what there is none of", "plan"),
    "publication": pgettext_lazy("what there is none of", "publication"),
    "run": pgettext_lazy("what there is none of", "run"),
    "series": pgettext_lazy("what there is none of", "series"),
    "statistic": pgettext_lazy("what there is none of", "statistic"),
    "trial": pgettext_lazy("what there is none of", "trial"),
    "workload": pgettext_lazy("what there is none of", "workload"),
}


def name_of(kind: str) -> str:
    """Return what an error calls a kind of thing that there is none of; a dimension of its own name by that."""
    return _NAMES.get(kind, kind)


def stored(text: str) -> Message:
    """Return a text out of the warehouse as a message: without values it is the id of its translation."""
    return text if isinstance(text, Message) else Message(text)


def as_messages(row: Any, *names: str) -> None:
    """Make messages of these fields of a frozen dataclass, in its __post_init__."""
    for name in names:
        object.__setattr__(row, name, stored(getattr(row, name)))


def with_messages(fields: Mapping[str, Any], *names: str) -> dict[str, Any]:
    """Return a JSON object with messages for these of its texts."""
    texts = {name: stored(fields[name]) for name in names if isinstance(fields.get(name), str)}
    return {**fields, **texts}
