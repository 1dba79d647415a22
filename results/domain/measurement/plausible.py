"""Which numbers and texts can be those of a trial: anything else is refused before a row of it is stored. Pure.

A value is finite, and negative only where its metric says that it may be. Series, events and heat maps lie within a day
of the attempt, which lies between 1970 and 2100 and is shorter than a year.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from results.domain import json_text
from results.domain.errors import IngestError
from results.domain.measurement.metrics import Metric
from results.domain.measurement.parsed_trial import (
    Document,
    Event,
    Gap,
    Latencies,
    Measurement,
    ParsedTrial,
    Part,
    PhaseTiming,
)
from results.domain.measurement.series import Series
from results.domain.messages import Message
from results.domain.messages import gettext_lazy as _

MOST_VALUE = 2.0**64  # above any counter and any number of bytes
LATEST_S = 4_102_444_800.0  # 2100, epoch seconds
LONGEST_S = 366 * 86_400.0  # of an attempt
SLACK_S = 86_400.0  # around an attempt: a time zone is 14 hours at most
_LOOK = _("Look at that file.")
_KEEP_CLOCK = _("Have chrony slew the clock of the client's machine instead of setting it, and retry the trial.")
_BIGINT, _INTEGER = 2**63 - 1, 2**31 - 1
_LONGEST_NAME, _LONGEST_UNIT, _LONGEST_TITLE = 63, 20, 100  # of columns of the warehouse
_LONGEST_LABEL, _LONGEST_MEASUREMENT_LABEL = 200, 500
_BUCKETS = 4 * 64  # of latencies, a quarter of an octave each


@dataclass(frozen=True)
class Source:
    """What was read, and what may stand in it.

    file: in the bundle, or its folder; of a whole trial its key
    metrics: name → what is declared of it
    reach: from when to when something may have happened, seconds since the start of the measured window
    """

    file: str
    metrics: Mapping[str, Metric]
    reach: tuple[float, float] = (-LONGEST_S, LONGEST_S)

    def impossible(self, field: str, why: str, todo: str = _LOOK) -> IngestError:
        return IngestError(
            _("The bundle says what cannot be."),
            where=f"{self.file}: {json_text.readable(field)}",
            why=_("{why}.", why=_readable(why)),
            todo=_("{todo} Nothing of this bundle was stored, and it is kept.", todo=todo),
        )

    def impossible_window(self, why: str) -> IngestError:
        """A window is by the wall clock of the client's machine, which may be set meanwhile."""
        clock = _("{why}: the client's clock was probably set while it measured", why=why)
        return self.impossible("window", clock, _KEEP_CLOCK)

    def signed(self, metric: str) -> bool:
        return metric in self.metrics and self.metrics[metric].signed


def require_attempt(started_s: float, ended_s: float, window: tuple[float, float] | None, source: Source) -> None:
    """Raise IngestError for an attempt, or a measured window, that no trial has. All are epoch seconds."""
    moments = {"started_s": started_s, "ended_s": ended_s}
    for name, moment_s in moments.items() if window is None else (*moments.items(), *_ends(window)):
        if not 0 <= moment_s <= LATEST_S:
            raise source.impossible(name, _("{moment!r} is no time between 1970 and 2100", moment=moment_s))
    if not 0 <= ended_s - started_s <= LONGEST_S:
        raise source.impossible("ended_s", _("the attempt lasts {seconds:g} s", seconds=ended_s - started_s))
    if window is None:
        return
    if not window[0] < window[1]:
        raise source.impossible_window(_("it lasts {seconds:g} s", seconds=window[1] - window[0]))
    if window[0] < started_s - SLACK_S or window[1] > ended_s + SLACK_S:
        raise source.impossible_window(_("it is more than a day away from the attempt"))


def _ends(window: tuple[float, float]) -> list[tuple[str, float]]:
    return [("window[0]", window[0]), ("window[1]", window[1])]


def require_part(part: Part, source: Source) -> None:
    """Raise IngestError for the first thing in a part that cannot be."""
    source = replace(source, metrics={**source.metrics, **{metric.name: metric for metric in part.metrics}})
    _require_text(part.failure, "failure", source)
    _require_numbers(part, source)


def without_impossible(part: Part, source: Source, droppable: Collection[str]) -> Part:
    """Return the part without those values of these metrics that cannot be, each with a gap that names the metric."""
    kept: list[Measurement] = []
    gaps: list[Gap] = []
    for one in part.measurements:
        try:
            if one.metric in droppable:
                _require_measurements((one,), source)
            kept.append(one)
        except IngestError as error:
            gaps.append(Gap(one.metric, one.node, _("{where}: {why}", where=error.where, why=error.why)))
    return replace(part, measurements=tuple(kept), gaps=(*part.gaps, *gaps)) if gaps else part


