"""Texts that are stored in English, and names of what is asked for, as messages: shown in the reader's language."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from results.domain.messages import Message, pgettext_lazy
from results.domain.messages import gettext_lazy as _
from results.domain.stored_texts import with_texts
from results.queries.shared.ordering import DEFAULT

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
_NOT_SET = pgettext_lazy("of what is not set", "default")
_OF_A_REPORT = ("title", "publisher", "place", "caption")
_LONGEST_NAME = 120


def name_of(kind: str) -> str:
    """Return what an error calls a kind of thing that there is none of; a dimension of its own name by that."""
    return _NAMES.get(kind, kind)


def level_text(level: str) -> str:
    """Return how a level reads: of what is not set it is a message."""
    return _NOT_SET if level == DEFAULT else level


def stored(text: str) -> Message:
    """Return a text out of the warehouse as a message: without values it is the id of its translation."""
    return text if isinstance(text, Message) else Message(text)


def as_messages(row: Any, *names: str) -> None:
    """Make messages of these fields of a frozen dataclass, in its __post_init__, of what they were made of where it has
    that: in its field `messages`."""
    if all(type(getattr(row, name)) is Message for name in names):
        return
    texts = with_texts(vars(row), names)
    for name in names:
        object.__setattr__(row, name, texts[name])


def table_name(place: str, caption: str) -> str:
    """Return what the run of a published table is called, as long as it is kept."""
    name = _("{place}: {caption}", place=stored(place), caption=stored(caption))
    return name if len(name) <= _LONGEST_NAME else name[:_LONGEST_NAME]


def disagreement(words: str, column: str, published: str, recomputed: float) -> Message:
    """Return the remark on a figure that a report derived and that does not follow from its others."""
    return _(
        "{words}: {column} is published as {published}, recomputed {recomputed:.6g}.",
        words=stored(words),
        column=column,
        published=published,
        recomputed=recomputed,
    )


def name_of_run(name: str, publication: Mapping[str, Any] | None) -> str:
    """Return the name of a run; a message where it is a published table's."""
    if publication is None or publication["program"]:
        return name
    of_table = table_name(publication["place"], publication["caption"])
    return of_table if of_table == name else name


def publication_texts(publication: Mapping[str, Any] | None) -> Mapping[str, Any] | None:
    """Return a run's publication with messages for what a report has; an import has the words of who imported it."""
    if publication is None or publication["program"]:
        return publication
    return with_texts(publication, _OF_A_REPORT)
