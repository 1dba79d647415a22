"""The work beside the load, as requested and as it went: its events, gaps and failure. Pure."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from results.domain import json_text
from results.domain.errors import ParseError
from results.domain.kinds.parameters import Scalar
from results.domain.kinds.specs import Reading
from results.domain.measurement.parsed_trial import Event, Gap, Part
from results.domain.messages import gettext_lazy as _

FILE = "background.json"
_KIND, _NODE = "background", "primary"
_APART_S = 1.0  # a larger difference from the planned second is a gap


@dataclass(frozen=True)
class BackgroundWork:
    """The work that a plan requests beside the load.

    kind: checkpoint or vacuum
    at_s: seconds since the start of the measured window
    """

    kind: str
    at_s: float

    @property
    def statement(self) -> str:
        return self.kind.upper()


@dataclass(frozen=True)
class _Outcome:
    """How the work went, in seconds since the start of the measured window.

    began_s, complete_s: of the statement; None where that did not happen
    ended_s: of the session
    message: the first line of its standard error
    """

    began_s: float | None
    complete_s: float | None
    ended_s: float
    message: str


def background_work(parameters: Mapping[str, Scalar]) -> BackgroundWork | None:
    """Return the work that the parameters of `workers.pgbench.parameters.BACKGROUND` request, None for none."""
    kind = str(parameters.get("background", "none"))
    return None if kind == "none" else BackgroundWork(kind, float(parameters["background_at_s"]))


def background_part(reading: Reading) -> Part:
    """Return the events `starting` and `complete` on the window's axis, with gaps and a failure.

    Work that did not begin within the window, or broke off, fails the trial. Work that had not ended with the window is
    a gap. Raises ParseError for a damaged file.
    """
    work = background_work(reading.parameters)
    if work is None:
        return Part()
    outcome = _read(reading)
    length_s = reading.window[1] - reading.window[0]
    if outcome is None or outcome.began_s is None or not 0 <= outcome.began_s <= length_s:
        return Part(failure=_why_not_begun(work, outcome, length_s))
    events = [Event(outcome.began_s, _NODE, _KIND, _("{statement} starting", statement=work.statement))]
    if outcome.complete_s is not None:
        complete = _("{statement} complete", statement=work.statement)
        events.append(Event(outcome.complete_s, _NODE, _KIND, complete))
    failure = ""
    if outcome.complete_s is None and outcome.ended_s < length_s:
        failure = _(
            "{statement} broke off {ended:.1f} s into the window: {message}",
            statement=work.statement,
            ended=outcome.ended_s,
            message=outcome.message,
        )
    return Part(events=tuple(events), gaps=tuple(_gaps(work, outcome, length_s)), failure=failure)


def _why_not_begun(work: BackgroundWork, outcome: _Outcome | None, length_s: float) -> str:
    message = outcome.message if outcome else _("its session left no output")
    values = {"statement": work.statement, "at": work.at_s, "length": length_s}
    if not message:
        return _("{statement} was to run at second {at:g} and did not begin in a window of {length:.1f} s.", **values)
    return _(
        "{statement} was to run at second {at:g} and did not begin in a window of {length:.1f} s: {message}",
        message=message,
        **values,
    )


def _gaps(work: BackgroundWork, outcome: _Outcome, length_s: float) -> list[Gap]:
    reasons = []
    if outcome.began_s is not None and abs(outcome.began_s - work.at_s) > _APART_S:
        reasons.append(
            _(
                "{statement} began at second {began:.1f}, not {at:g}",
                statement=work.statement,
                began=outcome.began_s,
                at=work.at_s,
            )
        )
    if outcome.ended_s >= length_s and (outcome.complete_s is None or outcome.complete_s > length_s):
        reasons.append(
            _(
                "{statement} was still running when the measured window ended: its end is not measured",
                statement=work.statement,
            )
        )
    return [Gap(_KIND, _NODE, reason) for reason in reasons]


def _read(reading: Reading) -> _Outcome | None:
    text = reading.files.get(FILE)
    if text is None:
        return None
    try:
        content = json_text.loads(text)
        start_s = reading.window[0] + float(content["clock_offset_s"])
        moments = dict(line.split(" ", 1) for line in str(content["stdout"]).splitlines() if line)
        began_s, complete_s = (
            round(float(moments[name]) - start_s, 3) if name in moments else None for name in ("began", "complete")
        )
        messages = str(content["stderr"]).splitlines()
        return _Outcome(began_s, complete_s, float(content["ended_s"]) - start_s, messages[0] if messages else "")
    except (ValueError, KeyError, TypeError) as error:
        raise ParseError(_("not the report of background work"), file=FILE, text=f"{error!r} in {text[:150]}") from None
