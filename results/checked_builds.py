"""Store which checks of capabilities attempts made, so that the newest answers are found without reading all."""

from __future__ import annotations

from collections.abc import Sequence

from results import sql

CAPABILITY = "capability"  # kind of the documents


def store_checked_builds(attempts: Sequence[int]) -> None:
    """Store what the documents of these attempts say; the attempts have no such rows yet."""
    sql.execute(sql.load(__file__), {"attempts": list(attempts)})
