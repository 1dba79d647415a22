"""The command line of `python3 -m bootstrap`."""

from __future__ import annotations

import argparse
import sys

from bootstrap import account as accounts
from bootstrap import checks, clean, demo, demo_check, oldpg, places, sweep, system, venv
from bootstrap.errors import BootstrapError, say


def main(arguments: list[str]) -> int:
    """Run the action that the arguments name; return the exit code. Errors are printed, not raised."""
    # What follows -- is another program's command line, which argparse must not read.
    split = arguments.index("--") if "--" in arguments else len(arguments)
    options = _parser().parse_args(arguments[:split])
    options.command = arguments[split + 1 :]
    try:
        return int(options.action(options) or 0)
    except BootstrapError as error:
        for part in (error.__context__, error):  # stopping may fail after something else has
            if isinstance(part, BootstrapError):
                print(f"\n{part}", file=sys.stderr)
        return 1
    except KeyboardInterrupt:
        return 130


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python3 -m bootstrap", description="Brings Teiten up from nothing.")
    actions = parser.add_subparsers(metavar="WHAT", required=True)

    def add(name: str, action: object, text: str) -> argparse.ArgumentParser:
        action_parser = actions.add_parser(name, help=text, description=text)
        action_parser.set_defaults(action=action)
        return action_parser

    for name, action, text in (
        ("venv", _venv, "make .venv with the pinned requirements"),
        ("system", _system, "install or name what the operating system must give"),
    ):
        add(name, action, text).add_argument("--dev", action="store_true", help="with what the tests need")
    add("demo", _demo, "run everything in the foreground")
    add("demo-check", _demo_check, "run make demo with a small plan, from start to stop")
    add("services", _services, "services -- COMMAND: run it with warehouse, Redis and sshd ready around it")
    add("oldpg", _oldpg, "fetch older PostgreSQL servers for tests").add_argument("majors", nargs="*")
    add("leftover", _leftover, "list processes that still belong to the state folder; exit code 1 if any")
    add("clean", _clean, "stop what runs and remove the state folder")
    return parser


def _venv(options: argparse.Namespace) -> None:
    venv.ensure(options.dev)


def _system(options: argparse.Namespace) -> None:
    system.ensure(options.dev)


def _demo(_: argparse.Namespace) -> int:
    return demo.demo()


def _demo_check(_: argparse.Namespace) -> None:
    demo_check.demo_check()


def _services(options: argparse.Namespace) -> int:
    if not options.command:
        raise BootstrapError("No command was given.", where="services", todo="Write it after --: services -- pytest")
    state = places.prepare(places.state_folder())[0].state
    return checks.run_inside(options.command, state / "test", state / "downloads")


def _oldpg(options: argparse.Namespace) -> None:
    prepared, _ = places.prepare(places.state_folder())
    oldpg.fetch(options.majors, prepared.old_programs, prepared.state / "downloads")


def _leftover(_: argparse.Namespace) -> int:
    lines = []
    for state in (places.state_folder(), places.state_folder() / "test"):
        known_places, state_accounts = places.known(state), accounts.current(state)
        if known_places and state_accounts:
            lines += sweep.left_over(known_places, state_accounts)
    for line in sorted(set(lines)):
        say(line)
    return 1 if lines else 0


def _clean(_: argparse.Namespace) -> None:
    clean.clean(places.state_folder())
