"""One bar a version: the geometric mean of its rows with its interval, on one scale. Pure."""

from __future__ import annotations

from dataclasses import dataclass
from math import log

from results.queries.presets.versions import Versions
from webapp.versions.words import ShownMean, shown_mean


@dataclass(frozen=True)
class Bar:
    """Places are percent of the width.

    one: where ×1 is.
    left, width: from ×1 to the mean.
    low, reach: where the interval begins, and how wide it is; None without an interval."""

    version: str
    shown: ShownMean
    rows: int
    one: float
    left: float
    width: float
    low: float | None
    reach: float | None


def bars(versions: Versions) -> list[Bar]:
    """Return a bar for each version with a mean, on a logarithmic scale."""
    means = [(version, mean) for version, mean in zip(versions.versions, versions.intervals, strict=True) if mean]
    ends = [log(end) for _, mean in means for end in (mean.ratio, mean.low, mean.high) if end]
    start, stop = min([*ends, -0.02]), max([*ends, 0.02])

    def place(ratio: float) -> float:
        return round(100 * (log(ratio) - start) / (stop - start), 2)

    drawn = []
    for version, mean in means:
        left, right = sorted((place(1.0), place(mean.ratio)))
        low = place(mean.low) if mean.low else None
        reach = place(mean.high) - low if low is not None and mean.high else None
        drawn.append(Bar(version, shown_mean(mean), mean.rows, place(1.0), left, right - left, low, reach))
    return drawn
