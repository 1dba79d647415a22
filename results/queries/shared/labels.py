"""What labels say of one another. Pure."""

from __future__ import annotations

from collections.abc import Iterable


def parts_of_whole(labels: Iterable[str]) -> list[str]:
    """Return the labels without those that are part of another: 'copy: orders' counts in 'copy', where both are
    there."""
    known = list(labels)
    return [label for label in known if label.partition(": ")[0] not in set(known) - {label}]
