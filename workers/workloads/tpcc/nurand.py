"""The constants C of the TPC-C specification's non-uniform random numbers (5.11, clause 2.1.6). Pure."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass

_DELTAS = tuple(delta for delta in range(65, 120) if delta not in (96, 112))


@dataclass(frozen=True)
class Constants:
    """C of NURand(255, …) for last names when the data is loaded and when it is used, of NURand(1023, …) for customers
    and of NURand(8191, …) for items."""

    last_name_load: int
    last_name_run: int
    customer: int
    item: int


def constants(seed: int) -> Constants:
    """Constants by seed. Clause 2.1.6.1: the two of the last names differ by 65 to 119, but not by 96 or 112."""
    digest = hashlib.sha256(f"C of seed {seed}".encode()).digest()
    words = [int.from_bytes(digest[at : at + 8], "big") for at in (0, 8, 16, 24)]
    load = words[0] % 256
    allowed = [c for c in range(256) if abs(c - load) in _DELTAS]
    return Constants(load, allowed[words[1] % len(allowed)], words[2] % 1024, words[3] % 8192)
