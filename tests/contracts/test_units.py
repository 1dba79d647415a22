"""The units of systemd start what the containers start, and systemd takes them."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from configparser import ConfigParser
from pathlib import Path

import pytest
import yaml

from bootstrap.system import program
from webapp import env

ROOT = Path(__file__).parents[2]
UNITS = ROOT / "deploy" / "systemd"
SERVICES = sorted(path.stem.removeprefix("teiten-") for path in UNITS.glob("teiten-*.service"))
CONFINED = UNITS / "teiten-.service.d" / "confined.conf"


def read_unit(path: Path) -> ConfigParser:
    parser = ConfigParser(strict=False, interpolation=None)
    parser.optionxform = str  # type: ignore[assignment, method-assign]
    parser.read(path, encoding="utf-8")
    return parser


def started(name: str) -> list[str]:
    """The words of each command of a unit, its program without folder."""
    text = (UNITS / f"teiten-{name}.service").read_text(encoding="utf-8")
    commands = re.findall(r"^ExecStart=/opt/teiten/\.venv/bin/(.+)$", text, re.M)
    return [command.replace("%%", "%") for command in commands]


def contained(name: str) -> str:
    """The command of a container, as one line."""
    service = yaml.safe_load((ROOT / "docker-compose.yml").read_text(encoding="utf-8"))["services"][name]
    [image] = re.findall(r"^CMD (.+)$", (ROOT / "Dockerfile").read_text(encoding="utf-8"), re.M)
    return str(service.get("command") or " ".join(json.loads(image)))


def test_there_is_a_unit_for_each_container_of_teitens_own() -> None:
    services = yaml.safe_load((ROOT / "docker-compose.yml").read_text(encoding="utf-8"))["services"]
    assert {name for name, service in services.items() if service.get("build") == "."} == set(SERVICES)


@pytest.mark.parametrize("name", SERVICES)
def test_a_unit_starts_what_the_container_starts(name: str) -> None:
    # A web server beside its proxy listens to this machine alone.
    assert started(name)[0] == contained(name).replace("0.0.0.0", "127.0.0.1")


@pytest.mark.parametrize("name", SERVICES)
def test_a_unit_stops_as_the_container_and_has_its_memory_and_processes(name: str) -> None:
    services = yaml.safe_load((ROOT / "docker-compose.yml").read_text(encoding="utf-8"))["services"]
    unit = read_unit(UNITS / f"teiten-{name}.service")["Service"]
    assert unit["MemoryMax"] == services[name]["mem_limit"].upper()
    assert unit["TasksMax"] == str(services[name]["pids_limit"])
    if "stop_grace_period" in services[name]:
        assert unit["TimeoutStopSec"] == services[name]["stop_grace_period"].removesuffix("s")


def test_keys_are_hidden_where_containers_have_none() -> None:
    hidden = {
        name
        for name in SERVICES
        if "/etc/teiten/keys" in read_unit(UNITS / f"teiten-{name}.service")["Service"].get("InaccessiblePaths", "")
    }
    assert hidden == {"beat", "migrate"}


def test_the_example_has_settings_that_there_are() -> None:
    text = (UNITS / "teiten.env.example").read_text(encoding="utf-8")
    named = set(re.findall(r"^(\w+)=", text, re.M))
    assert named <= set(re.findall(r'"(TEITEN_[A-Z_]+)"', Path(env.__file__).read_text(encoding="utf-8")))


@pytest.mark.parametrize("verb", ["verify", "security"])
def test_systemd_takes_the_units_and_finds_little_exposed(verb: str, tmp_path: Path) -> None:
    tool = program("systemd-analyze")
    if tool is None:
        pytest.skip("systemd-analyze is not installed")
    for path in (*UNITS.glob("teiten-*.service"), UNITS / "teiten.target", CONFINED):
        target = tmp_path / path.relative_to(UNITS)
        target.parent.mkdir(exist_ok=True)
        text = path.read_text(encoding="utf-8")
        target.write_text(text.replace("/opt/teiten/.venv/bin", str(Path(sys.executable).parent)), encoding="utf-8")
    units = [str(path) for path in sorted(tmp_path.glob("teiten-*.service"))]
    options = ["--man=no"] if verb == "verify" else ["--offline=yes", "--threshold=20", "--no-pager"]
    # Alone, so that no unit of this machine is complained of.
    environment = {"PATH": "/usr/bin:/bin", "SYSTEMD_UNIT_PATH": f"{tmp_path}:"}
    result = subprocess.run([tool, verb, *options, *units], capture_output=True, text=True, env=environment)
    assert result.returncode == 0, result.stdout + result.stderr
    assert "teiten" not in result.stderr
