"""Factors that set several dimensions at once, and what they set. Pure."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from results.queries.shared.configurations import ConfigurationRow

Parts = Mapping[str, frozenset[str]]


def composite_parts(rows: Sequence[ConfigurationRow]) -> Parts:
    """Return of each composite factor the dimensions that vary with it in a run and with nothing else: they have one
    value at each of its levels, and are no factors themselves. One that sets nothing that varies (an A/A factor) has no
    parts and is left out."""
    by_run: dict[int, list[ConfigurationRow]] = {}
    for row in rows:
        if row.levels:
            by_run.setdefault(row.run_id, []).append(row)
    parts: dict[str, set[str]] = {}
    for own in by_run.values():
        for factor in own[0].levels:
            if factor not in own[0].dimensions:
                parts.setdefault(factor, set()).update(_set_by(factor, own))
    return {factor: frozenset(names) for factor, names in parts.items() if names}


def _set_by(factor: str, rows: Sequence[ConfigurationRow]) -> set[str]:
    names = set[str]().union(*(row.dimensions for row in rows)) - rows[0].levels.keys()
    return {name for name in names if _varies(name, rows) and _one_value_a_level(name, factor, rows)}


def _varies(name: str, rows: Sequence[ConfigurationRow]) -> bool:
    return len({row.level(name) for row in rows}) > 1


def _one_value_a_level(name: str, factor: str, rows: Sequence[ConfigurationRow]) -> bool:
    level_of: dict[str, str] = {}
    return all(level_of.setdefault(row.level(factor), row.level(name)) == row.level(name) for row in rows)
