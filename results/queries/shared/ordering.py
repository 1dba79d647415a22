"""The order in which values of a dimension are shown. Pure."""

from __future__ import annotations

import re
from collections.abc import Collection
from contextlib import suppress

from results.domain.units import parse_bytes, parse_seconds

DEFAULT = "default"  # the text of an empty or absent value
VERSIONS = ("version", "major", "installation")  # dimensions
_TOKENS = re.compile(r"\d+|[A-Za-z]+|[^0-9A-Za-z]+")
_BEFORE_RELEASE = ("devel", "alpha", "beta", "rc")


def all_numbers(texts: Collection[str], dimension: str = "") -> bool:
    """Return whether the values of a dimension are quantities without a unit: versions are not, though '16.10' may look
    so."""
    numeric = all(re.fullmatch(r"[-+]?\d+(\.\d+)?", text) for text in texts)
    return numeric and dimension not in VERSIONS


def sorted_levels(texts: Collection[str], dimension: str = "") -> tuple[str, ...]:
    """Sort the levels of a dimension, each once: by size where all are numbers or quantities ('64MB', '1GB'), else, and
    for versions, in their order: '9.6', '16beta1', '16', '16.9', '16.10'. What is not set comes first."""
    levels = [text for text in dict.fromkeys(texts) if text != DEFAULT]
    if len(levels) < 2:
        return (DEFAULT, *levels) if DEFAULT in texts else tuple(levels)
    ordered = sorted(levels, key=_natural)
    for size in () if dimension in VERSIONS else (float, parse_bytes, parse_seconds):
        with suppress(ValueError):
            ordered = sorted(levels, key=size)
            break
    return (DEFAULT, *ordered) if DEFAULT in texts else tuple(ordered)


def _natural(text: str) -> list[tuple[int, int, str]]:
    return [*map(_rank, _TOKENS.findall(text)), (0, 0, "")]


def _rank(token: str) -> tuple[int, int, str]:
    if token.isdecimal():
        return 2, int(token), ""
    if token.lower() in _BEFORE_RELEASE:
        return -1, _BEFORE_RELEASE.index(token.lower()), ""
    return 1, 0, token
