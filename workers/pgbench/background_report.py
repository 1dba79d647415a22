"""What was asked to run beside the load, and what came of it → events, gaps, a failure. Pure."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass

from results.domain.errors import ParseError
from results.domain.kinds.parameters import Scalar
from results.domain.kinds.specs import Reading
from results.domain.measurement.parsed_trial import Event, Gap, Part

FILE = "background.json"
_KIND, _NODE = "background", "primary"
_APART_S = 1.0  # how long after or before its moment it may begin before that is told


@dataclass(frozen=True)
class Asked:
    """work: checkpoint or vacuum. at_s: seconds since the start of the measured window."""

    work: str
    at_s: float

    @property
    def statement(self) -> str:
        return self.work.upper()


@dataclass(frozen=True)
class _Said:
    """began_s, complete_s, ended_s (of the session): seconds since the window's start; None where it never came to it.
    words: the first complaint."""

    began_s: float | None
    complete_s: float | None
    ended_s: float
    words: str


def asked_for(parameters: Mapping[str, Scalar]) -> Asked | None:
    """What the parameters of `workers.pgbench.parameters.BACKGROUND` ask for, None for nothing."""
    work = str(parameters.get("background", "none"))
    return None if work == "none" else Asked(work, float(parameters["background_at_s"]))


def background_part(reading: Reading) -> Part:
    """Events `starting` and `complete` on the window's axis. What did not begin within the window, or broke off, is
    the Part's failure: the trial is not the one that was asked for. What had not come to its end with the window is a
    gap. Raises ParseError for a damaged file."""
    asked = asked_for(reading.parameters)
    if asked is None:
        return Part()
    said = _read(reading)
    length_s = reading.window[1] - reading.window[0]
    if said is None or said.began_s is None or not 0 <= said.began_s <= length_s:
        words = said.words if said else "its session left no word"
        late = (
            f"{asked.statement} was to run at second {asked.at_s:g} and did not begin in a window of {length_s:.1f} s"
        )
        return Part(failure=f"{late}: {words}" if words else f"{late}.")
    events = [Event(said.began_s, _NODE, _KIND, f"{asked.statement} starting")]
    if said.complete_s is not None:
        events.append(Event(said.complete_s, _NODE, _KIND, f"{asked.statement} complete"))
    failure = ""
    if said.complete_s is None and said.ended_s < length_s:
        failure = f"{asked.statement} broke off {said.ended_s:.1f} s into the window: {said.words}"
    return Part(events=tuple(events), gaps=tuple(_gaps(asked, said, length_s)), failure=failure)


def _gaps(asked: Asked, said: _Said, length_s: float) -> list[Gap]:
    found = []
    if said.began_s is not None and abs(said.began_s - asked.at_s) > _APART_S:
        found.append(f"{asked.statement} began at second {said.began_s:.1f}, not {asked.at_s:g}")
    if said.ended_s >= length_s and (said.complete_s is None or said.complete_s > length_s):
        found.append(f"{asked.statement} was still running when the measured window ended: its end is not measured")
    return [Gap(_KIND, _NODE, reason) for reason in found]


def _read(reading: Reading) -> _Said | None:
    text = reading.files.get(FILE)
    if text is None:
        return None
    try:
        content = json.loads(text)
        start_s = reading.window[0] + float(content["clock_offset_s"])
        moments = dict(line.split(" ", 1) for line in str(content["stdout"]).splitlines() if line)
        began_s, complete_s = (
            round(float(moments[name]) - start_s, 3) if name in moments else None for name in ("began", "complete")
        )
        complaints = str(content["stderr"]).splitlines()
        return _Said(began_s, complete_s, float(content["ended_s"]) - start_s, complaints[0] if complaints else "")
    except (ValueError, KeyError, TypeError) as error:
        raise ParseError("not what background work left", file=FILE, text=f"{error!r} in {text[:150]}") from None
