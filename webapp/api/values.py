"""Serializers of frozen dataclasses and NamedTuples: a field for each of theirs, by its type."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import fields, is_dataclass
from datetime import datetime
from enum import StrEnum
from functools import cache
from types import NoneType, UnionType
from typing import Any, Union, get_args, get_origin, get_type_hints

from rest_framework import serializers

Field = serializers.Field[Any, Any, Any, Any]


class FiniteFloatField(serializers.FloatField):
    """A number; null where it is a gap (JSON has no NaN)."""

    def to_representation(self, value: Any) -> float | None:  # type: ignore[override]
        return None if value is None or not math.isfinite(value) else float(value)


class NumbersField(serializers.ListField):
    """Numbers, null where there is a gap: without a call of the child for each."""

    def to_representation(self, data: Any) -> list[Any]:
        return [value if value is not None and math.isfinite(value) else None for value in data]


_hints = cache(get_type_hints)


class ValueSerializer(serializers.Serializer[Any]):
    """Shows a frozen dataclass, or a NamedTuple, without its functions. Fields declared on the serializer replace or
    follow its own.

    value: the class.
    leave_out: names of further fields that are not shown."""

    value: type
    leave_out: tuple[str, ...] = ()

    def get_fields(self) -> dict[str, Field]:
        declared = super().get_fields()
        hints = _hints(self.value)
        names = [name for name in _names(self.value) if name not in self.leave_out]
        shown = [name for name in names if not _is_function(hints[name])]
        own = {name: declared.pop(name) if name in declared else field_of(hints[name]) for name in shown}
        return own | declared


def _names(value: type) -> tuple[str, ...]:
    """Return the names of the fields of a dataclass or NamedTuple; none of any other class."""
    if is_dataclass(value):
        return tuple(field.name for field in fields(value))
    return getattr(value, "_fields", ())


def _is_function(hint: Any) -> bool:
    return Callable in (get_origin(hint), *map(get_origin, get_args(hint)))


_PLAIN: dict[type, type[Field]] = {
    bool: serializers.BooleanField,
    int: serializers.IntegerField,
    float: FiniteFloatField,
    str: serializers.CharField,
    datetime: serializers.DateTimeField,
}


def field_of(hint: Any, **options: Any) -> Field:
    """The field for a type: plain ones, `X | None`, tuples, mappings, and dataclasses and NamedTuples as objects of
    their own."""
    origin, arguments = get_origin(hint), get_args(hint)
    if origin in _OF_SEVERAL:
        return _OF_SEVERAL[origin](arguments)
    if isinstance(hint, type) and _names(hint):
        return serializer_of(hint)(read_only=True, **options)
    kind = str if isinstance(hint, type) and issubclass(hint, StrEnum) else hint
    if kind not in _PLAIN:
        return serializers.JSONField(read_only=True)
    return _PLAIN[kind](read_only=True, **options)


def _union(arguments: tuple[Any, ...]) -> Field:
    kinds = [argument for argument in arguments if argument is not NoneType]
    if len(kinds) > 1:
        return serializers.JSONField(read_only=True)
    if get_origin(kinds[0]) is Mapping:
        return serializers.DictField(read_only=True, allow_null=True)
    return field_of(kinds[0], allow_null=True)


def _tuple(arguments: tuple[Any, ...]) -> Field:
    inner = field_of(arguments[0])
    if isinstance(inner, serializers.Serializer):
        return inner.__class__(many=True, read_only=True)
    return serializers.ListField(child=inner, read_only=True)


def _mapping(arguments: tuple[Any, ...]) -> Field:
    child = serializers.JSONField() if arguments[1] is Any else field_of(arguments[1])
    return serializers.DictField(child=child, read_only=True)


_OF_SEVERAL = {Union: _union, UnionType: _union, tuple: _tuple, Mapping: _mapping}


@cache
def serializer_of(value: type) -> type[ValueSerializer]:
    """The plain serializer of a dataclass or NamedTuple that needs nothing more."""
    name = value.__name__.removesuffix("Row") + "Serializer"
    return type(name, (ValueSerializer,), {"value": value, "__doc__": value.__doc__})
