"""When a server looks for circles of objects: between answers, and not while it makes one."""

from __future__ import annotations

import gc
from typing import Any

from django.core.signals import request_finished

_YOUNG, _SELDOM = 10_000, 20
_WHILE_ANSWERING = 100_000  # a comparison makes some ten thousand objects, none of them in a circle


def settle() -> None:
    """Call once when all is loaded: that stays, and is never looked through again."""
    gc.freeze()
    gc.set_threshold(_WHILE_ANSWERING, _SELDOM, _SELDOM)
    request_finished.connect(tidy)


def tidy(**_: Any) -> None:
    """After an answer. Every page leaves a circle with all that its template was given; dozens of them cost whoever
    asks next as much time as an answer."""
    young, middle, old = gc.get_count()
    if young > _YOUNG:
        gc.collect(2 if old > _SELDOM else 1 if middle > _SELDOM else 0)
