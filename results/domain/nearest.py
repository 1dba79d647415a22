"""The known name that a wrong one was probably meant to be, and the words in which to say so. Pure."""

from __future__ import annotations

import difflib
from collections.abc import Iterable

from results.domain.messages import Message
from results.domain.messages import gettext_lazy as _

NEAR = 0.6  # of difflib's ratio
_MOST_LISTED = 24


def nearest(name: str, known: Iterable[str], near: float = NEAR) -> str:
    """('shared_bufers', settings) → 'shared_buffers'; '' where none is near.

    Case does not matter, nor whether words are joined by '_', '-' or a space. Where nothing is spelled alike, the one
    name that holds what was typed: 'p99' → 'latency.p99'."""
    spelled = {_plain(one): one for one in reversed(list(known))}
    typed = _plain(name)
    if close := difflib.get_close_matches(typed, spelled, 1, near):
        return spelled[close[0]]
    holding = [one for plain, one in spelled.items() if len(typed) > 1 and typed in plain]
    return holding[0] if len(holding) == 1 else ""


def suggestion(name: str, known: Iterable[str]) -> Message:
    """'Did you mean x? There are x, y, z.': the nearest name if there is one, and all names where they are few or none
    is near."""
    names = list(known)
    near = nearest(name, names)
    if not names:
        return _("There are none.")
    if near and len(names) > _MOST_LISTED:
        return did_you_mean(near)
    listed = _("There are {names}.", names=", ".join(names))
    return _("{meant} {listed}", meant=did_you_mean(near), listed=listed) if near else listed


def did_you_mean(name: str) -> Message:
    return _("Did you mean {name}?", name=name)


def _plain(name: str) -> str:
    return name.strip().lower().replace("-", "_").replace(" ", "_")
