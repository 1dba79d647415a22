"""A run's files → measurements: pgbench's own, what the data says was done, and whether it is consistent. Pure."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace

from results.domain import json_text
from results.domain.dataclass_json import ShapeError, from_json
from results.domain.errors import ParseError, damaged
from results.domain.kinds.specs import Reading
from results.domain.measurement.parsed_trial import Gap, Measurement, Part
from results.domain.messages import BLANK, Message, linked
from results.domain.messages import gettext_lazy as _
from workers.pgbench.parse import run_part

from .consistency import read_conditions
from .spec import MIX

_COUNTED = ("orders", "rolled_back", "deliveries_skipped")


def parse(reading: Reading) -> Part:
    """What pgbench, the counts and the conditions say. A run that broke off, data that are not consistent, or counts
    that do not agree make a failure, and no figure that rests on them. Raises ParseError for damaged files."""
    part = run_part(reading, list(MIX))
    part = replace(part, measurements=(*part.measurements, *_loading(reading)), gaps=tuple(_missing_failures(part)))
    if part.failure:
        return part
    for file in ("uncounted", "unchecked"):
        if reason := reading.files.get(file, "").strip():
            unchecked = _("The results could not be checked after the run: {reason}", reason=Message(reason))
            return replace(part, failure=unchecked)
    done = _done(reading)
    with damaged(_("not the report of a run of tpcc"), "stdout"):
        failure = _violated(reading) or _disagreement(part.measurements, done)
        rates = () if failure else tuple(_rates(part.measurements, done))
    return replace(part, failure=failure, measurements=(*part.measurements, *rates))


def _missing_failures(part: Part) -> Iterator[Gap]:
    if not part.failure and not any(m.metric == "failed" for m in part.measurements):
        yield Gap("tpcc", "client", _("Only pgbench 15 and later reports failures and retries by type."))


def _violated(reading: Reading) -> str:
    conditions = read_conditions(reading.files.get("conditions", ""), "conditions")
    violated = [str(condition) for condition in conditions if not condition.holds]
    return linked(BLANK, violated)


def _done(reading: Reading) -> dict[str, int]:
    """What was done between the two counts."""
    text = reading.files.get("counts.json", "")
    try:
        counts = json_text.loads(text)
        return {name: int(counts["after"][name]) - int(counts["before"][name]) for name in _COUNTED}
    except (ValueError, KeyError, TypeError):
        raise ParseError(_("not the counts before and after the run"), file="counts.json", text=text) from None


def _disagreement(measurements: Iterable[Measurement], done: Mapping[str, int]) -> str:
    """Describe how pgbench and the data differ in New-Orders. pgbench counts a mixture's scripts without a
    lock between its threads: it may lose as many as their sum lacks of the total, which is exact, and no more."""
    counted = {m.label: round(m.value) for m in measurements if m.metric == "transactions"}
    lost = counted[""] - sum(counted.get(name, 0) for name in MIX)
    by_data = done["orders"] + done["rolled_back"]
    if 0 <= by_data - counted.get("new-order", 0) <= lost:
        return ""
    return _(
        "pgbench finished {finished} New-Orders, but {stored} are in the data and {rolled_back} were rolled back: "
        "another session wrote to the database.",
        finished=counted.get("new-order", 0),
        stored=done["orders"],
        rolled_back=done["rolled_back"],
    )


def _rates(measurements: Iterable[Measurement], done: Mapping[str, int]) -> Iterator[Measurement]:
    values = {(m.metric, m.label): m.value for m in measurements}
    yield Measurement("new_orders", done["orders"])
    yield Measurement("rolled_back", done["rolled_back"])
    yield Measurement("deliveries_skipped", done["deliveries_skipped"])
    per_minute = {label: 60 * value for (metric, label), value in values.items() if metric == "tps"}
    # pgbench's run time is transactions ÷ tps
    yield Measurement("nopm", done["orders"] / values["transactions", ""] * per_minute[""])
    for label, value in per_minute.items():
        yield Measurement("tpm", value, label=label)


@dataclass(frozen=True)
class _LoadPhase:
    """rows: None where it loads none."""

    phase: str
    seconds: float
    rows: int | None = None


def _loading(reading: Reading) -> Iterator[Measurement]:
    try:
        phases = from_json(tuple[_LoadPhase, ...], reading.notes.get("load", []))
    except ShapeError as error:
        raise ParseError(_("not the phases of loading"), file="manifest.json: notes.load", text=str(error)) from error
    for phase in phases:
        yield Measurement("load.seconds", phase.seconds, label=phase.phase)
        if phase.rows is not None:
            yield Measurement("load.rows", phase.rows, label=phase.phase)
    if phases:
        yield Measurement("load.seconds", sum(phase.seconds for phase in phases))
