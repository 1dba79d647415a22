"""The known name that a wrong one was probably meant to be, and the words in which to say so. Pure."""

from __future__ import annotations

import difflib
from collections.abc import Iterable

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


def suggestion(name: str, known: Iterable[str]) -> str:
    """'Did you mean x? There are x, y, z.': the nearest name if there is one, and all names where they are few or none
    is near."""
    names = list(known)
    near = nearest(name, names)
    meant = f"Did you mean {near}?" if near else ""
    listed = f"There are {', '.join(names)}." if names else "There are none."
    return " ".join(filter(None, (meant, "" if near and len(names) > _MOST_LISTED else listed)))


def _plain(name: str) -> str:
    return name.strip().lower().replace("-", "_").replace(" ", "_")
