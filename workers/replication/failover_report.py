"""The moments of a failover, as stored in a bundle, and its events. Pure."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass

from results.domain import json_text
from results.domain.dataclass_json import from_json
from results.domain.errors import ParseError
from results.domain.measurement.parsed_trial import Event, Gap
from results.domain.messages import gettext_lazy as _

FILE = "failover.json"
_LATE_S = 1.0  # a larger difference from the planned second is a gap
_EVENTS = {
    "stop": _("the primary is shut down (fast)"),
    "kill": _("the primary is killed (kill -9)"),
    "hang": _("the primary is frozen (SIGSTOP)"),
    "cut": _("the primary's network is cut"),
}


@dataclass(frozen=True)
class Failover:
    """A failover. All moments but asked_s are epoch seconds of the worker's clock.

    kind: as in the plan
    asked_s: the second of the window that the plan names
    struck_s: when the primary was struck
    gone_s: when its last process was gone; for a cut, when the cut was complete
    promotion_s: when promotion was requested
    promoted_s: when the promoted server left recovery
    promoted: the promoted node
    received: standby → bytes of WAL that it had when one was chosen
    """

    kind: str
    asked_s: float
    struck_s: float
    gone_s: float
    promotion_s: float
    promoted_s: float
    promoted: str
    received: Mapping[str, int]

    def to_json(self) -> str:
        return json.dumps(asdict(self), indent=1, sort_keys=True)

    def events(self, start_s: float) -> tuple[Event, ...]:
        """Return the events, on the time axis of a window that began at start_s."""
        what, gone_s = _EVENTS[self.kind], self.gone_s - self.struck_s
        struck = (
            _("{what}; which took {seconds:.3f} s", what=what, seconds=gone_s)
            if self.kind == "cut"
            else _("{what}; its last process was gone after {seconds:.3f} s", what=what, seconds=gone_s)
        )
        took = _(
            "{node} is the primary, {seconds:.3f} s after its promotion was requested",
            node=self.promoted,
            seconds=self.promoted_s - self.promotion_s,
        )
        return (
            Event(round(self.struck_s - start_s, 3), "primary", "failover", struck),
            Event(round(self.promoted_s - start_s, 3), self.promoted, "promoted", took),
        )

    def gaps(self, start_s: float) -> tuple[Gap, ...]:
        """Return a gap where the failover came at another moment than planned."""
        at_s = self.struck_s - start_s
        if abs(at_s - self.asked_s) <= _LATE_S:
            return ()
        reason = _("the primary was struck at second {at:.1f}, not {asked:g}", at=at_s, asked=self.asked_s)
        return (Gap("failover", "primary", reason),)


def read_failover(files: Mapping[str, str]) -> Failover | None:
    """Return the failover of a bundle's files, None where there was none. Raises ParseError for a damaged file."""
    text = files.get(FILE)
    if text is None:
        return None
    try:
        failover = from_json(Failover, json_text.loads(text))
        if failover.kind not in _EVENTS:
            raise ValueError(f"kind: {failover.kind!r} is none")
        return failover
    except ValueError as error:
        raise ParseError(_("not the report of a failover"), file=FILE, text=f"{error!r} in {text[:150]}") from None
