"""The services of docker-compose.yml as processes in chroots: with their commands, users, environments, volumes and
health checks as they stand there. Limits of memory, processors and processes, and networks, are left to an engine."""

from __future__ import annotations

import os
import re
import shlex
import signal
import subprocess
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import yaml

from bootstrap.errors import BootstrapError, last_lines, say
from tests.deployment import chroot
from tests.deployment.image import Image

_POLL_S = 0.5
_HEALTHY_S = 240
_VARIABLE = re.compile(r"\$\{(\w+)(?::([-?])([^}]*))?\}")


def interpolated(node: Any, settings: Mapping[str, str]) -> Any:
    """Return a part of docker-compose.yml with the variables in its texts replaced, as compose does it.

    Raises BootstrapError."""
    if isinstance(node, dict):
        return {name: interpolated(value, settings) for name, value in node.items()}
    if isinstance(node, list):
        return [interpolated(value, settings) for value in node]
    return _replaced(node, settings) if isinstance(node, str) else node


def _replaced(text: str, settings: Mapping[str, str]) -> str:

    def value(match: re.Match[str]) -> str:
        name, operator, word = match.groups()
        if operator == "?" and not settings.get(name):
            raise BootstrapError(f"{name}: {word}", where="docker-compose.yml")
        return settings.get(name) or word or ""

    return _VARIABLE.sub(value, text)


def settings_of(text: str) -> dict[str, str]:
    """Return the settings of an .env file."""
    return dict(line.split("=", 1) for line in text.splitlines() if "=" in line and not line.startswith("#"))


