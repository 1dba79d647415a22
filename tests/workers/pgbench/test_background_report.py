"""Work beside the load: when it really ran, and what is said where it did not."""

from __future__ import annotations

import json
from typing import Any

import pytest

from results.domain.errors import ParseError
from results.domain.kinds.specs import Reading
from results.domain.measurement.parsed_trial import Part
from workers.pgbench.background_report import background_part

START_S, LENGTH_S, OFFSET_S = 1_000_000.0, 20.0, 0.5
CANCELLED = "ERROR:  canceling statement due to user request"


def part(
    *,
    began_s: float | None = 5.0,
    complete_s: float | None = 7.0,
    ended_s: float = 7.0,
    stderr: str = "",
    work: str = "checkpoint",
    at_s: float = 5,
) -> Part:
    """Times are seconds since the window's start; the primary's clock is ahead by OFFSET_S."""
    moments = {"began": began_s, "complete": complete_s}
    lines = [f"{name} {START_S + OFFSET_S + at}" for name, at in moments.items() if at is not None]
    content = {
        "clock_offset_s": OFFSET_S,
        "ended_s": START_S + OFFSET_S + ended_s,
        "exit_status": 3 if stderr else 0,
        "stdout": "\n".join(lines) + "\n",
        "stderr": stderr,
    }
    return read({"background.json": json.dumps(content)}, work, at_s)


def read(files: dict[str, str], work: str = "checkpoint", at_s: float = 5) -> Part:
    parameters: dict[str, Any] = {"background": work, "background_at_s": at_s}
    return background_part(Reading("client", files, parameters, (START_S, START_S + LENGTH_S)))


def test_its_beginning_and_end_are_events_on_the_windows_axis() -> None:
    events = [(event.at_s, event.node, event.kind, event.text) for event in part().events]
    assert events == [
        (5.0, "primary", "background", "CHECKPOINT starting"),
        (7.0, "primary", "background", "CHECKPOINT complete"),
    ]
    assert (part().gaps, part().failure) == ((), "")


def test_nothing_is_read_where_nothing_was_asked_for() -> None:
    assert read({}, work="none") == Part()


def test_what_did_not_begin_within_the_window_fails_the_trial() -> None:
    late = part(began_s=20.4, complete_s=21, ended_s=21)
    assert late.failure == "CHECKPOINT was to run at second 5 and did not begin in a window of 20.0 s."
    assert late.events == ()


def test_what_began_before_the_window_fails_the_trial() -> None:
    early = part(at_s=0, began_s=-0.2, complete_s=0.5, ended_s=0.5)
    assert early.failure == "CHECKPOINT was to run at second 0 and did not begin in a window of 20.0 s."
    assert early.events == ()
    assert part(at_s=0, began_s=0.0).failure == ""


def test_what_never_began_fails_the_trial_in_the_servers_words() -> None:
    refused = part(began_s=None, complete_s=None, ended_s=1, stderr="psql: error: FATAL:  too many clients\n")
    assert refused.failure.endswith("did not begin in a window of 20.0 s: psql: error: FATAL:  too many clients")


def test_an_agent_that_gave_no_answer_fails_the_trial() -> None:
    assert "its session left no output" in read({}).failure


def test_what_broke_off_fails_the_trial() -> None:
    broken = part(complete_s=None, ended_s=6.5, stderr="ERROR:  could not extend file\n", work="vacuum")
    assert broken.failure == "VACUUM broke off 6.5 s into the window: ERROR:  could not extend file"
    assert [event.text for event in broken.events] == ["VACUUM starting"]


def test_what_outlasts_the_window_is_a_gap() -> None:
    cut = part(complete_s=None, ended_s=20.01, stderr=CANCELLED, work="vacuum")
    assert cut.failure == ""
    [gap] = cut.gaps
    assert gap.reason == "VACUUM was still running when the measured window ended: its end is not measured"
    assert part(complete_s=20.5, ended_s=20.6).gaps != ()


@pytest.mark.parametrize("began_s", [8, 3.8])
def test_a_late_or_early_beginning_is_a_gap(began_s: float) -> None:
    [gap] = part(began_s=began_s, complete_s=9, ended_s=9).gaps
    assert gap.reason == f"CHECKPOINT began at second {began_s:.1f}, not 5"


@pytest.mark.parametrize(
    "text", ["{", "{}", '{"clock_offset_s": 0, "ended_s": 1, "stdout": "began soon", "stderr": ""}']
)
def test_a_damaged_file_is_told(text: str) -> None:
    with pytest.raises(ParseError, match="not the report of background work"):
        read({"background.json": text})
