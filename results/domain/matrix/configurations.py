"""A plan's configurations, and the order in which their replicates run."""

from __future__ import annotations

import itertools
import random
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from results.domain.kinds.parameters import Scalar
from results.domain.messages import gettext_lazy as _
from results.domain.plan import Plan


@dataclass(frozen=True)
class Configuration:
    """One level of each factor.

    levels: factor → level label.
    values: target → value, the plan's fixed values overlaid by the levels' (targets as in `results.domain.plan`)."""

    levels: Mapping[str, str]
    values: Mapping[str, Scalar]

    @property
    def name(self) -> str:
        """Short and unique within its plan: '16 · select-only · 4 clients' is for pages; this is 'a=1, b=2'."""
        return ", ".join(f"{factor}={label}" for factor, label in self.levels.items()) or _("the only configuration")


@dataclass(frozen=True)
class Slot:
    """One trial's place: position in the run's order (from 0), block (from 1), index of its configuration."""

    position: int
    block: int
    configuration: int


def expand(plan: Plan) -> tuple[Configuration, ...]:
    """Every combination of the factors' levels that is not excluded, in the factors' own order."""
    base, left_out = plan.base_values(), _left_out(plan.exclude)
    configurations: list[Configuration] = []
    for combination in itertools.product(*(factor.levels for factor in plan.factors)):
        levels = {f.name: level.label for f, level in zip(plan.factors, combination, strict=True)}
        if any(tuple(levels.get(name) for name in names) in labels for names, labels in left_out.items()):
            continue
        values = dict(base)
        for level in combination:
            values.update(level.values)
        configurations.append(Configuration(levels, values))
    return tuple(configurations)


def _left_out(excluded: Sequence[Mapping[str, str]]) -> dict[tuple[str, ...], set[tuple[str | None, ...]]]:
    """Return names of factors → their levels' labels that are left out together: looked up, however many there are."""
    left_out: dict[tuple[str, ...], set[tuple[str | None, ...]]] = {}
    for combination in excluded:
        names = tuple(sorted(combination))
        left_out.setdefault(names, set()).add(tuple(combination[name] for name in names))
    return left_out


def order(configurations: int, blocks: Sequence[int], seed: int, first_position: int = 0) -> tuple[Slot, ...]:
    """Slots of the given blocks: each block holds every configuration once, in an order drawn from (seed, block),
    so that blocks added later leave the earlier ones as they were."""
    slots: list[Slot] = []
    for block in blocks:
        indices = list(range(configurations))
        # The seed is the plan's: anybody can draw the same order again.
        random.Random(f"{seed}/{block}").shuffle(indices)  # noqa: S311
        start = first_position + len(slots)
        slots.extend(Slot(start + offset, block, index) for offset, index in enumerate(indices))
    return tuple(slots)
