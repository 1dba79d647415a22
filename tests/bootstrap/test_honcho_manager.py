"""The demo's process manager, with real processes."""

from __future__ import annotations

import json
import signal
import subprocess
import sys
from pathlib import Path

from bootstrap.places import CHECKOUT

_SCRIPT = """
import json, sys
from pathlib import Path
from bootstrap.honcho_manager import DemoManager, Output

logs, kept, *commands = sys.argv[1:]
output = Output(Path(logs), shown=frozenset({"p1"}))
manager = DemoManager(output, kept.split())
for number, command in enumerate(commands):
    manager.add_process(f"p{number}", command)
manager.loop()
print(json.dumps({"first": manager.ended_first, "code": manager.returncode}))
"""


def start(logs: Path, *commands: str, kept: str = "") -> subprocess.Popen[str]:
    words = [sys.executable, "-c", _SCRIPT, str(logs), kept, *commands]
    return subprocess.Popen(words, cwd=CHECKOUT, stdout=subprocess.PIPE, text=True)


def test_the_process_that_ends_by_itself_is_named_and_ends_the_others(tmp_path: Path) -> None:
    once_all_have_spoken = f"until grep -qs hidden {tmp_path}/p2.log; do sleep 0.05; done; echo shown; exit 3"
    said, _ = start(tmp_path, "exec sleep 60", once_all_have_spoken, "echo hidden; exec sleep 60").communicate()
    lines = said.splitlines()
    assert lines[0] == "shown"
    assert json.loads(lines[-1]) == {"first": "p1", "code": 3}
    assert "hidden" not in said
    assert (tmp_path / "p2.log").read_text() == "hidden\n"


def test_an_interrupt_ends_all_and_nobody_is_blamed(tmp_path: Path) -> None:
    running = start(tmp_path, "exec sleep 60", "echo shown; exec sleep 60")
    assert running.stdout is not None
    assert running.stdout.readline() == "shown\n"
    running.send_signal(signal.SIGINT)
    said, _ = running.communicate()
    assert json.loads(said.splitlines()[-1]) == {"first": "", "code": 130}


def test_a_kept_process_that_is_killed_is_started_again(tmp_path: Path) -> None:
    killed_once = f"mkdir {tmp_path}/begun && kill -9 $$; echo begun again; exec sleep 60"
    running = start(tmp_path, "exec sleep 60", killed_once, kept="p1")
    assert "p1 has been ended by signal 9. It is started again in 0.5 s." in _until(running, "begun again")
    running.send_signal(signal.SIGINT)
    said, _ = running.communicate()
    assert json.loads(said.splitlines()[-1]) == {"first": "", "code": 130}


def test_a_kept_process_that_ends_again_and_again_ends_the_others_and_is_named(tmp_path: Path) -> None:
    said, _ = start(tmp_path, "exec sleep 60", "exec sleep 60", "echo hopeless; exit 4", kept="p0 p2").communicate()
    lines = [line for line in said.splitlines() if line]
    assert [line for line in lines if "started again" in line] == [
        *(f"p2 has ended with status 4. It is started again in {delay} s." for delay in ("0.5", "1", "2", "4")),
        "p2 has ended with status 4, 5 times within 60 s: it is not started again.",
    ]
    assert json.loads(lines[-1]) == {"first": "p2", "code": 4}
    assert (tmp_path / "p2.log").read_text() == "hopeless\n" * 5


def test_an_interrupt_is_heard_while_a_process_waits_for_its_next_start(tmp_path: Path) -> None:
    running = start(tmp_path, "exec sleep 60", "exec sleep 60", "exit 4", kept="p2")
    _until(running, "p2 has ended with status 4. It is started again in 4 s.")
    running.send_signal(signal.SIGINT)
    said, _ = running.communicate()
    assert json.loads(said.splitlines()[-1]) == {"first": "", "code": 130}


def _until(running: subprocess.Popen[str], wanted: str) -> list[str]:
    """What it prints, up to this line."""
    assert running.stdout is not None
    lines: list[str] = []
    for line in running.stdout:
        lines.append(line.rstrip("\n"))
        if lines[-1] == wanted:
            return lines
    raise AssertionError(lines)