def impossible_phase(phase: PhaseTiming, place: str) -> str:
    """Return the field of a phase that cannot be, and why; '' where there is none.

    place: what stands before the field's name
    """
    why = _impossible_phase(phase, place)
    return _("{why}.", why=why) if why else ""


def _impossible_phase(phase: PhaseTiming, place: str = "") -> str:
    for name, seconds in (("seconds", phase.seconds), ("offset_s", phase.offset_s)):
        if not 0 <= seconds <= LONGEST_S:
            field = f"{place}{name}"
            return _("{field}: {seconds} s is nothing that a phase takes", field=field, seconds=_short(seconds))
    return ""


def require_plausible(parsed: ParsedTrial) -> None:
    """Raise IngestError for the first thing in a trial that cannot be: the last gate before its rows are stored."""
    source = Source(parsed.trial_key, {metric.name: metric for metric in parsed.metrics})
    if not 0 < parsed.attempt <= _INTEGER:
        raise source.impossible("attempt", _("{number} is no number of an attempt", number=parsed.attempt))
    if parsed.measured_from and parsed.measured_to and not parsed.measured_from < parsed.measured_to:
        raise source.impossible_window(_("it ends before it begins"))
    _require_record(parsed, source)
    _require_numbers(parsed, source)


def _require_record(parsed: ParsedTrial, source: Source) -> None:
    """Raise IngestError for what only a trial's page reads."""
    for n, phase in enumerate(parsed.phases):
        if why := _impossible_phase(phase):
            raise source.impossible(f"phases[{n}]", why)
    for n, command in enumerate(parsed.commands):
        if not 0 <= command.seconds <= LONGEST_S:
            why = _("{seconds} s is nothing that one takes", seconds=_short(command.seconds))
            raise source.impossible(f"commands[{n}].seconds", why)
    for n, file in enumerate(parsed.files):
        if not 0 <= file.size_bytes <= _BIGINT:
            raise source.impossible(f"files[{n}].size_bytes", _("{number} is no size", number=_short(file.size_bytes)))
    for name in ("phases", "commands", "checks", "files"):
        for n, row in enumerate(getattr(parsed, name)):
            _require_json(vars(row), f"{name}[{n}]", source)
    _require_json(parsed.notes, "notes", source)
    _require_json(parsed.error, "error", source)


def _require_numbers(part: Part | ParsedTrial, source: Source) -> None:
    """Raise IngestError for the first thing in a part, or in all parts of a trial, that cannot be."""
    _require_metrics(part.metrics, source)
    _require_measurements(part.measurements, source)
    _require_all_series(part.series, source)
    _require_latencies(part.latencies, source)
    _require_events(part.events, source)
    _require_documents(part.documents, source)
    for use in part.layers:
        _require_names("", use.node, "", source)
        _require_json(use.layer.content, f"layer {use.layer.kind} {use.node}", source)
    for gap in part.gaps:
        for text in (gap.source, gap.node, gap.reason):
            _require_text(text, f"gap {gap.source}", source)


def _require_metrics(metrics: Iterable[Metric], source: Source) -> None:
    for metric in metrics:
        _require_text(metric.name, "a metric's name", source, _LONGEST_NAME)
        _require_text(metric.unit, f"{metric.name}, unit", source, _LONGEST_UNIT)
        _require_text(metric.label, f"{metric.name}, label", source, _LONGEST_TITLE)
        _require_text(metric.help, f"{metric.name}, help", source)
        if not metric.unit:
            raise source.impossible(metric.name, _("it has no unit"))
        if not 0 <= metric.minimum_effect <= MOST_VALUE:
            why = _("{number!r} is no share", number=metric.minimum_effect)
            raise source.impossible(f"{metric.name}, minimum_effect", why)


def _require_measurements(measurements: Iterable[Measurement], source: Source) -> None:
    seen: set[tuple[str, ...]] = set()
    for one in measurements:
        _require_names(one.metric, one.node, one.label, source)
        field = _field(one.metric, one.node, one.label)
        if isinstance(one.value, bool) or not isinstance(one.value, (int, float)):
            raise source.impossible(field, _("{value} is no number", value=repr(one.value)))
        if not -MOST_VALUE <= one.value <= MOST_VALUE:  # nor NaN
            raise source.impossible(field, _("{number} is no number that anything measures", number=_short(one.value)))
        if one.value < 0 and not source.signed(one.metric):
            raise source.impossible(field, _("{number:g} is negative", number=one.value))
        _require_once((one.metric, one.node, one.label[:_LONGEST_MEASUREMENT_LABEL]), seen, source)


