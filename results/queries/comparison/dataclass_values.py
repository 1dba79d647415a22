"""Comparisons as JSON and back, for citations and the API. Pure.

What an older version of Teiten wrote is read by a newer one: a field that is missing has its default, a field that is
gone is ignored. `results.domain.dataclass_json`, which reads what others may have written, refuses it instead."""

from __future__ import annotations

import math
from collections.abc import Sequence
from enum import StrEnum
from typing import Any, TypeVar

from cattrs import Converter
from cattrs.cols import homogenous_tuple_structure_factory, is_namedtuple, is_sequence

T = TypeVar("T")


def to_json(value: Any) -> Any:
    """Return what JSON can hold of a value: dataclasses become objects, sequences lists; null stands for a number that
    JSON does not have."""
    return _CONVERTER.unstructure(value)


def from_json(kind: type[T], data: Any) -> T:
    """Return the value of this type that `to_json` wrote. Raises TypeError or KeyError for data that is of none."""
    return _CONVERTER.structure(data, kind)


def _converter() -> Converter:
    converter = Converter(detailed_validation=False, unstruct_collection_overrides={Sequence: list, tuple: list})
    converter.register_unstructure_hook(float, lambda number: number if math.isfinite(number) else None)
    converter.register_structure_hook_factory(is_sequence, homogenous_tuple_structure_factory)
    # by itself cattrs takes no NamedTuple from a module with `from __future__ import annotations`
    converter.register_structure_hook_func(is_namedtuple, lambda values, kind: kind(*values))
    converter.register_unstructure_hook_func(is_namedtuple, lambda values: [*map(converter.unstructure, values)])
    for scalar in (str, int, float, bool):  # kept as they were written: a whole number stays one
        converter.register_structure_hook(scalar, lambda value, _: value)
    converter.register_structure_hook(StrEnum, lambda value, kind: kind(value))  # which is a str as well
    converter.register_unstructure_hook(StrEnum, lambda member: member.value)
    return converter


_CONVERTER = _converter()