@dataclass
class Composed:
    """The services of a folder with docker-compose.yml and .env.

    images: service → its image
    data: folder of the volumes and logs
    """

    folder: Path
    images: Mapping[str, Image]
    data: Path
    started: dict[str, subprocess.Popen[bytes]] = field(default_factory=dict)

    def __post_init__(self) -> None:
        settings = settings_of((self.folder / ".env").read_text(encoding="utf-8"))
        text = (self.folder / "docker-compose.yml").read_text(encoding="utf-8")
        self.services: dict[str, dict[str, Any]] = interpolated(yaml.safe_load(text)["services"], settings)

    def up(self) -> None:
        """Start all services in their order, each after those it depends on. Raises BootstrapError."""
        for name in self.services:
            self._start(name)
        for name in self.services:
            self._wait(name, "service_healthy" if "healthcheck" in self.services[name] else "service_completed")

    def _start(self, name: str) -> None:
        if name in self.started:
            return
        for other, how in self.services[name].get("depends_on", {}).items():
            self._start(other)
            self._wait(other, how["condition"])
        say(f"  {name} starts")
        with self.log(name).open("wb") as log:
            words = self.words(name, self._command(name))
            self.started[name] = subprocess.Popen(words, stdin=subprocess.DEVNULL, stdout=log, stderr=log)

    def log(self, name: str) -> Path:
        return self.data / f"{name}.log"

    def _wait(self, name: str, condition: str) -> None:
        """Wait until a service is started, healthy by its own check, or ended well. Raises BootstrapError."""
        if condition == "service_started":
            return
        deadline = time.monotonic() + _HEALTHY_S
        why = ""
        while time.monotonic() < deadline:
            status = self.started[name].poll()
            if condition.startswith("service_completed"):
                if status == 0:
                    return
            elif status is None:
                check = self.run(name, self._check(name))
                if check.returncode == 0:
                    say(f"  {name} is healthy")
                    return
                why = check.stdout + check.stderr
            if status:
                break
            time.sleep(_POLL_S)
        what = f"{name} has ended with {status}." if status else f"{name} is not healthy after {_HEALTHY_S} s."
        raise BootstrapError(what, where="deploy-check", why=f"{why[-1500:]}\n{last_lines(self.log(name), 30)}")

    def run(self, name: str, command: list[str], text: str = "", **mounts: Path) -> subprocess.CompletedProcess[str]:
        """Run a command as `docker compose exec` does, with the service's account, environment and files.

        mounts: name in / → file that is seen there
        """
        words = self.words(name, command, {f"/{file}": path for file, path in mounts.items()})
        return subprocess.run(words, input=text, capture_output=True, text=True)

    def down(self) -> list[str]:
        """Stop all, the last first, each by its signal; return the names of those that had to be killed."""
        killed = []
        for name in reversed(self.started):
            process = self.started[name]
            stop = getattr(signal, self.services[name].get("stop_signal", "SIGTERM"))
            grace_s = int(self.services[name].get("stop_grace_period", "10s").removesuffix("s"))
            if process.poll() is None:
                process.send_signal(stop)
            try:
                process.wait(grace_s)
            except subprocess.TimeoutExpired:
                killed.append(name)
                process.kill()
        return killed

    def _check(self, name: str) -> list[str]:
        how, *words = [word.replace("$$", "$") for word in self.services[name]["healthcheck"]["test"]]
        return ["sh", "-c", words[0]] if how == "CMD-SHELL" else words

    def _command(self, name: str) -> list[str]:
        command = self.services[name].get("command", self.images[name].command)
        words = shlex.split(command) if isinstance(command, str) else command
        return [str(word).replace("$$", "$") for word in words]

    def words(self, name: str, command: list[str], mounts: Mapping[str, Path] | None = None) -> list[str]:
        """Return the words that run a command as this service, in namespaces of mounts and host name of its own."""
        service, image = self.services[name], self.images[name]
        self._require_confined(name)
        writable: dict[str, Path] = {}
        read_only: dict[str, Path] = dict(mounts or {})
        for volume in service.get("volumes", ()):
            source, path, *mode = volume.split(":")
            if source.startswith((".", "/")):
                read_only[path] = (self.folder / source).resolve()
                assert mode == ["ro"], volume
            else:
                writable[path] = self._volume(source, image.root / path[1:])
        for path, source in {**writable, **read_only}.items():
            _make_place(image.root / path[1:], source)
        lines = chroot.mounting(image.root, writable, service.get("tmpfs", ()), read_only)
        environment = image.environment | {k: str(v) for k, v in service.get("environment", {}).items()}
        environment |= {"HOSTNAME": name, "HOME": "/"}
        entered = chroot.entered(image.root, environment, service["user"], image.folder)
        script = f'{lines}\nhostname {name}\nexec "$@"'
        return ["unshare", "--mount", "--uts", "sh", "-c", script, "sh", *entered, *command]

    def _require_confined(self, name: str) -> None:
        """Raises BootstrapError for a service that is not confined as the chroot confines it."""
        service = self.services[name]
        confined = service["read_only"] and service["cap_drop"] == ["ALL"] and not service["user"].startswith("0")
        if not confined or service["security_opt"] != ["no-new-privileges:true"]:
            raise BootstrapError(f"{name} is not confined.", where="docker-compose.yml")

    def _volume(self, name: str, original: Path) -> Path:
        """Return the folder of a volume; at first it is its path's owner's in the image, as an engine makes it."""
        folder = self.data / "volumes" / name
        if not folder.exists():
            folder.mkdir(parents=True)
            if original.exists():
                status = original.stat()
                os.chown(folder, status.st_uid, status.st_gid)
                folder.chmod(status.st_mode & 0o7777)
        return folder


def _make_place(target: Path, source: Path) -> None:
    """Make what a file or folder can be mounted on."""
    if source.is_dir():
        target.mkdir(parents=True, exist_ok=True)
    else:
        target.parent.mkdir(parents=True, exist_ok=True)
        target.touch()


@contextmanager
def running(composed: Composed) -> Iterator[Composed]:
    """Bring all up for the block, and stop them. Raises BootstrapError, also where one had to be killed."""
    try:
        composed.up()
        yield composed
    except BaseException:
        composed.down()
        raise
    if killed := composed.down():
        raise BootstrapError(f"{', '.join(killed)} did not stop in time and had to be killed.", where="deploy-check")
