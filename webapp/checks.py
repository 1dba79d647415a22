"""System checks of Django: what is wrong with the settings, with a hint how to correct it."""

from __future__ import annotations

import os
from typing import Any

from django.conf import settings
from django.core.checks import CheckMessage, Error, register


@register()
def bundle_dir(**_: Any) -> list[CheckMessage]:
    """Check that the archive of raw files is writable: measurements must be traceable to their source."""
    folder = settings.TEITEN_BUNDLE_DIR
    existing = folder
    while not existing.exists():
        existing = existing.parent
    if existing.is_dir() and os.access(existing, os.W_OK):
        return []
    hint = "Set TEITEN_BUNDLE_DIR to a folder that this account may write."
    return [Error(f"The bundle folder {folder} is not writable.", hint=hint, id="teiten.E002")]
