"""What the commands of many attempts have in common: the scripts, which are stored once. Pure."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import groupby

LEAST = 96  # characters for which a row of their own pays


def command_pieces(command: str, own: Sequence[str]) -> list[tuple[str, bool]]:
    """Divide a command into pieces, which together are the command, and whether other attempts may have the same one.

    A piece that others may have is of whole lines, of which none is the first, where arguments stand, and none holds
    one of the texts `own`, which only this attempt has.
    """
    first, *lines = command.splitlines(keepends=True) or [""]
    pieces = [(first, False)]
    for has_own, group in groupby(lines, key=lambda line: any(text in line for text in own)):
        text = "".join(group)
        if not has_own and len(text) >= LEAST:
            pieces.append((text, True))
        elif pieces[-1][1]:
            pieces.append((text, False))
        else:
            pieces[-1] = (pieces[-1][0] + text, False)
    return pieces
