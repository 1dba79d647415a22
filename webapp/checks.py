"""System checks: what is wrong with this installation's settings, with a hint how to mend it."""

from __future__ import annotations

import os
from typing import Any

from django.conf import settings
from django.core.checks import CheckMessage, Error, register


@register()
def bundle_dir(**_: Any) -> list[CheckMessage]:
    """The archive of raw files must be writable, or a trial's numbers could not be followed to their source."""
    folder = settings.TEITEN_BUNDLE_DIR
    nearest = folder
    while not nearest.exists():
        nearest = nearest.parent
    if nearest.is_dir() and os.access(nearest, os.W_OK):
        return []
    hint = "Set TEITEN_BUNDLE_DIR to a folder that this account may write."
    return [Error(f"The bundle folder {folder} is not writable.", hint=hint, id="teiten.E002")]
