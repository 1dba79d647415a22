"""Sequential scans: what EXPLAIN tells of one, and from how many blocks on the heap is faster. Pure."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from statistics import fmean
from typing import Any

from results.domain import json_text
from results.domain.errors import ParseError
from results.domain.messages import gettext_lazy as _


@dataclass(frozen=True)
class Scan:
    """One execution.

    blocks: found in shared buffers or read into them.
    read: of these, read."""

    column: str
    seconds: float
    blocks: int
    read: int


def scan_of(column: str, text: str, file: str) -> tuple[Scan, Mapping[str, Any]]:
    """EXPLAIN (ANALYZE, BUFFERS, FORMAT JSON) of one scan, and its plan. Raises ParseError for anything else."""
    try:
        plan: Mapping[str, Any] = json_text.loads(text)[0]
        node = plan["Plan"]
        hit, read = int(node["Shared Hit Blocks"]), int(node["Shared Read Blocks"])
        return Scan(column, float(plan["Execution Time"]) / 1000, hit + read, read), plan
    except (ValueError, LookupError, TypeError) as error:
        raise ParseError(_("not EXPLAIN's JSON of a scan: {error}", error=repr(error)), file=file, text=text) from None


def break_even(scans: Sequence[Scan], heap: Sequence[Scan]) -> float:
    """The number of blocks at which the straight line through (blocks, seconds) of the access method's scans, by least
    squares, reaches the mean time of the heap's scans, which read the same blocks whatever the column. An access method
    that reads fewer blocks than this is faster than the heap. Raises ValueError with the reason where there is none."""
    blocks, seconds = [float(scan.blocks) for scan in scans], [scan.seconds for scan in scans]
    middle, mean_s = fmean(blocks), fmean(seconds)
    spread = sum((x - middle) ** 2 for x in blocks)
    if spread == 0:
        raise ValueError(_("it reads the same number of blocks for every column"))
    slope = sum((x - middle) * (y - mean_s) for x, y in zip(blocks, seconds, strict=True)) / spread
    if slope <= 0:
        raise ValueError(_("its scans do not take longer with more blocks"))
    result = middle + (fmean(scan.seconds for scan in heap) - mean_s) / slope
    if result < 0:
        raise ValueError(_("the heap is faster however few blocks are read"))
    return result
