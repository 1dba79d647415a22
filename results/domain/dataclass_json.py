"""Frozen dataclasses out of JSON and TOML, by the types of their fields. Pure."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import is_dataclass
from datetime import datetime
from enum import StrEnum
from typing import Any, TypeVar

from cattrs import Converter, transform_error
from cattrs.cols import homogenous_tuple_structure_factory, is_mapping, is_sequence, mapping_structure_factory
from cattrs.errors import BaseValidationError, ForbiddenExtraKeysError
from cattrs.gen import make_dict_structure_fn
from cattrs.strategies import configure_union_passthrough

from results.domain.messages import Message
from results.domain.messages import gettext_lazy as _

T = TypeVar("T")
_Scalar = str | int | float | bool
_Hook = Callable[[Any, Any], Any]
_SCALARS = (str, int, float, bool)


class ShapeError(ValueError):
    """Data that is not of the type asked for.

    path: where in the data, such as `files[2].sha256`; '' for all of it.
    what: what is wrong there.
    """

    def __init__(self, path: str, what: str) -> None:
        super().__init__(_("{path}: {what}", path=path, what=what) if path else what)
        self.path, self.what = path, what


def from_json(kind: type[T], data: object) -> T:
    """Return the data as a value of the type: objects become dataclasses, lists tuples.

    A field with a default may be missing; a field that the type does not have is refused. Numbers are kept as they
    are: a whole number stays one where the type says float, so that it is written again as it was read. A datetime is
    a text by ISO 8601 with its time zone.
    Raises ShapeError for the first thing that is wrong.
    """
    try:
        return _CONVERTER.structure(data, kind)
    except (BaseValidationError, TypeError, ValueError) as error:
        messages: dict[str, str] = {}  # what cattrs returns is plain text

        def in_words(error: BaseException, kind: type | None) -> str:
            words = _in_words(error)
            return messages.setdefault(words, words)

        what, _at, path = transform_error(error, path="", format_exception=in_words)[0].rpartition(" @ ")
        raise ShapeError(path.removeprefix("."), messages.get(what, what)) from error


def _in_words(error: BaseException) -> str:
    match error:
        case ForbiddenExtraKeysError():
            return _("there is no field {fields}", fields=", ".join(sorted(error.extra_fields)))
        case KeyError():
            return _("this field is missing")
    return error.args[0] if error.args and isinstance(error.args[0], Message) else str(error)


def _structure_scalar(value: Any, kind: Any) -> Any:
    accepted = (int, float) if kind is float else kind
    if not isinstance(value, accepted) or isinstance(value, bool) is not (kind is bool):
        raise TypeError(_no_scalar(value, kind))
    return value


def _no_scalar(value: Any, kind: Any) -> Message:
    if kind is str:
        return _("{value} is not text", value=repr(value))
    if kind is int:
        return _("{value} is not a whole number", value=repr(value))
    if kind is float:
        return _("{value} is not a number", value=repr(value))
    return _("{value} is not true or false", value=repr(value))


def _structure_datetime(value: Any, kind: Any) -> datetime:
    if not isinstance(value, str) or (moment := datetime.fromisoformat(value)).tzinfo is None:
        raise TypeError(_("{value} is not a time with its zone, as 2026-01-31T02:00:00+00:00", value=repr(value)))
    return moment


def _only_from(
    accepted: type | tuple[type, ...], refusal: Callable[[Any], Message], factory: Callable[[Any, Converter], _Hook]
) -> Callable[[Any, Converter], _Hook]:
    """The factory of a hook, with a check before it: cattrs takes a text for a list of characters."""

    def checked(kind: Any, converter: Converter) -> _Hook:
        structure = factory(kind, converter)

        def hook(value: Any, kind: Any) -> Any:
            if not isinstance(value, accepted):
                raise TypeError(refusal(value))
            return structure(value, kind)

        return hook

    return checked


def _no_object(value: Any) -> Message:
    return _("{value} is not an object with fields", value=repr(value))


def _no_list(value: Any) -> Message:
    return _("{value} is not a list", value=repr(value))


def _converter() -> Converter:
    converter = Converter(forbid_extra_keys=True)
    for predicate, factory in (
        (is_dataclass, _only_from(Mapping, _no_object, _structure_fields)),
        (is_mapping, _only_from(Mapping, _no_object, mapping_structure_factory)),
        (is_sequence, _only_from((list, tuple), _no_list, homogenous_tuple_structure_factory)),
    ):
        converter.register_structure_hook_factory(predicate, factory)
    for scalar in _SCALARS:
        converter.register_structure_hook(scalar, _structure_scalar)
    converter.register_structure_hook(datetime, _structure_datetime)
    converter.register_structure_hook(StrEnum, lambda value, kind: kind(value))
    configure_union_passthrough(_Scalar, converter)
    return converter


def _structure_fields(kind: Any, converter: Converter) -> _Hook:
    return make_dict_structure_fn(kind, converter, _cattrs_forbid_extra_keys=True)


_CONVERTER = _converter()
