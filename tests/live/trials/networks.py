"""Agents each in a network of its own: network namespaces of this machine, each with an sshd, joined by a bridge.

The agent `old` has two ways: the worker reaches it by one, its peers by the other, which can be cut. Addresses are of
198.18.0.0/15, which is set aside for tests of networks (RFC 2544)."""

from __future__ import annotations

import os
import re
import socket
import subprocess
import threading
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass, replace
from pathlib import Path

from bootstrap import places
from bootstrap.system import program
from workers.remote.address import Address

PATIENCE_S = 20.0
WAY = "peers"  # the link of `old` that is cut


@dataclass(frozen=True)
class Network:
    """A network between namespaces, for tests.

    agents: old, new, load: as the worker reaches them.
    folder: holds `asked`, a pipe that takes `down` and `up` for the way that is cut, and `state`, which says what was
        done last: what sudo is on an agent of a real site. `alive` is there when the cut was lifted while a server of
        PostgreSQL was behind it."""

    agents: dict[str, Address]
    folder: Path

    @property
    def definition(self) -> str:
        """The host factor of the agent `old`."""
        shown = f'[ -n "$(ip -o link show up dev {WAY})" ] && echo up || echo down'
        parameters = f"until [ \"$(cat '{self.folder}/state')\" = WORD ]; do sleep 0.005; done"
        reported = f"echo WORD >'{self.folder}/asked' && {parameters}"
        return f"""
[network]
show = '''{shown}'''
revert = '''{reported.replace("WORD", '"$1"')}'''
[network.levels.cut]
apply = '''[ "$1" -gt 1023 ] && {reported.replace("WORD", "down")}'''
check = '''[ "$1" -gt 1023 ] && {shown}'''
expected = "down"
"""


def possible() -> bool:
    """Whether this machine lets us."""
    name = f"tt{os.getpid()}"
    made = subprocess.run(["ip", "netns", "add", name], capture_output=True).returncode == 0
    return made and subprocess.run(["ip", "netns", "del", name], capture_output=True).returncode == 0


@contextmanager
def made(address: Address, folder: Path) -> Iterator[Network]:
    """Three agents of the account and the key of `address`, below its home. Everything is gone at the end."""
    _swept()
    number = os.getpid()
    net, mark = f"198.{18 + number // 256 % 2}.{number % 256}", f"tt{number}"
    names = {"old": f"{mark}o", "new": f"{mark}n", "load": f"{mark}l"}
    hosts = {"old": f"{net}.66", "new": f"{net}.3", "load": f"{net}.4"}
    with ExitStack() as stack:
        _ip("link", "add", mark, "type", "bridge")
        stack.callback(_ip, "link", "del", mark)
        _ip("address", "add", f"{net}.1/26", "dev", mark)
        _ip("link", "set", mark, "up")
        for place, (name, space) in enumerate(names.items(), 2):
            _ip("netns", "add", space)
            stack.callback(_ip, "netns", "del", space)
            _join(space, f"{space}w", WAY, f"{net}.{place}/26")
            _ip("link", "set", f"{space}w", "master", mark)
            if name == "old":
                _join(space, f"{space}c", "worker", f"{net}.130/30")
                _ip("address", "add", f"{net}.129/30", "dev", f"{space}c")
                _ip("address", "add", f"{hosts[name]}/32", "dev", "lo", space=space)
                _ip("route", "add", f"{hosts[name]}/32", "via", f"{net}.130")
            else:
                _ip("route", "add", f"{hosts['old']}/32", "via", f"{net}.2", space=space)
            stack.callback(_emptied, space)
            stack.enter_context(_sshd(space, hosts[name], address.port, folder / f"{name}.log"))
        stack.enter_context(_doorman(names["old"], folder))
        agents = {
            name: replace(
                address,
                name=name,
                host=host,
                data_dir=f"{address.data_dir}-{name}",
                work_dir=f"{address.work_dir}-{name}",
            )
            for name, host in hosts.items()
        }
        yield Network(agents, folder)


def _swept() -> None:
    """What tests left whose process was killed."""
    for link, pid in re.findall(r"^\d+: (tt(\d+)): ", _ip("-o", "link", "show", "type", "bridge"), re.MULTILINE):
        if not Path(f"/proc/{pid}").exists():
            for space in re.findall(rf"^{link}[onl]\b", _ip("netns", "list"), re.MULTILINE):
                _emptied(space)
                _ip("netns", "del", space)
            _ip("link", "del", link)


def _join(space: str, outside: str, inside: str, address: str) -> None:
    _ip("link", "add", outside, "type", "veth", "peer", "name", inside, "netns", space)
    _ip("link", "set", outside, "up")
    for device in ("lo", inside):
        _ip("link", "set", device, "up", space=space)
    _ip("address", "add", address, "dev", inside, space=space)


@contextmanager
def _sshd(space: str, host: str, port: int, log: Path) -> Iterator[None]:
    """As the tests' own, which listens on the loopback device of each space besides."""
    known = places.known(places.state_folder())
    assert known is not None
    config = str(known.sshd / "sshd_config")
    with log.open("wb") as out:
        words = [program("sshd") or "sshd", "-D", "-e", "-f", config, "-o", f"ListenAddress={host}"]
        child = subprocess.Popen(["ip", "netns", "exec", space, *words], stdout=out, stderr=out)
    try:
        deadline = time.monotonic() + PATIENCE_S
        while not _answers(host, port):
            assert child.poll() is None and time.monotonic() < deadline, log.read_text()
            threading.Event().wait(0.05)
        yield
    finally:
        child.terminate()
        child.wait(PATIENCE_S)


def _answers(host: str, port: int) -> bool:
    with suppress(OSError), socket.create_connection((host, port), timeout=1) as line:
        return line.recv(4) == b"SSH-"
    return False


@contextmanager
def _doorman(space: str, folder: Path) -> Iterator[None]:
    """Does what the agent's account may ask for, and no more."""
    pipe, state = folder / "asked", folder / "state"
    os.mkfifo(pipe)
    state.write_text("up\n")
    pipe.chmod(0o666)

    def serve() -> None:
        while (word := pipe.read_text().strip()) in ("up", "down"):
            if word == "up" and (alive := _servers(space)):
                (folder / "alive").write_text(alive)
            _ip("link", "set", WAY, word, space=space)
            state.write_text(f"{word}\n")

    thread = threading.Thread(target=serve)
    thread.start()
    try:
        yield
    finally:
        pipe.write_text("end\n")
        thread.join()


def _servers(space: str) -> str:
    """The processes of PostgreSQL there."""
    names = {pid: Path(f"/proc/{pid}/comm") for pid in _ip("netns", "pids", space).split()}
    return "".join(f"{pid}\n" for pid, name in names.items() if name.exists() and name.read_text() == "postgres\n")


def _emptied(space: str) -> None:
    """Ends what a test that failed has left running there."""
    for pid in _ip("netns", "pids", space).split():
        subprocess.run(["kill", "-s", "KILL", pid], check=False)


def _ip(*words: str, space: str = "") -> str:
    program = ["ip", "-n", space] if space else ["ip"]
    done = subprocess.run([*program, *words], capture_output=True, text=True)
    assert done.returncode == 0, f"ip {' '.join(words)}: {done.stderr}"
    return done.stdout
