"""How programs end, in words."""

from __future__ import annotations

import pytest

from results.domain.exit_status import ending


@pytest.mark.parametrize(
    ("exit_status", "words"),
    [
        (2, "ended with exit status 2"),
        (128, "ended with exit status 128"),
        (143, "was ended by SIGTERM (exit status 143)"),
        (255, "ended with exit status 255"),
    ],
)
def test_an_exit_status_names_the_signal_behind_it(exit_status: int, words: str) -> None:
    assert ending(exit_status) == words


def test_what_nobody_asked_to_end_may_have_been_ended_by_the_kernel() -> None:
    assert ending(137).startswith("was ended by SIGKILL (exit status 137), from outside: the system log of its machine")
