"""Parameters that workloads, topologies and collectors declare: type, default, limits and help. Pure.

The form, the TOML and the API are checked by the same `Parameter.check`.
"""

from __future__ import annotations

import math
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum

from results.domain.messages import Message
from results.domain.messages import gettext_lazy as _
from results.domain.nearest import did_you_mean, nearest, suggestion
from results.domain.units import parse_seconds

Scalar = str | int | float | bool
_LONGEST_BITS = 1023  # what a float can hold
# What the texts of a plan that agents run can do there, for `Parameter.code`
SQL_CODE = _("psql runs programs by \\!, and the server by COPY … TO PROGRAM")
PGBENCH_CODE = _("pgbench runs programs by \\shell, and the server by COPY … TO PROGRAM")
SHELL_CODE = _("it is a shell script")


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

    name: as in the TOML; marked as a message where other languages have a word for it (`parameter_names`).
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

    def __post_init__(self) -> None:
        object.__setattr__(self, "name", str(self.name))  # a key, never shown in another language by mistake

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
                raise ValueError(_("{value} is not a number", value=repr(text))) from None
            return self.check(int(number) if number.is_integer() else number)
        return self.check(text)

    def advice(self, value: object) -> str:
        """What to write instead of a value that `check` refused: the nearest that is known, or what is allowed."""
        match self.kind:
            case Kind.BOOLEAN:
                return _("Write true or false.")
            case Kind.INTEGER | Kind.NUMBER:
                return self._in_seconds(value) or self._allowed_numbers()
            case Kind.CHOICE:
                near = nearest(str(value), self.choices)
                return did_you_mean(near) if near else ""
            case _:
                unknown = self._unknown_word(value)
                return suggestion(unknown, self.words) if unknown else self.help

    def _in_seconds(self, value: object) -> str:
        seconds = _seconds(value) if self.unit == "s" and isinstance(value, str) else None
        return "" if seconds is None else _("It is in seconds: write {seconds:g}.", seconds=seconds)

    def _allowed_numbers(self) -> str:
        limits = [f"{number:,.15g}" for number in (self.minimum, self.maximum) if number is not None]
        unit, whole = f" {self.unit}" if self.unit else "", self.kind is Kind.INTEGER
        if len(limits) == 2:
            between = {"least": limits[0], "most": limits[1], "unit": unit}
            if whole:
                return _("Whole numbers from {least} to {most}{unit} are taken.", **between)
            return _("Numbers from {least} to {most}{unit} are taken.", **between)
        if limits and whole:
            return _("Whole numbers from {least}{unit} on are taken.", least=limits[0], unit=unit)
        if limits:
            return _("Numbers from {least}{unit} on are taken.", least=limits[0], unit=unit)
        return _("Whole numbers are taken.") if whole else _("Numbers are taken.")

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
            return _("{value!r} is not a valid {label}", value=value, label=label)
        if label.endswith("s"):
            return _("{word!r} is none of the {label}", word=unknown, label=label)
        return _("There is no {label} {word!r}", word=unknown, label=label)

    def _boolean(self, value: object) -> bool:
        if not isinstance(value, bool):
            raise ValueError(_("{value} is not true or false", value=repr(value)))
        return value

    def _number(self, value: object, *, whole: bool) -> float:
        number = _finite_number(value, whole=whole)
        if self.minimum is not None and number < self.minimum:
            raise ValueError(_("{number:g} is below the minimum of {least:g}", number=number, least=self.minimum))
        if self.maximum is not None and number > self.maximum:
            raise ValueError(_("{number:g} is above the maximum of {most:g}", number=number, most=self.maximum))
        return number

    def _text(self, value: object) -> str:
        if not isinstance(value, str):
            raise ValueError(_("{value} is not text", value=repr(value)))
        if self.kind is Kind.CHOICE and value not in self.choices:
            raise ValueError(_("{value!r} is not one of {choices}", value=value, choices=", ".join(self.choices)))
        if self.pattern and not re.fullmatch(self.pattern, value):
            raise ValueError(self._mismatch(value))
        if "\x00" in value:
            raise ValueError(_("a NUL byte is not allowed"))
        if any("\ud800" <= character <= "\udfff" for character in value):
            raise ValueError(_("half a character (a lone surrogate) is not allowed"))
        return value


def _seconds(text: str) -> float | None:
    """'5min' → 300; None for what is no time."""
    try:
        return parse_seconds(text)
    except ValueError:
        return None


def _finite_number(value: object, *, whole: bool) -> float:
    if isinstance(value, int) and value.bit_length() > _LONGEST_BITS:
        raise ValueError(_("a number of more than {bits} bits is too large", bits=_LONGEST_BITS))
    if isinstance(value, bool) or not isinstance(value, (int, float)) or not math.isfinite(value):
        raise ValueError(_no_number(value, whole=whole))
    if whole and value % 1:
        raise ValueError(_no_number(value, whole=whole))
    return value


def _no_number(value: object, *, whole: bool) -> Message:
    if whole:
        return _("{value} is not a whole number", value=repr(value))
    return _("{value} is not a number", value=repr(value))
