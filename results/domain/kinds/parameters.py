"""Parameters that workloads, topologies and collectors declare: type, default, limits and help. Pure.

The form, the TOML and the API are checked by the same `Parameter.check`.
"""

from __future__ import annotations

import math
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum

Scalar = str | int | float | bool
_LONGEST_BITS = 1023  # what a float can hold


class Kind(StrEnum):
    INTEGER = "integer"
    NUMBER = "number"
    TEXT = "text"
    SCRIPT = "script"  # text of many lines
    BOOLEAN = "boolean"
    CHOICE = "choice"


@dataclass(frozen=True)
class Parameter:
    """One parameter of a kind.

    name: as in the TOML.
    loads: part of what decides the loaded data (two trials that differ only in parameters that do not load may share
        data).
    pattern: a regular expression the whole text must match."""

    name: str
    kind: Kind
    default: Scalar
    help: str
    minimum: float | None = None
    maximum: float | None = None
    choices: tuple[str, ...] = ()
    unit: str = ""
    loads: bool = False
    pattern: str = ""
    only_with: Mapping[str, tuple[str, ...]] = field(default_factory=dict, hash=False)

    def check(self, value: object) -> Scalar:
        """The value as this parameter's type. Raises ValueError with a sentence for the user."""
        match self.kind:
            case Kind.BOOLEAN:
                return self._boolean(value)
            case Kind.INTEGER:
                return int(self._number(value, whole=True))
            case Kind.NUMBER:
                return self._number(value, whole=False)
            case _:
                return self._text(value)

    def read(self, text: str) -> Scalar:
        """A form's or URL's text as this parameter's type. Raises ValueError with a sentence for the user."""
        if self.kind is Kind.BOOLEAN and text.lower() in ("true", "false", "on", "off"):
            return text.lower() in ("true", "on")
        if self.kind in (Kind.INTEGER, Kind.NUMBER):
            try:
                number = float(text)
            except ValueError:
                raise ValueError(f"{text!r} is not a number") from None
            return self.check(int(number) if number.is_integer() else number)
        return self.check(text)

    def _boolean(self, value: object) -> bool:
        if not isinstance(value, bool):
            raise ValueError(f"{value!r} is not true or false")
        return value

    def _number(self, value: object, *, whole: bool) -> float:
        number = _finite_number(value, whole=whole)
        if self.minimum is not None and number < self.minimum:
            raise ValueError(f"{number:g} is below the minimum of {self.minimum:g}")
        if self.maximum is not None and number > self.maximum:
            raise ValueError(f"{number:g} is above the maximum of {self.maximum:g}")
        return number

    def _text(self, value: object) -> str:
        if not isinstance(value, str):
            raise ValueError(f"{value!r} is not text")
        if self.kind is Kind.CHOICE and value not in self.choices:
            raise ValueError(f"{value!r} is not one of {', '.join(self.choices)}")
        if self.pattern and not re.fullmatch(self.pattern, value):
            raise ValueError(f"{value!r} does not have the form {self.pattern}")
        if "\x00" in value:
            raise ValueError("a NUL byte is not allowed")
        if any("\ud800" <= character <= "\udfff" for character in value):
            raise ValueError("half a character (a lone surrogate) is not allowed")
        return value


def _finite_number(value: object, *, whole: bool) -> float:
    expected = "a whole number" if whole else "a number"
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        raise ValueError(f"{value!r} is not {expected}")
    if isinstance(value, int) and value.bit_length() > _LONGEST_BITS:
        raise ValueError(f"a number of more than {_LONGEST_BITS} bits is too large")
    if not math.isfinite(value) or (whole and value % 1):
        raise ValueError(f"{value!r} is not {expected}")
    return value
