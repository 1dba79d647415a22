"""Texts with which somebody would make Teiten run, read, fetch or show what it should not, and how one would notice.

Each text that runs something makes a file in a folder that every account may write; each URL leads to a listener that
counts who connects."""

from __future__ import annotations

import socket
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

CALL = "canary()"  # what a script of these texts calls
HEADER = "X-Canary"
HOST = "canary.example"
SUM = (7_000_001, 7_000_006)  # added where a template is filled in


@dataclass
class Canaries:
    """Where it is seen that a text did something.

    folder: of files that only a command makes, PostgreSQL's account's too.
    url: of a listener to which nothing may connect."""

    folder: Path
    listener: socket.socket
    _planted: int = field(default=0)

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.listener.getsockname()[1]}/canary"

    def command(self) -> str:
        """Return a command that makes a file; each one of its own."""
        self._planted += 1
        return f"touch {self.folder}/{self._planted}"

    @property
    def planted(self) -> int:
        return self._planted

    @property
    def executed(self) -> list[str]:
        return sorted(path.name for path in self.folder.iterdir())

    @property
    def connected(self) -> int:
        """Return how many connections wait at the listener."""
        count = 0
        while True:
            try:
                self.listener.accept()[0].close()
            except BlockingIOError:
                return count
            count += 1


@contextmanager
def canaries() -> Iterator[Canaries]:
    """A folder that PostgreSQL's account may write to as well, and a listener."""
    with tempfile.TemporaryDirectory(prefix="canaries-") as folder, socket.create_server(("127.0.0.1", 0)) as listener:
        Path(folder).chmod(0o777)
        listener.setblocking(False)
        yield Canaries(Path(folder), listener)


def payloads(planted: Canaries) -> dict[str, list[str]]:
    """What it is meant for → texts, each command in them one of its own."""
    command = planted.command
    return {
        "shell": [
            f"$({command()})",
            f"`{command()}`",
            f"x; {command()}",
            f"x\n{command()}\n",
            f"x && {command()} #",
            f"| {command()}",
            f"'; {command()}; '",
            f'"; {command()}; "',
            f"-oProxyCommand={command()}",
        ],
        "SQL": [
            f"'; COPY (SELECT 1) TO PROGRAM '{command()}'; --",
            f"\"; COPY (SELECT 1) TO PROGRAM '{command()}'; --",
            f"') ; COPY (SELECT 1) TO PROGRAM '{command()}'; --",
            f"\\'; COPY (SELECT 1) TO PROGRAM '{command()}'; --",
            f"1; COPY (SELECT 1) TO PROGRAM '{command()}'; --",
            f"$$; COPY (SELECT 1) TO PROGRAM '{command()}'; --",
            "') OR 1=1 --",
            "' || (SELECT 1/0)::text || '",
            "1 OR 1/0 = 1",
            "%'; SELECT 1/0; --",
        ],
        "template": [
            f"{{{{ {SUM[0]}|add:{SUM[1]} }}}}",
            "{% load static %}{% include '/etc/passwd' %}",
            "{{ settings.SECRET_KEY }}{% debug %}",
        ],
        "format": ["%s%n%(a)s%", "{0.__class__}{settings.SECRET_KEY}", "{}{0}{a}", "%d %1$s"],
        "path": [
            "../../../../../../../../etc/passwd",
            "..%2f..%2f..%2f..%2f..%2f..%2fetc%2fpasswd",
            "/etc/passwd",
            "....//....//....//....//etc/passwd",
            "..\\..\\..\\..\\etc\\passwd",
            "file:///etc/passwd",
            "~/.ssh/id_ed25519",
        ],
        "header": [f"x\r\n{HEADER}: 1\r\n\r\n", f"x%0d%0a{HEADER}:%201", f"x\n{HEADER}: 1", f"x\u2028{HEADER}: 1"],
        "formula": [f"={command()}|' /C calc'!A0", "@SUM(1+1)", f"+1+cmd|'{command()}'!A0", "-2+3", "\t=1+1"],
        "HTML": [
            f"<script>{CALL}</script>",
            f'"><img src=x onerror={CALL}>',
            f"' onmouseover={CALL} x='",
            f"</script><script>{CALL}</script>",
            f"</textarea></title></pre><script>{CALL}</script>",
            f"<svg/onload={CALL}>",
            f"]]><script>{CALL}</script>",
            f"--><iframe srcdoc='<script>{CALL}</script>'>",
        ],
        "link": [
            f"javascript:{CALL}",
            f" JaVaScRiPt:{CALL}",
            f"[x](javascript:{CALL})",
            f"<javascript:{CALL}>",
            f"data:text/html,<script>{CALL}</script>",
        ],
        "LaTeX": [
            "\\input{/etc/passwd}",
            f"\\immediate\\write18{{{command()}}}",
            f"\\end{{verbatim}}\\input{{/etc/passwd}}\\write18{{{command()}}}",
            "$\\input{/etc/passwd}$",
        ],
        "object": [
            f"cos\nsystem\n(S'{command()}'\ntR.",
            f'!!python/object/apply:os.system ["{command()}"]',
            f"__import__('os').system('{command()}')",
            f'{{"__class__": "os.system", "__init__": "{command()}"}}',
        ],
        "nothing": ["", " ", "null", "None", "NaN", "undefined", "[]", "\x00", "\ud7ff\ufffe"],
        "URL": [planted.url, f"//{HOST}/", f"https://{HOST}/", f"/\\{HOST}", f"![x]({planted.url})"],
    }


class Rotation:
    """Of some kinds of texts one each at a place, and of others at the next; or all texts of all kinds everywhere."""

    def __init__(self, kinds: dict[str, list[str]], *, everything: bool = False) -> None:
        self._kinds = kinds
        self._everything = everything
        self._places = 0

    def at_next_place(self, kinds: int) -> list[str]:
        """kinds: how many."""
        self._places += 1
        if self._everything:
            return [text for texts in self._kinds.values() for text in texts]
        every = list(self._kinds.values())
        first = self._places * kinds
        chosen = [every[(first + number) % len(every)] for number in range(kinds)]
        return [texts[self._places % len(texts)] for texts in chosen]
