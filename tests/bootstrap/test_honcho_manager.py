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

logs, *commands = sys.argv[1:]
output = Output(Path(logs), shown=frozenset({"p1"}))
manager = DemoManager(output)
for number, command in enumerate(commands):
    manager.add_process(f"p{number}", command)
manager.loop()
print(json.dumps({"first": manager.ended_first, "code": manager.returncode}))
"""


def start(logs: Path, *commands: str) -> subprocess.Popen[str]:
    words = [sys.executable, "-c", _SCRIPT, str(logs), *commands]
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
