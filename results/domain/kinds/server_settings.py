"""What the settings of a PostgreSQL build are, and whether a value can be one of them. Pure.

A build says it itself, in pg_settings, a line a setting: 'NAME|TYPE|UNIT|CONTEXT|LEAST|MOST|VALUES', the values of an
enum with commas (`workers/postgres/installation_probe.sh`). Values are read as PostgreSQL's guc.c does, by 12's
rules in 11 as well, which takes no fractions of whole numbers. What a setting's own hook refuses is let through, and so
is every text.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from results.domain.errors import ParseError
from results.domain.messages import gettext_lazy as _
from results.domain.nearest import nearest as nearest_of
from results.domain.units import setting_in_base_units, to_base

_NUMBER = re.compile(r"\s*([-+]?(?:0x[0-9a-f]+|(?:\d+\.?\d*|\.\d+)(?:e[-+]?\d+)?))\s*([A-Za-z]*)\s*", re.IGNORECASE)
_UNIT = re.compile(r"(\d*)(\w+)")
_MEMORY, _TIME = ("B", "kB", "MB", "GB", "TB"), ("us", "ms", "s", "min", "h", "d")
# how people write units that PostgreSQL writes otherwise, in lower case
_UNIT_WORDS = {unit.lower(): unit for unit in (*_MEMORY, *_TIME)} | {
    **{letter: f"{letter.upper()}B".replace("KB", "kB") for letter in "kgt"},
    **{f"{letter}ib": f"{letter.upper()}B".replace("KB", "kB") for letter in "kmgt"},
    **dict.fromkeys(("sec", "secs", "second", "seconds"), "s"),
    **dict.fromkeys(("m", "mins", "minute", "minutes"), "min"),
    **dict.fromkeys(("hour", "hours"), "h"),
    **dict.fromkeys(("day", "days"), "d"),
}
_SWITCH = ("on", "off", "true", "false", "yes", "no", "1", "0")
_NOT_IN_A_FILE = ("transaction_deferrable", "transaction_isolation", "transaction_read_only")
# values that only some builds have → the option of configure that gives them
BUILT_WITH = {"lz4": "--with-lz4", "zstd": "--with-zstd", "io_uring": "--with-liburing"}
_NEAR = 0.8  # of difflib's ratio


@dataclass(frozen=True)
class SettingType:
    """One setting of a build.

    kind: bool, integer, real, string or enum.
    unit: what a plain number counts ('8kB', 'ms'), '' without one.
    least, most: None without a limit.
    values: of an enum, those that the build shows."""

    name: str
    kind: str
    unit: str = ""
    context: str = ""
    least: float | None = None
    most: float | None = None
    values: tuple[str, ...] = ()


def read(lines: Iterable[str]) -> dict[str, SettingType]:
    """Lines of a build → its settings by name in lower case, as which PostgreSQL takes them. Raises ParseError."""
    settings = {}
    for number, line in enumerate(lines, 1):
        try:
            name, kind, unit, context, least, most, values = line.split("|")
            limits = (float(least) if least else None, float(most) if most else None)
        except ValueError as error:
            raise ParseError(_("This is no line of pg_settings."), file="settings", line=number, text=line) from error
        texts = tuple(values.split(",")) if values else ()
        settings[name.lower()] = SettingType(name, kind, unit, context, *limits, texts)
    return settings


def nearest(name: str, known: Mapping[str, SettingType]) -> str:
    """The setting whose name is most like this one; '' where none is."""
    return nearest_of(name, [setting.name for setting in known.values()], _NEAR)


def instead(setting: SettingType, value: str) -> str:
    """The value that may have been meant by one that is refused: the nearest of an enum's, the same number with its
    unit as PostgreSQL writes it; '' where none is near."""
    if setting.kind == "enum":
        return nearest_of(value, setting.values)
    number = _NUMBER.fullmatch(value)
    if number is None:
        return ""
    unit = _UNIT_WORDS.get(number[2].lower(), "")
    fitting = f"{number[1]}{unit}"
    return fitting if unit in _units_beside(setting.unit) and not fault(setting, fitting) else ""


def fault(setting: SettingType, value: str) -> str:
    """Why a plan cannot set this, or not to this value, as the end of a sentence; '' where it can."""
    if setting.context == "internal":
        return _("cannot be set: it is fixed when PostgreSQL is built, or its cluster made")
    if setting.name in _NOT_IN_A_FILE:
        return _("is set by each transaction for itself")
    match setting.kind:
        case "bool":
            return "" if _is_switch(value) else _("is on or off, not {value!r}", value=value)
        case "enum":
            if value.lower() in _accepted(setting):
                return ""
            return _("is one of {values}, not {value!r}", values=", ".join(setting.values), value=value)
        case "integer" | "real":
            return _number_fault(setting, value)
    return ""


def _is_switch(text: str) -> bool:
    """As parse_bool: the first letters of a word do, where they are of that word alone."""
    word = text.lower()
    return word in ("1", "0", "on", "of", "off") or any(
        word and full.startswith(word) for full in ("true", "false", "yes", "no")
    )


def _accepted(setting: SettingType) -> set[str]:
    """With what pg_settings does not show: other words for on and off, and the names that two values had before."""
    shown = {value.lower() for value in setting.values}
    if {"on", "off"} <= shown:
        shown |= set(_SWITCH)
    if "debug1" in shown:
        shown.add("debug")
    if setting.name == "wal_level" and "replica" in shown:
        shown |= {"archive", "hot_standby"}
    return shown


def _number_fault(setting: SettingType, value: str) -> str:
    match, units = _NUMBER.fullmatch(value), _units_beside(setting.unit)
    if match is None or (match[2] and match[2] not in units):
        if not units:
            return _("is a number, not {value!r}", value=value)
        return _("is a number with or without a unit of {units}, not {value!r}", units=", ".join(units), value=value)
    amount = _converted(_amount(match[1]), match[2], setting.unit)
    if setting.kind == "integer" and math.isfinite(amount):
        amount = round(amount)
    typed = value.strip() if match[2] else _quantity(amount, setting.unit)
    return _beyond_limits(setting, amount, typed)


def _units_beside(unit: str) -> tuple[str, ...]:
    """The units in which a setting of this unit may be written; none for a plain number."""
    base = _UNIT.fullmatch(unit)
    if base is None:
        return ()
    return _MEMORY if base[2] in _MEMORY else _TIME


def _converted(amount: float, amount_unit: str, unit: str) -> float:
    """(1, 'MB', '8kB') → 128; an amount without a unit is one of the setting's own."""
    base = _UNIT.fullmatch(unit)
    if not amount_unit or base is None:
        return amount
    return amount * (to_base(1, amount_unit)[0] / (float(base[1] or 1) * to_base(1, base[2])[0]))


def _beyond_limits(setting: SettingType, amount: float, typed: str) -> str:
    if setting.least is not None and amount < setting.least:
        return _("is at least {least}, not {value}", least=_quantity(setting.least, setting.unit), value=typed)
    if setting.most is not None and amount > setting.most:
        return _("is at most {most}, not {value}", most=_quantity(setting.most, setting.unit), value=typed)
    return ""


def _amount(text: str) -> float:
    """As strtol with base 0, else strtod: hexadecimal after 0x, octal after 0."""
    plain = text.lower().lstrip("+-")
    sign = -1.0 if text.startswith("-") else 1.0
    base = 16 if plain.startswith("0x") else 8 if re.fullmatch(r"0[0-7]+", plain) else 0
    try:
        return sign * (int(plain, base) if base else float(plain))
    except OverflowError:
        return sign * math.inf


def _quantity(amount: float, unit: str) -> str:
    """(16, '8kB') → '128kB'."""
    whole = math.isfinite(amount) and float(amount).is_integer() and abs(amount) < 1e15
    return setting_in_base_units(f"{amount:.0f}" if whole else f"{amount:g}", unit)
