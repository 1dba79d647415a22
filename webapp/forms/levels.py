"""Values of a plan ↔ what stands in the form's inputs. Pure. No validation: what cannot be typed stays text, and
`plan.from_mapping` says what is wrong with it."""

from __future__ import annotations

import csv
import io
import json
import re
import tomllib
from collections.abc import Mapping, Sequence
from typing import Any

from results.domain import toml_text
from results.domain.kinds.parameters import Kind, Parameter

_LONGEST_NUMBER = 300
_NUMBER = re.compile(r"[-+]?\d+(\.\d+)?([eE][-+]?\d+)?")
_BOOLEANS = {"true": True, "on": True, "yes": True, "false": False, "off": False, "no": False}


def typed(parameter: Parameter | None, text: str) -> Any:
    """'4' of an integer parameter → 4, 'on' of a boolean → True; anything else stays the text."""
    plain = text.strip()
    if parameter is None or parameter.kind in (Kind.TEXT, Kind.SCRIPT, Kind.CHOICE):
        return text
    if parameter.kind is Kind.BOOLEAN:
        return _BOOLEANS.get(plain.lower(), text)
    if len(plain) > _LONGEST_NUMBER or not _NUMBER.fullmatch(plain):
        return text
    return int(plain) if re.fullmatch(r"[-+]?\d+", plain) else float(plain)


def text_of(value: Any) -> str:
    """The text from which `typed` makes the value again."""
    return str(value).lower() if isinstance(value, bool) else str(value)


def read_levels(parameter: Parameter | None, text: str) -> Any:
    """'1, 4, 16' → [1, 4, 16]. A level with a comma stands in double quotes; a list of TOML ('[{label = …}]') gives
    composite levels. Text that is no TOML stays text."""
    if text.lstrip().startswith("["):
        try:
            return toml_text.loads(f"levels = {text.strip()}")["levels"]
        except tomllib.TOMLDecodeError:
            return text
    return [typed(parameter, item) for item in _items(text)]


def write_levels(levels: Any) -> str:
    """The text from which `read_levels` makes the levels again."""
    if not isinstance(levels, Sequence) or isinstance(levels, str):
        return text_of(levels)
    if any(isinstance(level, (Mapping, list)) for level in levels):
        return "[\n" + "".join(f"  {_toml(level)},\n" for level in levels) + "]"
    return ", ".join(_quoted(text_of(level)) for level in levels)


def read_exclude(text: str) -> list[dict[str, str]]:
    """One combination a line, 'clients=64, installation=16'."""
    excluded = []
    for line in text.splitlines():
        pairs = [item.partition("=") for item in _items(line)]
        if pairs:
            excluded.append({factor.strip(): level.strip() for factor, _, level in pairs})
    return excluded


def write_exclude(entries: Any) -> str:
    if not isinstance(entries, list):
        return ""
    return "\n".join(_combination(entry) for entry in entries if isinstance(entry, Mapping))


def _combination(entry: Mapping[str, Any]) -> str:
    return ", ".join(_quoted(f"{factor}={text_of(level)}") for factor, level in entry.items())


def _items(text: str) -> list[str]:
    rows = csv.reader(io.StringIO(text.replace("\r\n", "\n")), skipinitialspace=True)
    quoted = text.strip().startswith('""')  # a lone empty level is meant, not an empty line
    items: list[str] = []
    for row in rows:
        items += [item.strip() for item in row if item.strip() or quoted or len(row) > 1]
    return items


def _quoted(text: str) -> str:
    if text and text == text.strip() and not any(c in text for c in ',"\n') and not text.startswith("["):
        return text
    return '"' + text.replace('"', '""') + '"'


def _toml(value: Any) -> str:
    if isinstance(value, Mapping):
        return "{ " + ", ".join(f"{json.dumps(str(k))} = {_toml(v)}" for k, v in value.items()) + " }"
    if isinstance(value, list):
        return "[" + ", ".join(map(_toml, value)) + "]"
    return json.dumps(value, ensure_ascii=False)
