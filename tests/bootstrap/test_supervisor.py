"""The demo's supervisor, with real processes."""

from __future__ import annotations

import json
import signal
import subprocess
import sys
from pathlib import Path

from bootstrap.places import CHECKOUT

_SCRIPT = """
import json, os, sys
from dataclasses import asdict
from pathlib import Path
from bootstrap.supervisor import Output, Part, Supervisor

logs, restarted, *commands = sys.argv[1:]
parts = [
    Part(f"p{number}", ("sh", "-c", command), os.environ, f"p{number}" in restarted.split())
    for number, command in enumerate(commands)
]
lost = Path(logs) / "server-lost"
end = Supervisor(parts, Output(Path(logs), frozenset({"p1"})), lambda: ["server"] if lost.exists() else []).run()
print(json.dumps(end and asdict(end)))
"""


def start(logs: Path, *commands: str, restarted: str = "") -> subprocess.Popen[str]:
    words = [sys.executable, "-c", _SCRIPT, str(logs), restarted, *commands]
    return subprocess.Popen(words, cwd=CHECKOUT, stdout=subprocess.PIPE, text=True)


def test_the_process_that_ends_by_itself_is_named_and_ends_the_others(tmp_path: Path) -> None:
    once_all_have_spoken = f"until grep -qs hidden {tmp_path}/p2.log; do sleep 0.05; done; echo shown; exit 3"
    output, _ = start(tmp_path, "exec sleep 60", once_all_have_spoken, "echo hidden; exec sleep 60").communicate()
    lines = output.splitlines()
    assert lines[0] == "shown"
    assert json.loads(lines[-1]) == {"name": "p1", "status": 3}
    assert "hidden" not in output
    assert (tmp_path / "p2.log").read_text() == "hidden\n"


def test_an_interrupt_ends_all_and_nobody_is_blamed(tmp_path: Path) -> None:
    running = start(tmp_path, "exec sleep 60", "echo shown; exec sleep 60")
    assert running.stdout is not None
    assert running.stdout.readline() == "shown\n"
    running.send_signal(signal.SIGINT)
    output, _ = running.communicate()
    assert json.loads(output.splitlines()[-1]) is None


def test_a_restarted_part_that_is_killed_is_started_again(tmp_path: Path) -> None:
    killed_once = f"mkdir {tmp_path}/begun && kill -9 $$; echo begun again; exec sleep 60"
    running = start(tmp_path, "exec sleep 60", killed_once, restarted="p1")
    assert "p1 has been ended by signal 9. It is started again in 0.5 s." in _until(running, "begun again")
    running.send_signal(signal.SIGINT)
    output, _ = running.communicate()
    assert json.loads(output.splitlines()[-1]) is None


def test_a_restarted_part_that_ends_again_and_again_ends_the_others_and_is_named(tmp_path: Path) -> None:
    output, _ = start(
        tmp_path, "exec sleep 60", "exec sleep 60", "echo hopeless; exit 4", restarted="p0 p2"
    ).communicate()
    lines = [line for line in output.splitlines() if line]
    assert [line for line in lines if "started again" in line] == [
        *(f"p2 has ended with status 4. It is started again in {delay} s." for delay in ("0.5", "1", "2", "4")),
        "p2 has ended with status 4, 5 times within 60 s: it is not started again.",
    ]
    assert json.loads(lines[-1]) == {"name": "p2", "status": 4}
    assert (tmp_path / "p2.log").read_text() == "hopeless\n" * 5


def test_an_interrupt_is_heard_while_a_process_waits_for_its_next_start(tmp_path: Path) -> None:
    running = start(tmp_path, "exec sleep 60", "exec sleep 60", "exit 4", restarted="p2")
    _until(running, "p2 has ended with status 4. It is started again in 4 s.")
    running.send_signal(signal.SIGINT)
    output, _ = running.communicate()
    assert json.loads(output.splitlines()[-1]) is None


def test_a_server_that_is_lost_ends_all_and_is_named(tmp_path: Path) -> None:
    output, _ = start(tmp_path, "exec sleep 60", f"touch {tmp_path}/server-lost; exec sleep 60").communicate()
    assert json.loads(output.splitlines()[-1]) == {"name": "server", "status": None}


def test_a_second_interrupt_does_not_break_off_the_stopping_and_what_does_not_hear_is_killed(tmp_path: Path) -> None:
    deaf = "trap '' TERM; echo deaf; while :; do sleep 0.1; done"
    running = start(tmp_path, "exec sleep 60", deaf)
    _until(running, "deaf")
    for _ in range(3):
        running.send_signal(signal.SIGINT)
    output, _ = running.communicate()
    assert json.loads(output.splitlines()[-1]) is None
    assert running.returncode == 0


def test_a_part_has_ended_when_what_it_started_has_ended_too(tmp_path: Path) -> None:
    """As a web server's child, which holds the port for a moment when its parent is killed."""
    killed_once = f"mkdir {tmp_path}/begun || exec sleep 60; (sleep 1; echo child gone) & kill -9 $$"
    running = start(tmp_path, "exec sleep 60", killed_once, restarted="p1")
    lines = _until(running, "p1 has been ended by signal 9. It is started again in 0.5 s.")
    assert "child gone" in lines
    running.send_signal(signal.SIGTERM)
    running.communicate()


def test_a_program_that_is_not_there_is_named_and_the_others_are_ended(tmp_path: Path) -> None:
    script = """
import os, sys
from pathlib import Path
from bootstrap.errors import BootstrapError
from bootstrap.supervisor import Output, Part, Supervisor
parts = [Part("one", ("sleep", "60"), os.environ), Part("two", ("/no/such", "program"), os.environ)]
try:
    Supervisor(parts, Output(Path(sys.argv[1]), frozenset()), list).run()
except BootstrapError as error:
    print(error)
"""
    words = [sys.executable, "-c", script, str(tmp_path)]
    result = subprocess.run(words, cwd=CHECKOUT, capture_output=True, text=True)
    assert result.stdout.startswith("two: /no/such cannot be run.\n"), result.stderr


def _until(running: subprocess.Popen[str], expected: str) -> list[str]:
    """Return the lines that it prints, up to this one."""
    assert running.stdout is not None
    lines: list[str] = []
    for line in running.stdout:
        lines.append(line.rstrip("\n"))
        if lines[-1] == expected:
            return lines
    raise AssertionError(lines)