def _require_all_series(series: Iterable[Series], source: Source) -> None:
    seen: set[tuple[str, ...]] = set()
    for one in series:
        field = _field("series", one.name, one.node, one.label)
        _require_names(one.name, one.node, one.label, source)
        _require_text(one.unit, f"{field}, unit", source, _LONGEST_UNIT)
        least = -MOST_VALUE if source.signed(one.name) else 0.0
        _require_array(one.values, least, MOST_VALUE, field, source, gaps=True)
        last_s = one.start_s + one.step_s * len(one.values)
        times = one.times_s or (one.start_s, last_s) if one.values else ()
        _require_array(times, *source.reach, f"{field}, times in s", source)
        _require_once((one.name, one.node, one.label[:_LONGEST_LABEL]), seen, source)


def _require_latencies(latencies: Iterable[Latencies], source: Source) -> None:
    seen: set[tuple[str, ...]] = set()
    for one in latencies:
        field, histogram, heat = _field("latencies", one.node, one.label), one.histogram, one.heat
        _require_names("", one.node, one.label, source)
        _require_integers(histogram.latencies_us, 0, _BIGINT, f"{field}, µs", source)
        _require_integers((*histogram.counts, *heat.counts), 1, _BIGINT, f"{field}, counts", source)
        _require_integers(heat.buckets, 0, _BUCKETS, f"{field}, buckets", source)
        _require_integers(heat.seconds, int(source.reach[0]), int(source.reach[1]), f"{field}, seconds", source)
        _require_once((one.node, one.label[:_LONGEST_LABEL]), seen, source)


def _require_events(events: Iterable[Event], source: Source) -> None:
    for one in events:
        field = _field("event", one.kind, one.node)
        _require_array((one.at_s,), *source.reach, f"{field}, at_s", source)
        for text in (one.node, one.kind, one.text):
            _require_text(text, field, source)


def _require_documents(documents: Iterable[Document], source: Source) -> None:
    seen: set[tuple[str, ...]] = set()
    for one in documents:
        _require_names(one.kind, one.node, one.label, source)
        _require_json(one.content, _field("document", one.kind, one.node, one.label), source, nul=True)
        _require_once((one.kind, one.node, one.label[:_LONGEST_LABEL]), seen, source)


def _require_array(
    values: Iterable[float], least: float, most: float, field: str, source: Source, *, gaps: bool = False
) -> None:
    """gaps: whether NaN may stand among the values."""
    try:
        array = np.asarray(tuple(values), dtype=float)
    except (OverflowError, ValueError, TypeError) as error:
        raise source.impossible(field, str(error)) from error
    wrong = ~((array >= least) & (array <= most))
    if gaps:
        wrong &= ~np.isnan(array)
    if wrong.any():
        why = _("{number:g} is not between {least:g} and {most:g}", number=array[wrong][0], least=least, most=most)
        raise source.impossible(field, why)


def _require_integers(values: Iterable[int], least: int, most: int, field: str, source: Source) -> None:
    for value in values:
        if type(value) is not int or not least <= value <= most:
            number = _short(value)
            why = _("{number} is not a whole number between {least} and {most}", number=number, least=least, most=most)
            raise source.impossible(field, why)


def _require_once(key: tuple[str, ...], seen: set[tuple[str, ...]], source: Source) -> None:
    if key in seen:
        raise source.impossible(_field(*key), _("it is there twice"))
    seen.add(key)


def _require_names(name: str, node: str, label: str, source: Source) -> None:
    field = _field(name, node, label)
    _require_text(name, field, source, _LONGEST_NAME)
    _require_text(node, field, source, _LONGEST_NAME)
    _require_text(label, field, source)


def _require_text(text: str, field: str, source: Source, longest: int = 0) -> None:
    if what := json_text.problem(text):
        raise source.impossible(field, what)
    if longest and len(text) > longest:
        why = _("{text!r} has more than {most} characters", text=text[:80], most=longest)
        raise source.impossible(field, why)


def _require_json(value: Any, field: str, source: Source, *, nul: bool = False) -> None:
    if found := json_text.first_problem(value, nul=nul):
        path, what = found
        raise source.impossible(f"{field}{'.' if path[:1] not in ('', '[') else ''}{path}", what)


def _field(*words: str) -> str:
    return " ".join(str(word) for word in words if word)[:200]


def _readable(why: str) -> str:
    """Return why something cannot be: a message, in which no value is more than a number or in quotes, or the words of
    a tool without what PostgreSQL does not store."""
    return why if isinstance(why, Message) else json_text.readable(why)


def _short(value: Any) -> str:
    if isinstance(value, float) or abs(value) < 10**12:
        return f"{value:g}"
    return f"{str(value)[:20]}…" if abs(value) < 10**json_text.MOST_DIGITS else _("a number of very many digits")
