"""Values of frozen dataclasses as JSON and back, by their types. Pure.

What was written by an older version is read by a newer one: fields that it lacks have their defaults, fields that are
gone are passed over."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import fields, is_dataclass
from enum import Enum
from functools import cache
from types import NoneType, UnionType
from typing import Any, Union, get_args, get_origin, get_type_hints


def to_json(value: Any) -> Any:
    """Return what JSON can hold of a value: dataclasses become objects, sequences lists; null stands for a number that
    JSON does not have."""
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    if isinstance(value, Enum):
        return value.value
    if value is None or isinstance(value, str | int):
        return value
    if isinstance(value, Mapping):
        return {str(name): to_json(item) for name, item in value.items()}
    if is_dataclass(value):
        return {field.name: to_json(getattr(value, field.name)) for field in fields(value)}
    return [to_json(item) for item in value]


def from_json(hint: Any, data: Any) -> Any:
    """Return the value of this type that was written by `to_json`. Raises TypeError for data that is of none."""
    origin, arguments = get_origin(hint), get_args(hint)
    if origin in (Union, UnionType):
        return None if data is None else from_json(next(kind for kind in arguments if kind is not NoneType), data)
    if origin in (tuple, Sequence):
        several = origin is Sequence or arguments[1:] == (Ellipsis,)
        kinds = [arguments[0]] * len(data) if several else arguments
        return tuple(from_json(kind, item) for kind, item in zip(kinds, data, strict=True))
    if origin is Mapping:
        return {name: from_json(arguments[1], item) for name, item in data.items()}
    return _instance(hint, data) if isinstance(hint, type) else data


def _instance(cls: type, data: Any) -> Any:
    if is_dataclass(cls):
        return cls(**{name: from_json(kind, data[name]) for name, kind in _kinds(cls).items() if name in data})
    if issubclass(cls, tuple):
        return cls(*data)
    return cls(data) if issubclass(cls, Enum) else data


@cache
def _kinds(cls: type) -> dict[str, Any]:
    return get_type_hints(cls)
