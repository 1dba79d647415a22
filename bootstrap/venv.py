"""Make the virtual environment with the locked requirements, and reuse it while the locks are the same."""

from __future__ import annotations

import hashlib
import importlib.util
import json
import subprocess
import sys
from pathlib import Path

from bootstrap import system
from bootstrap.errors import BootstrapError, say
from bootstrap.places import CHECKOUT, VENV

_FILES = {False: "requirements-demo.lock", True: "requirements-dev.lock"}


def ensure(dev: bool, checkout: Path = CHECKOUT, folder: Path = VENV) -> bool:
    """Make or complete the environment; return whether there was anything to do. Raises BootstrapError."""
    stamp = folder / "teiten-stamp.json"
    requirements = _stamp_content(dev, checkout)
    if _read_stamp(stamp).items() >= requirements.items() and (folder / "bin" / "python").exists():
        return False
    stamp.unlink(missing_ok=True)
    if not _usable(folder):
        _make(folder)
    name = _FILES[dev]
    say(f"Installing {name} into {folder.name} …")
    pip = [str(folder / "bin" / "python"), "-m", "pip", "install", "--disable-pip-version-check", "--quiet"]
    # A lock names all that is to be installed, so that nothing needs to be resolved.
    locked = ["--require-hashes", "--no-deps", "--requirement", str(checkout / name)]
    _call([*pip, *locked], f"The requirements of {name} could not be installed.")
    stamp.write_text(json.dumps(requirements, indent=1) + "\n", encoding="utf-8")
    return True


def _stamp_content(dev: bool, checkout: Path) -> dict[str, str]:
    """Return the content of the stamp: the version of Python, and the hash of each lock."""
    names = [_FILES[False], _FILES[True]] if dev else [_FILES[False]]
    hashes = {name: hashlib.sha256((checkout / name).read_bytes()).hexdigest() for name in names}
    return {"python": f"{sys.version_info.major}.{sys.version_info.minor}", **hashes}


def _read_stamp(stamp: Path) -> dict[str, str]:
    try:
        content = json.loads(stamp.read_text(encoding="utf-8"))
    except (FileNotFoundError, ValueError):
        return {}
    return content if isinstance(content, dict) else {}


def _usable(folder: Path) -> bool:
    """Return whether this is an environment of this Python, made in this folder, with a working pip."""
    python = folder / "bin" / "python"
    if not python.exists():
        return False
    script = "import sys, pip; print(sys.prefix, *sys.version_info[:2], sep='|')"
    result = subprocess.run([str(python), "-c", script], capture_output=True, text=True)
    return result.stdout.strip() == f"{folder}|{sys.version_info.major}|{sys.version_info.minor}"


def _make(folder: Path) -> None:
    if importlib.util.find_spec("ensurepip") is None or importlib.util.find_spec("venv") is None:
        system.install_venv_module()
    say(f"Making {folder} with Python {sys.version.split()[0]} …")
    # The base interpreter, so that an environment can be made anew by its own Python.
    python = getattr(sys, "_base_executable", sys.executable)
    _call([python, "-m", "venv", "--clear", str(folder)], "The virtual environment could not be made.")


def _call(command: list[str], error: str) -> None:
    result = subprocess.run(command, capture_output=True, text=True)
    if result.returncode != 0:
        raise BootstrapError(
            error,
            where="virtual environment",
            why=(result.stderr or result.stdout).strip()[-2000:],
            todo="Check the network and the disk's free space, then run the same command again.",
        )
