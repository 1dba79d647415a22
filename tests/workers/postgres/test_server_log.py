"""The end of a server's log."""

from __future__ import annotations

from results.domain.secrets import masked_text
from workers.postgres.server import without_cut_line


def test_a_line_that_is_cut_at_the_beginning_is_left_out() -> None:
    """WORD 'canary' has no name by which it would be hidden."""
    end = "LOG: ready\n" * 6000
    log = f"WORD 'canary'\n{end}"[: 64 * 1024]
    assert masked_text(without_cut_line(log)).startswith("LOG: ready\n")
    assert without_cut_line("LOG: ready\n") == "LOG: ready\n"
