"""`services -- COMMAND`: run any command with the services that the tests need."""

from __future__ import annotations

import os
import signal
import subprocess
from pathlib import Path
from types import FrameType

from bootstrap import oldpg, services, system
from bootstrap.errors import BootstrapError, say

OLD_MAJORS = ("11", "12", "17")


def run_inside(command: list[str], state: Path, downloads: Path) -> int:
    """Run a command with the services ready and named in its environment. Raises BootstrapError.

    Returns its exit code, 128 + n after signal n.
    """
    system.ensure(dev=False)
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    signal.signal(signal.SIGHUP, signal.default_int_handler)
    try:
        with services.running(state, durable=False) as session:
            search = _with_old_servers(session, downloads)
            return _call(command, session.environment | {"TEITEN_AGENT_SEARCH": search})
    except KeyboardInterrupt:
        return 128 + signal.SIGINT


def _with_old_servers(session: services.Running, downloads: Path) -> str:
    folder = session.places.old_programs
    try:
        oldpg.fetch(OLD_MAJORS, folder, downloads)
    except BootstrapError as error:
        say(f"Tests go on without PostgreSQL {' and '.join(OLD_MAJORS)}. {error}")
    return f"{session.environment['TEITEN_AGENT_SEARCH']}:{folder}"


def _call(command: list[str], environment: dict[str, str]) -> int:
    children: list[subprocess.Popen[bytes]] = []
    early_signals: list[int] = []

    def forward(number: int, _: FrameType | None) -> None:
        if not children:
            early_signals.append(number)
        # A terminal sends Ctrl-C to the child as well.
        elif number != signal.SIGINT or not os.isatty(0):
            children[0].send_signal(number)

    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, forward)
    try:
        children.append(subprocess.Popen(command, env=environment))
    except OSError as error:
        raise BootstrapError(f"{command[0]} cannot be run.", where="services", why=str(error)) from None
    for early_signal in early_signals:
        children[0].send_signal(early_signal)
    status = children[0].wait()
    return status if status >= 0 else 128 - status
