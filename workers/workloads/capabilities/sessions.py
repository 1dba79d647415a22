"""Several sessions whose statements take turns in one given order. Pure: steps in, a script for each session out.

The turn is a sequence's value, which every transaction sees as it is at the moment, whatever its snapshot. sessions.sql
makes it. A step that waits for another session's lock hands the turn on before it begins; the next step begins when it
is seen to wait."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass

WAITED_IN_VAIN = "TT001"  # SQLSTATE of a session whose turn did not come


@dataclass(frozen=True)
class Step:
    """One statement of one session.

    session: 'a', 'b' ….
    waits: whether the statement must block until a later step of another session releases it.
    """

    session: str
    sql: str
    waits: bool = False


def scripts(steps: Sequence[Step]) -> dict[str, str]:
    """Return a psql script for each session; run at once, they execute the steps in order."""
    parts: dict[str, list[str]] = defaultdict(list)
    for number, step in enumerate(steps, 1):
        hand_on = f"SELECT setval('turn', {number}) \\g /dev/null\n"
        after_waiting = number > 1 and steps[number - 2].waits
        begin = f"SELECT await_turn({number - 1}) \\g /dev/null\n"
        begin += "SELECT await_waiting() \\g /dev/null\n" if after_waiting else ""
        parts[step.session].append(begin + (hand_on + step.sql if step.waits else step.sql + hand_on))
    return {session: "".join(texts) for session, texts in parts.items()}
