"""Parameters that workloads, topologies and collectors declare: type, default, limits and help. Pure.

The form, the TOML and the API are checked by the same `Parameter.check`.
"""

from __future__ import annotations

import math
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum

from results.domain.nearest import nearest, suggestion
from results.domain.units import parse_seconds

Scalar = str | int | float | bool
_LONGEST_BITS = 1023  # what a float can hold
# What the texts of a plan that agents run can do there, for `Parameter.code`
SQL_CODE = r"psql runs programs by \!, and the server by COPY … TO PROGRAM"
PGBENCH_CODE = r"pgbench runs programs by \shell, and the server by COPY … TO PROGRAM"
SHELL_CODE = "it is a shell script"


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
    pattern: a regular expression the whole text must match.
    words: names of which the text is made, where the pattern has such, for the nearest to be named.
    shell_with: the values of other parameters with which its text is a shell script, {} for always; None: it is none.
    code: where its text is run on an agent, what it can do there, a sentence without its full stop: plans that set it
        bring code (`results.domain.plan.code`)."""

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
    words: tuple[str, ...] = ()
    shell_with: Mapping[str, tuple[str, ...]] | None = field(default=None, hash=False)
    code: str = ""

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

    def advice(self, value: object) -> str:
        """What to write instead of a value that `check` refused: the nearest that is known, or what is allowed."""
        match self.kind:
            case Kind.BOOLEAN:
                return "Write true or false."
            case Kind.INTEGER | Kind.NUMBER:
                return self._allowed_numbers(value)
            case Kind.CHOICE:
                near = nearest(str(value), self.choices)
                return f"Did you mean {near}?" if near else ""
            case _:
                unknown = self._unknown_word(value)
                return suggestion(unknown, self.words) if unknown else self.help

    def _allowed_numbers(self, value: object) -> str:
        limits = [f"{number:,.15g}" for number in (self.minimum, self.maximum) if number is not None]
        unit = f" {self.unit}" if self.unit else ""
        kind = "Whole numbers" if self.kind is Kind.INTEGER else "Numbers"
        if self.unit == "s" and isinstance(value, str) and (seconds := _seconds(value)) is not None:
            return f"It is in seconds: write {seconds:g}."
        if len(limits) == 2:
            return f"{kind} from {limits[0]} to {limits[1]}{unit} are taken."
        return f"{kind} from {limits[0]}{unit} on are taken." if limits else f"{kind} are taken."

    def _unknown_word(self, value: object) -> str:
        """The first word of a text that is none of the known words; '' where there are none, or it is no text."""
        if not self.words or not isinstance(value, str):
            return ""
        names = (re.split(r"[@=]", part)[0].strip() for part in value.split(","))
        return next((name for name in names if name not in self.words), "")

    def _mismatch(self, value: str) -> str:
        """What to say of a text that does not match the pattern."""
        unknown, label = self._unknown_word(value), self.name.replace("_", " ")
        if not unknown:
            return f"{value!r} is not a valid {label}"
        several = label.endswith("s")
        return f"{unknown!r} is none of the {label}" if several else f"There is no {label} {unknown!r}"

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
            raise ValueError(self._mismatch(value))
        if "\x00" in value:
            raise ValueError("a NUL byte is not allowed")
        if any("\ud800" <= character <= "\udfff" for character in value):
            raise ValueError("half a character (a lone surrogate) is not allowed")
        return value


def _seconds(text: str) -> float | None:
    """'5min' → 300; None for what is no time."""
    try:
        return parse_seconds(text)
    except ValueError:
        return None


def _finite_number(value: object, *, whole: bool) -> float:
    expected = "a whole number" if whole else "a number"
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        raise ValueError(f"{value!r} is not {expected}")
    if isinstance(value, int) and value.bit_length() > _LONGEST_BITS:
        raise ValueError(f"a number of more than {_LONGEST_BITS} bits is too large")
    if not math.isfinite(value) or (whole and value % 1):
        raise ValueError(f"{value!r} is not {expected}")
    return value
