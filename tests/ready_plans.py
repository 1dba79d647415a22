"""The ready plans as tests run them: chosen, made small, and what must hold of the comparison that a run opens on."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from django.conf import settings

from results.domain.environment.rules import Cause
from results.domain.plan.recipes import Build, Compare, Recipe, read_all
from results.queries.comparison.compare import Comparison
from workers.registry import kinds

RECIPES = {recipe.slug: recipe for recipe in read_all(Path(settings.BASE_DIR) / "plans", kinds()).plans}
WITHOUT_NUMBERS = {"wg1-capabilities": "answers yes or no, and measures nothing"}


def compared(recipe: Recipe, installations: Sequence[str], access_methods: Sequence[str] = ("heap",)) -> dict[str, Any]:
    """Return what `Recipe.plan` is to compare: these installations, the first of them, or builds of each."""
    if recipe.compare is Compare.BUILDS:
        return {"builds": [Build(name, method) for name in installations for method in access_methods]}
    return {"installations": installations[:1] if recipe.compare is Compare.ONE else installations}


def smaller(
    mapping: Mapping[str, Any], factors: Mapping[str, Sequence[Any]], **changes: Mapping[str, Any]
) -> dict[str, Any]:
    """Return a ready plan's structure, made small.

    factors: of each the labels or values that are left; a factor that is not named keeps all.
    changes: `parameters` and `settings` are merged with the plan's."""
    left = dict(mapping.get("factors", {}))
    for name, kept in factors.items():
        labelled = isinstance(left[name][0], dict)
        left[name] = [level for level in left[name] if level["label"] in kept] if labelled else list(kept)
    tables = {name: mapping.get(name, {}) | changes.get(name, {}) for name in ("parameters", "settings")}
    excluded = [
        levels
        for levels in mapping.get("exclude", [])
        if all(level in factors.get(name, [level]) for name, level in levels.items())
    ]
    return dict(mapping) | {"exclude": excluded} | changes | tables | {"factors": left}


def answers(comparison: Comparison) -> None:
    """It has a baseline, a ratio in every cell that can have one, and nothing that withholds a verdict."""
    chosen = comparison.selection
    assert chosen.baseline
    assert comparison.mixed == ()
    assert all(row.lacks == "cell" for row in comparison.unmatched)  # which the plan leaves out
    assert len(comparison.points) > 1
    for point in comparison.points:
        assert point.base is not None and point.ratio
        assert (point.verdict is None) == (point.base == point.key)
    assert any(point.verdict for point in comparison.points)
    for environment in comparison.environment:
        assert environment.difference.of(Cause.CONFOUNDER) == []
        assert environment.comparable == environment.cells
