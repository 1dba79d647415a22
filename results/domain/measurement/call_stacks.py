"""Sampled call stacks: counts of "kind of process;outermost function;…;innermost". Pure.

A function's own share is that of the samples taken in it; its total share also counts those taken in what it calls.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass

Stacks = Mapping[str, int]
SEPARATOR = ";"
LEAST_POINTS = 0.05  # a change of a share below it is rounded to nothing
_Z_95 = 1.959964


@dataclass(frozen=True)
class Samples:
    """Of one function.

    own: taken in it.
    total: taken in it or in what it calls."""

    own: int
    total: int


@dataclass(frozen=True)
class Change:
    """One function's shares in percent of all samples, in a and in b. points: b minus a. margin: half the width of the
    95 % interval of that difference, as if samples were drawn independently; they are not quite, so it is the least
    that chance alone can do."""

    function: str
    own_a: float
    own_b: float
    own_points: float
    own_margin: float
    total_a: float
    total_b: float
    total_points: float
    total_margin: float

    @property
    def own_beyond_chance(self) -> bool:
        return _beyond_chance(self.own_points, self.own_margin)

    @property
    def total_beyond_chance(self) -> bool:
        return _beyond_chance(self.total_points, self.total_margin)

    @property
    def visible(self) -> bool:
        """Whether one of its shares differs by more than rounding hides."""
        return max(abs(self.own_points), abs(self.total_points)) >= LEAST_POINTS


def _beyond_chance(points: float, margin: float) -> bool:
    return abs(points) > margin and abs(points) >= LEAST_POINTS


@dataclass(frozen=True)
class Moved:
    """How many functions changed a share by more than chance.

    larger: whose share is larger in b.
    smaller: whose share is smaller in b."""

    larger: int
    smaller: int

    @property
    def count(self) -> int:
        return self.larger + self.smaller


def moved_own(changes: Iterable[Change]) -> Moved:
    """Count the functions whose self share changed by more than chance."""
    return _moved(change.own_points for change in changes if change.own_beyond_chance)


def moved_total(changes: Iterable[Change]) -> Moved:
    """Count the functions whose share with callees changed by more than chance."""
    return _moved(change.total_points for change in changes if change.total_beyond_chance)


def _moved(points: Iterable[float]) -> Moved:
    larger = [one > 0 for one in points]
    return Moved(sum(larger), len(larger) - sum(larger))


def merged(several: Iterable[Stacks]) -> dict[str, int]:
    """All samples together: what was sampled more weighs more."""
    samples: Counter[str] = Counter()
    for stacks in several:
        samples.update(stacks)
    return dict(samples)


def frames(stack: str) -> list[str]:
    """The functions, outermost first, without the kind of process."""
    return stack.split(SEPARATOR)[1:]


def by_function(stacks: Stacks) -> dict[str, Samples]:
    """A function that calls itself counts once a sample."""
    on_top: Counter[str] = Counter()
    total: Counter[str] = Counter()
    for stack, count in stacks.items():
        functions = frames(stack)
        on_top[functions[-1]] += count
        for function in set(functions):
            total[function] += count
    return {function: Samples(on_top[function], count) for function, count in total.items()}


def unnamed_share(stacks: Stacks) -> float:
    """Share of the samples taken in functions whose name is not known (0 to 1)."""
    return _share(stacks, lambda functions: functions[-1].startswith("["))


def cut_share(stacks: Stacks) -> float:
    """Share of the samples whose stack does not lead down to `main` (0 to 1)."""
    return _share(stacks, lambda functions: "main" not in functions)


def changes(a: Stacks, b: Stacks) -> list[Change]:
    """Every function of either, the greatest change of its own share first. Both have samples."""
    n_a, n_b = sum(a.values()), sum(b.values())
    in_a, in_b = by_function(a), by_function(b)
    none = Samples(0, 0)
    changed = []
    for function in in_a.keys() | in_b.keys():
        one, other = in_a.get(function, none), in_b.get(function, none)
        own_change = _difference(one.own, n_a, other.own, n_b)
        total_change = _difference(one.total, n_a, other.total, n_b)
        changed.append(Change(function, *own_change, *total_change))
    return sorted(changed, key=lambda change: (-abs(change.own_points), -abs(change.total_points), change.function))


def _difference(x_a: int, n_a: int, x_b: int, n_b: int) -> tuple[float, float, float, float]:
    """(share a, share b, difference, margin) in percent. Margin: Agresti and Caffo 2000 (The American Statistician
    54:280), the normal interval after one success and one failure are added to each side, which holds for small counts
    and for none."""
    p_a, p_b = (x_a + 1) / (n_a + 2), (x_b + 1) / (n_b + 2)
    margin = _Z_95 * math.sqrt(p_a * (1 - p_a) / (n_a + 2) + p_b * (1 - p_b) / (n_b + 2))
    share_a, share_b = 100 * x_a / n_a, 100 * x_b / n_b
    return share_a, share_b, share_b - share_a, 100 * margin


def _share(stacks: Stacks, holds: Callable[[list[str]], bool]) -> float:
    return sum(count for stack, count in stacks.items() if holds(frames(stack))) / sum(stacks.values())
