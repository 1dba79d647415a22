"""What a command prints → metrics and values. Pure.

Lines, one value each; empty ones and those that begin with '#' are passed over:

    throughput 12345.6 rows/s higher
    wait{lock} 1.5 ms lower

JSON, an object or a list:

    {"throughput": 12345.6, "wait": {"value": 1.5, "unit": "ms", "better": "lower"}}
    [{"metric": "wait", "label": "lock", "value": 1.5, "unit": "ms", "better": "lower"}]
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NoReturn

from results.domain.errors import ParseError
from results.domain.json_text import require_bounded
from results.domain.measurement.metrics import Better, Metric
from results.domain.measurement.parsed_trial import Measurement
from results.domain.messages import Message
from results.domain.messages import gettext_lazy as _
from results.domain.units import to_base

from .spec import own_name

_NAME = re.compile(r"(?:own\.)?[A-Za-z][A-Za-z0-9_.-]{0,58}")  # with "own." 63, what a metric may have
_NAME_AND_LABEL = re.compile(r"([^\s{}]+)(?:\{([^{}]*)\})?")
_LABEL = re.compile(r"[^\x00-\x1f{}\ud800-\udfff]{1,120}")
_NUMBER = re.compile(r"[-+]?(?:[0-9]++(?:\.[0-9]*+)?|\.[0-9]++)(?:[eE][-+]?[0-9]++)?")
_UNIT = re.compile(r"[^\s\x00-\x1f{}\"'\ud800-\udfff]{1,20}")
_LINE = re.compile(r"((?:[^\s{}]+)(?:\{[^{}]*\})?)\s+(\S+)(?:\s+(\S+))?(?:\s+(\S+))?\s*")
_KEYS = {"metric", "label", "value", "unit", "better"}


@dataclass(frozen=True)
class Printed:
    """One value in the base unit of its metric.

    better: '' where the output does not say."""

    metric: str
    label: str
    value: float
    unit: str
    better: str = ""


def read_output(text: str, file: str = "stdout") -> list[Printed]:
    """Read every value that a command printed.

    Raises ParseError, with line and text, for anything else in its output, for a number that is none or not finite, for
    the same value twice, for a metric in two units, and where there is no value.
    """
    if text.lstrip()[:1] in ("{", "["):
        values = list(_from_json(text, file))
        numbered = [(1, "", value) for value in values]
    else:
        numbered = list(_from_lines(text, file))
    _consistent(numbered, file)
    if not numbered:
        raise ParseError(_("The command printed no metric."), file=file)
    return [value for _, _, value in numbered]


def declared(printed: Sequence[Printed]) -> tuple[Metric, ...]:
    """Return the metrics that the output declares; the direction is that of any value that has one."""
    metrics: dict[str, Metric] = {}
    for value in printed:
        known = metrics.get(value.metric)
        better = Better(value.better) if value.better else known.better if known else Better.NEITHER
        label = value.metric.removeprefix("own.").replace("_", " ").replace(".", " ")
        help_text = _("Printed by the trial's own command.")
        metrics[value.metric] = Metric(value.metric, value.unit, better, label, help_text, signed=True)
    return tuple(metrics.values())


def measurements(printed: Sequence[Printed]) -> tuple[Measurement, ...]:
    return tuple(Measurement(value.metric, value.value, label=value.label) for value in printed)


def _from_lines(text: str, file: str) -> Iterator[tuple[int, str, Printed]]:
    for number, line in enumerate(text.split("\n"), 1):
        if not line.strip() or line.lstrip().startswith("#"):
            continue
        try:
            yield number, line, _line(line)
        except ValueError as error:
            raise ParseError(_sentence(error), file=file, line=number, text=line) from None


def _line(line: str) -> Printed:
    match = _LINE.fullmatch(line.strip())
    if match is None:
        raise ValueError(_("This is no line 'metric value unit [higher|lower]'"))
    words, value, unit, better = match.groups()
    name = _NAME_AND_LABEL.fullmatch(words)
    if name is None or not _NUMBER.fullmatch(value):
        is_no_number = _("{value!r} is no finite number", value=value)
        raise ValueError(is_no_number if name else _("This is no line 'metric value unit'"))
    return _printed(name[1], name[2], float(value), unit or "", better or "")


def _from_json(text: str, file: str) -> Iterator[Printed]:
    try:
        require_bounded(text)
        content = json.loads(text, object_pairs_hook=_each_once, parse_constant=_no_constant)
        entries = content if isinstance(content, list) else [_named(k, v) for k, v in content.items()]
        for position, entry in enumerate(entries, 1):
            try:
                yield _entry(entry)
            except ValueError as error:
                what = _("Value {position}: {what}.", position=position, what=error.args[0])
                raise ParseError(what, file=file, text=json.dumps(entry)) from None
    except json.JSONDecodeError as error:
        line = text.splitlines()[error.lineno - 1] if error.lineno <= len(text.splitlines()) else ""
        what = _("This is no JSON: {error}.", error=error.msg)
        raise ParseError(what, file=file, line=error.lineno, text=line) from None
    except RecursionError:
        raise ParseError(_("This JSON is nested too deeply."), file=file, line=1) from None
    except ValueError as error:
        raise ParseError(_sentence(error), file=file, line=1) from None


def _sentence(error: ValueError) -> Message:
    return _("{what}.", what=error.args[0])


def _each_once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    values: dict[str, Any] = {}
    for name, value in pairs:
        if name in values:
            raise ValueError(_("The key {name!r} stands there twice", name=name))
        values[name] = value
    return values


def _no_constant(text: str) -> NoReturn:
    raise ValueError(_("{value!r} is no finite number", value=text))


def _named(name: str, value: Any) -> Any:
    if not isinstance(value, Mapping):
        return {"metric": name, "value": value}
    return {"metric": name} | dict(value) if "metric" not in value else value


def _entry(entry: Any) -> Printed:
    _check_entry(entry)
    name, texts = entry["metric"], {key: entry.get(key, "") for key in ("label", "unit", "better")}
    if not all(isinstance(text, str) for text in (name, *texts.values())):
        raise ValueError(_("metric, label, unit and better are texts"))
    words = _NAME_AND_LABEL.fullmatch(name)
    if words is None or (words[2] is not None and texts["label"]):
        raise ValueError(_("{name!r} is no name of a metric", name=name))
    label = words[2] if words[2] is not None else texts["label"] or None
    try:
        number = float(entry["value"])
    except OverflowError:
        raise ValueError(_("its value is no finite number")) from None
    return _printed(words[1], label, number, texts["unit"], texts["better"])


def _check_entry(entry: Any) -> None:
    """Raises ValueError for what is no object with a metric and a value of it."""
    if not isinstance(entry, Mapping):
        raise ValueError(_("it is no object with metric and value"))
    if unknown := sorted(set(entry) - _KEYS):
        raise ValueError(_("there is no key {key!r}; keys are {keys}", key=unknown[0], keys=", ".join(sorted(_KEYS))))
    value = entry.get("value")
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        raise ValueError(_("its value {value} is no number", value=repr(value)))
    if "metric" not in entry:
        raise ValueError(_("there is no name: the key 'metric'"))


def _printed(name: str, label: str | None, value: float, unit: str, better: str) -> Printed:
    """Raises ValueError without a full stop."""
    if not _NAME.fullmatch(name):
        raise ValueError(
            _(
                "{name!r} is no name of a metric: a letter, then at most 58 letters, digits, '.', '_', '-'",
                name=name[:60],
            )
        )
    if label is not None and not _LABEL.fullmatch(label):
        raise ValueError(_("{label!r} is no label: 1 to 120 characters without braces", label=label[:60]))
    if unit in ("higher", "lower") and not better:
        raise ValueError(_("{word!r} stands where the unit does; a plain count has the unit 1", word=unit))
    if unit and not _UNIT.fullmatch(unit):
        raise ValueError(_("{unit!r} is no unit: at most 20 characters without spaces", unit=unit[:60]))
    if better not in ("", "higher", "lower"):
        raise ValueError(_("{word!r} is neither 'higher' nor 'lower'", word=better))
    base, base_unit = to_base(value, unit)
    if not math.isfinite(base):
        raise ValueError(_("Its value is no finite number"))
    return Printed(own_name(name), label or "", base, base_unit, better)


def _consistent(numbered: Sequence[tuple[int, str, Printed]], file: str) -> None:
    seen: set[tuple[str, str]] = set()
    units: dict[str, str] = {}
    directions: dict[str, str] = {}
    for line, text, one in numbered:
        what: Message | None = None
        if (one.metric, one.label) in seen:
            what = _(
                "{value} is printed twice; give each value a label of its own, as {labelled}.",
                value=_shown(one),
                labelled=_shown(one, "a"),
            )
        elif (unit := units.setdefault(one.metric, one.unit)) != one.unit:
            what = _("{metric} is printed in {one} and in {other}.", metric=one.metric, one=unit, other=one.unit)
        elif one.better and directions.setdefault(one.metric, one.better) != one.better:
            what = _("{metric} is printed as better when higher and when lower.", metric=one.metric)
        if what:
            raise ParseError(what, file=file, line=line if text else 0, text=text)
        seen.add((one.metric, one.label))


def _shown(one: Printed, label: str = "") -> str:
    name = one.metric.removeprefix("own.")
    return f"{name}{{{label or one.label}}}" if label or one.label else name
