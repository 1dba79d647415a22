"""Commands are divided so that scripts are stored once, and nothing of them is lost."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from results.domain.measurement.command_pieces import LEAST, command_pieces

SCRIPT = "".join(f"line {n} of a script that every attempt runs\n" for n in range(5))
LINES = st.sampled_from(["", "x", "own 7-12-1", "echo " + "y" * LEAST, "\r", "\u2028"])


@given(st.lists(LINES).map("\n".join))
def test_the_pieces_are_the_command(command: str) -> None:
    pieces = command_pieces(command, ["7-12-1"])
    assert "".join(text for text, _shared in pieces) == command
    assert not any("7-12-1" in text for text, shared in pieces if shared)


def test_a_script_is_shared_and_its_arguments_are_not() -> None:
    command = f"sh -s -- /work/jobs/7-12-1 <<'INPUT'\n{SCRIPT}INPUT"
    assert command_pieces(command, ["7-12-1"]) == [
        ("sh -s -- /work/jobs/7-12-1 <<'INPUT'\n", False),
        (f"{SCRIPT}INPUT", True),
    ]


def test_a_line_of_this_attempt_alone_is_not_shared() -> None:
    command = f"sh -c '\n{SCRIPT}cd /work/jobs/7-12-1\n{SCRIPT}'"
    assert [shared for _text, shared in command_pieces(command, ["7-12-1"])] == [False, True, False, True]


def test_short_commands_stay_whole() -> None:
    assert command_pieces("pgbench -c 1\n-T 5", []) == [("pgbench -c 1\n-T 5", False)]
    assert command_pieces("", []) == [("", False)]
