"""A Dockerfile, read and carried out in a chroot. An instruction that is not known here is refused."""

from __future__ import annotations

import json
import re
import shlex
import shutil
from dataclasses import dataclass, field
from pathlib import Path

from bootstrap.errors import BootstrapError, say
from tests.deployment import chroot

_BASES = ("python:3.11-slim-bookworm", "debian:bookworm-slim")
_PGDG = "/usr/share/postgresql-common/pgdg/apt.postgresql.org.sh -y"


@dataclass
class Image:
    """A chroot made by a Dockerfile.

    replaced: steps that could not be carried out as they stand, with what was done instead
    """

    root: Path
    environment: dict[str, str] = field(default_factory=dict)
    folder: str = "/"
    user: str = "0:0"
    command: list[str] = field(default_factory=list)
    replaced: list[str] = field(default_factory=list)

    def build(self, context: Path) -> None:
        """Carry out all instructions of the context's Dockerfile. Raises BootstrapError."""
        for word, rest in instructions((context / "Dockerfile").read_text(encoding="utf-8")):
            say(f"  {word} {rest[:110]}")
            step = getattr(self, f"_{word.lower()}", None)
            if step is None:
                raise BootstrapError(f"{word} is not known.", where=str(context / "Dockerfile"), todo="Teach it here.")
            step(rest, context)

    def _from(self, rest: str, context: Path) -> None:
        if rest not in _BASES:
            raise BootstrapError(f"{rest} is not like the chroot.", where=str(context), todo="Change RELEASE and this.")

    def _env(self, rest: str, _: Path) -> None:
        self.environment |= dict(word.split("=", 1) for word in shlex.split(rest))

    def _workdir(self, rest: str, _: Path) -> None:
        self.folder = rest
        (self.root / rest.lstrip("/")).mkdir(parents=True, exist_ok=True)

    def _user(self, rest: str, _: Path) -> None:
        self.user = rest

    def _expose(self, rest: str, _: Path) -> None:
        """It changes nothing."""

    def _cmd(self, rest: str, _: Path) -> None:
        self.command = json.loads(rest)

    def _run(self, rest: str, _: Path) -> None:
        try:
            chroot.run_inside(self.root, rest, self.environment, self.user, self.folder)
        except BootstrapError as error:
            if _PGDG not in rest:
                raise
            # A machine that reaches Debian's packages and no others.
            instead = re.sub(r"postgresql-(client-)?\d+", r"postgresql-\g<1>15", rest.replace(_PGDG, "true"))
            say(f"    PostgreSQL's own packages cannot be had here; Debian's are taken instead: {error.why[-200:]}")
            self.replaced.append(rest)
            chroot.run_inside(self.root, f"rm -f /etc/apt/sources.list.d/pgdg.*; {instead}", self.environment)

    def _copy(self, rest: str, context: Path) -> None:
        words = shlex.split(rest)
        options = [word for word in words if word.startswith("--")]
        *sources, target = [word for word in words if not word.startswith("--")]
        place = self.root / self.folder.lstrip("/") / target if target[0] != "/" else self.root / target[1:]
        for source in sources:
            into = place / source if target.endswith("/") else place
            if into.is_dir() and (context / source).is_file():
                into /= source
            into.parent.mkdir(parents=True, exist_ok=True)
            if (context / source).is_dir():
                shutil.copytree(context / source, into, ignore=shutil.ignore_patterns("__pycache__"))
            else:
                shutil.copyfile(context / source, into)
            for option in options:
                name, _, value = option.partition("=")
                if name != "--chmod":
                    raise BootstrapError(f"COPY {name} is not known.", where=str(context), todo="Teach it here.")
                into.chmod(int(value, 8))


def instructions(text: str) -> list[tuple[str, str]]:
    """Return (instruction, the rest) of a Dockerfile, continued lines joined, comments left out."""
    lines = [line for line in text.splitlines() if line.strip() and not line.lstrip().startswith("#")]
    joined = re.sub(r"\\\n\s*", " ", "\n".join(lines))
    return [(word, rest) for word, _, rest in (line.partition(" ") for line in joined.splitlines())]
