"""What the sessions of a trial's servers do and wait for, at one moment, and whether anything moved since the look
before. Pure."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from typing import Any

from results.domain.dataclass_json import from_json
from results.domain.messages import Message, ngettext_lazy
from results.domain.messages import gettext_lazy as _
from results.domain.stored_texts import MESSAGES, in_english, made_of, with_texts


@dataclass(frozen=True)
class Sessions:
    """Sessions that are alike.

    state: as in pg_stat_activity.
    wait: 'Lock: relation', '' = for nothing: they are at work.
    since_s: when the first of them came into this state, epoch.
    query: of that one, its beginning."""

    count: int
    state: str
    wait: str
    since_s: float
    query: str

    def __str__(self) -> str:
        return str(self.words)

    @property
    def words(self) -> Message:
        sessions = ngettext_lazy(
            "{number:,} session {state}, {doing}, since {moment}",
            "{number:,} sessions {state}, {doing}, since {moment}",
            self.count,
            state=self.state or _("in no state"),
            doing=_("waiting for {wait}", wait=self.wait) if self.wait else _("waiting for nothing"),
            moment=_clock(self.since_s),
        )
        return _("{sessions}: {query}", sessions=sessions, query=self.query) if self.query else sessions


@dataclass(frozen=True)
class NodeActivity:
    """What one server's sessions did at a moment.

    trouble: why the server could not be asked.
    still_since_s: since when nothing moves, epoch; None: something does, or nobody knows yet."""

    node: str
    sessions: tuple[Sessions, ...] = ()
    trouble: str = ""
    still_since_s: float | None = None


@dataclass(frozen=True)
class ActivitySample:
    """What the sessions of all servers did at a moment.

    at_s: when it was taken, epoch seconds of the worker."""

    phase: str
    at_s: float
    nodes: tuple[NodeActivity, ...]

    @property
    def still_since_s(self) -> float | None:
        """Since when no server makes progress that has sessions at all."""
        busy = [node.still_since_s for node in self.nodes if node.sessions or node.trouble]
        known = [since_s for since_s in busy if since_s is not None]
        return max(known) if known and len(known) == len(busy) else None

    @property
    def headline(self) -> str:
        """Since when there is no progress, in one sentence."""
        since_s = self.still_since_s
        if since_s is None:
            return _("Last look at {moment}.", moment=_clock(self.at_s))
        return _("No progress since {moment}.", moment=_clock(since_s))

    @property
    def lines(self) -> tuple[str, ...]:
        """What there is to say of each server."""
        lines = []
        for node in self.nodes:
            texts = [node.trouble] if node.trouble else []
            texts += [sessions.words for sessions in node.sessions]
            lines += [Message("{node}: {what}", values={"node": node.node, "what": text}) for text in texts]
        return tuple(lines)

    def __str__(self) -> str:
        return " ".join((self.headline, *(f"{line}." for line in self.lines)))

    def to_json(self) -> dict[str, Any]:
        nodes = [asdict(node) | made_of({"trouble": node.trouble}) for node in self.nodes]
        return asdict(self) | {"nodes": nodes}

    @classmethod
    def from_json(cls, value: Any) -> ActivitySample:
        """Read what `to_json` wrote. Raises ShapeError."""
        if isinstance(value, Mapping) and isinstance(nodes := value.get("nodes"), list):
            restored = [with_texts(node, ("trouble",)) if isinstance(node, Mapping) else node for node in nodes]
            value = {**value, "nodes": restored}
        return from_json(cls, value)


def sample_in(notes: Mapping[str, Any]) -> ActivitySample | None:
    """The look that an attempt's notes hold: the latest while it runs, the last one where it failed."""
    return ActivitySample.from_json(notes["look"]) if notes.get("look") else None


def stall_to_json(since_s: float, sample: ActivitySample) -> dict[str, Any]:
    """Return a time without progress, up to a sample of it, as an attempt's notes hold it."""
    return {
        "since_s": since_s,
        "until_s": sample.at_s,
        "seconds": sample.at_s - since_s,
        "phase": sample.phase,
        "lines": list(sample.lines),
    } | made_of({str(number): line for number, line in enumerate(sample.lines)})


def stalls_in(notes: Mapping[str, Any]) -> list[dict[str, Any]]:
    """The times without progress that an attempt's notes hold, with messages for their lines."""
    stalls = notes.get("stalls")
    return [_with_lines(one) for one in stalls if isinstance(one, Mapping)] if isinstance(stalls, list) else []


def _with_lines(stall: Mapping[str, Any]) -> dict[str, Any]:
    lines = stall.get("lines")
    numbered = {str(number): line for number, line in enumerate(lines if isinstance(lines, list) else ())}
    texts = with_texts({**numbered, MESSAGES: stall.get(MESSAGES)}, numbered)
    return {**in_english(stall), "lines": list(texts.values())}


def _clock(moment_s: float) -> str:
    return f"{datetime.fromtimestamp(moment_s, UTC):%H:%M:%S} UTC"
