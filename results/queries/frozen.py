"""Values of frozen dataclasses as JSON and back, by their types. Pure.

What was written by an older version is read by a newer one: fields that it lacks have their defaults, fields that are
gone are passed over."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import fields, is_dataclass
from enum import Enum
from functools import cache
from types import NoneType, UnionType
from typing import Any, Union, get_args, get_origin, get_type_hints


def to_json(value: Any) -> Any:
    """Dataclasses become objects, sequences lists."""
    if isinstance(value, Sequence) and not isinstance(value, str):
        return [to_json(item) for item in value]
    if is_dataclass(value) and not isinstance(value, type):
        return {field.name: to_json(getattr(value, field.name)) for field in fields(value)}
    if isinstance(value, Enum):
        return value.value
    if isinstance(value, Mapping):
        return {name: to_json(item) for name, item in value.items()}
    return value


def from_json(hint: Any, data: Any) -> Any:
    """The value of this type. Raises TypeError for data that is of none."""
    origin, arguments = get_origin(hint), get_args(hint)
    if origin in (Union, UnionType):
        return None if data is None else from_json(next(kind for kind in arguments if kind is not NoneType), data)
    if origin is tuple:
        several = len(arguments) == 2 and arguments[1] is Ellipsis
        kinds = [arguments[0]] * len(data) if several else arguments
        return tuple(from_json(kind, item) for kind, item in zip(kinds, data, strict=True))
    if origin is Sequence:
        return tuple(from_json(arguments[0], item) for item in data)
    if origin in (list, dict):
        return data
    if origin is Mapping:
        return {name: from_json(arguments[1], item) for name, item in data.items()}
    if isinstance(hint, type) and is_dataclass(hint):
        return hint(**{name: from_json(kind, data[name]) for name, kind in _kinds(hint).items() if name in data})
    if isinstance(hint, type) and issubclass(hint, tuple):
        return hint(*data)
    if isinstance(hint, type) and issubclass(hint, Enum):
        return hint(data)
    return data


@cache
def _kinds(cls: type) -> dict[str, Any]:
    return get_type_hints(cls)
