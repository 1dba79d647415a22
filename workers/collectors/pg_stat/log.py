"""The server's log → events: checkpoints, autovacuum, errors. Pure."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from datetime import UTC, datetime

from results.domain.errors import damaged
from results.domain.measurement.parsed_trial import Event
from results.domain.messages import gettext_lazy as _

# log_line_prefix '%m [%p] ' and log_timezone UTC, which Teiten sets; a prefix that begins so will do
_LINE = re.compile(
    r"^(\d{4}-\d\d-\d\d \d\d:\d\d:\d\d(?:\.\d+)?) (?:UTC|GMT|Etc/UTC) (?:(?!:  ).)*?"
    r"\b(LOG|ERROR|FATAL|PANIC|WARNING):\s+(.*)$"
)
_LOG_KINDS = (
    ("checkpoint", re.compile(r"(checkpoint|restartpoint) (starting|complete)")),
    ("autovacuum", re.compile(r"automatic (aggressive )?(vacuum|analyze)")),
    (
        "server",
        re.compile(
            r"(server process .* was terminated|all server processes terminated|received .*shutdown|"
            r"database system (is|was) |parameter .* changed)"
        ),
    ),
)
# the length of an autovacuum stands in the indented lines below, in every version
_ELAPSED = re.compile(r"^\s.*\belapsed: (\d+\.\d+) s")
_PROMOTED = re.compile(r"LOG:  received promote request$", re.M)
_REPLAYED = re.compile(r"LOG:  redo done at ([0-9A-F]{1,8})/([0-9A-F]{1,8})\b")
_MOST_OF_A_KIND = 200
_LONGEST_TEXT = 300


def events(text: str, node: str, start_s: float) -> tuple[Event, ...]:
    """Read the log's events, in its order, with times relative to start_s (epoch seconds on the server's clock).

    An autovacuum's text ends with its duration: it is logged at its end. Of each kind the first 200 are kept, then one
    event gives the number of further ones. Raises ParseError for a time that there is not.
    """
    counts: Counter[str] = Counter()
    kept_events: list[Event] = []
    last: dict[str, Event] = {}
    lines = text.splitlines()
    for index, line in enumerate(lines):
        match = _LINE.match(line)
        kind = _kind(match[2], match[3]) if match else ""
        if match is None or not kind:
            continue
        with damaged(_("not a line of the server's log"), "server.log", line):
            at = datetime.fromisoformat(match[1]).replace(tzinfo=UTC).timestamp() - start_s
        elapsed = _elapsed(lines, index + 1) if kind == "autovacuum" else ""
        event = Event(round(at, 3), node, kind, _text(match[2], match[3]) + elapsed)
        counts[kind] += 1
        last[kind] = event
        if counts[kind] <= _MOST_OF_A_KIND:
            kept_events.append(event)
    for kind, count in counts.items():
        if count > _MOST_OF_A_KIND:
            more = _("{count} more until here; the last: {last}", count=count - _MOST_OF_A_KIND, last=last[kind].text)
            kept_events.append(Event(last[kind].at_s, node, kind, more))
    return tuple(kept_events)


def replayed_to(text: str) -> float | None:
    """Return the LSN in bytes up to which a promoted server replayed WAL; its own WAL begins there. None where the log
    shows no promotion."""
    promotion = _PROMOTED.search(text)
    replayed = _REPLAYED.search(text, promotion.end()) if promotion else None
    return float(int(replayed[1], 16) * 2**32 + int(replayed[2], 16)) if replayed else None


def _kind(level: str, message: str) -> str:
    """Return the kind of event; '' for a line that is none."""
    if level in ("ERROR", "FATAL", "PANIC"):
        return level.lower()
    return next((kind for kind, pattern in _LOG_KINDS if pattern.match(message)), "")


def _elapsed(lines: Sequence[str], index: int) -> str:
    while index < len(lines) and lines[index][:1].isspace():
        if match := _ELAPSED.match(lines[index]):
            return f" (elapsed: {match[1]} s)"
        index += 1
    return ""


def _text(level: str, message: str) -> str:
    text = message if level == "LOG" else f"{level}: {message}"
    return text if len(text) <= _LONGEST_TEXT else text[: _LONGEST_TEXT - 1] + "…"
