"""Cells of so many replicates that a figure draws some of them. Pure."""

from __future__ import annotations

from operator import attrgetter

from results.queries.comparison.cells import Comparison, Point, Replicate

MOST_REPLICATES = 10_000  # of a page's figures, which take some 400 kB of it


def are_too_many(comparison: Comparison) -> bool:
    """Return whether its replicates are too many to draw each."""
    return sum(point.n for point in comparison.points) > MOST_REPLICATES


def extremes(point: Point) -> list[Replicate]:
    """Return the smallest and the largest replicate of a cell, and its outliers, in the order in which they were
    measured."""
    value = attrgetter("value")
    ends = min(point.values, key=value), max(point.values, key=value)
    return [one for one in point.values if one in ends or one.trial_id in point.outliers]
