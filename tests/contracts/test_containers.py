"""Every container is confined, and has no more of the others' than it needs. `make lint` checks the files' form."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest
import yaml

ROOT = Path(__file__).parents[2]
COMPOSE = yaml.safe_load((ROOT / "docker-compose.yml").read_text(encoding="utf-8"))
SERVICES: dict[str, dict[str, Any]] = COMPOSE["services"]
ONCE = {"migrate"}


def mounted(service: str) -> dict[str, str]:
    """What is mounted of the machine or the volumes → where, with `:ro` if it cannot be written."""
    pairs = [re.fullmatch(r"(\$\{.*\}[^:]*|[^:]+):(.+)", volume) for volume in SERVICES[service].get("volumes", ())]
    return {str(pair[1]): str(pair[2]) for pair in pairs if pair}


def users_of(source: str) -> set[str]:
    return {name for name in SERVICES if any(source in mount for mount in mounted(name))}


@pytest.mark.parametrize("name", SERVICES)
def test_every_service_is_confined(name: str) -> None:
    service = SERVICES[name]
    assert int(service["user"].partition(":")[0]) > 0
    assert service["read_only"] is True
    assert service["cap_drop"] == ["ALL"]
    assert service["security_opt"] == ["no-new-privileges:true"]
    assert not service.keys() & {"cap_add", "privileged", "pid", "ipc", "network_mode", "devices", "userns_mode"}
    assert {"mem_limit", "cpus", "pids_limit", "networks"} <= service.keys()
    assert service["restart"] == ("no" if name in ONCE else "unless-stopped")


def test_every_service_that_stays_has_a_health_check() -> None:
    assert {name for name, service in SERVICES.items() if "healthcheck" not in service} == ONCE


def test_no_health_check_depends_on_the_names_under_which_users_reach_the_pages() -> None:
    words = " ".join(str(service["healthcheck"]["test"]) for name, service in SERVICES.items() if name not in ONCE)
    assert set(re.findall(r"http://[\w.]+:\d+(/\w+)", words)) == {"/healthz"}


def test_keys_and_raw_files_are_where_they_are_used_alone() -> None:
    assert users_of("TEITEN_KEYS") == {"web", "worker", "control", "agent"}
    for name in ("web", "worker", "control"):
        assert mounted(name)["${TEITEN_KEYS:-./keys}"] == "/keys:ro"
    assert mounted("agent")["${TEITEN_KEYS:-./keys}/example.pub"].endswith(":ro")  # no private key
    assert users_of("bundles") == {"web", "worker", "control", "migrate"}
    assert users_of("warehouse") == {"db"}


def test_agent_and_proxy_reach_neither_warehouse_nor_queue() -> None:
    assert COMPOSE["networks"]["data"] == {"internal": True}
    assert {name for name, service in SERVICES.items() if "data" not in service["networks"]} == {"proxy", "agent"}
    assert {name for name, service in SERVICES.items() if service["networks"] == ["data"]} == {
        *("db", "redis", "migrate", "beat")
    }


def test_no_password_is_among_the_words_of_a_command() -> None:
    for name, service in SERVICES.items():
        assert not re.search(r"(?<!\$)\$\{", str(service.get("command", ""))), name


def test_every_secret_and_setting_of_compose_stands_in_the_example() -> None:
    text = (ROOT / "docker-compose.yml").read_text(encoding="utf-8")
    example = (ROOT / ".env.example").read_text(encoding="utf-8")
    named = set(re.findall(r"(?<!\$)\$\{(\w+)", text))
    offered = set(re.findall(r"^(\w+)=", example, re.M))
    assert offered <= named
    assert named - offered == set()
    needed = set(re.findall(r"\$\{(\w+):\?", text))
    assert needed == {"TEITEN_SECRET_KEY", "POSTGRES_PASSWORD", "REDIS_PASSWORD"}
    assert needed <= set(re.findall(r"^(\w+)=$", example, re.M))


@pytest.mark.parametrize("file", ["Dockerfile", "deploy/agent/Dockerfile"])
def test_an_image_runs_as_the_account_that_compose_names_and_holds_no_key(file: str) -> None:
    text = (ROOT / file).read_text(encoding="utf-8")
    [user] = re.findall(r"^USER (\S+)$", text, re.M)
    folder = "." if file == "Dockerfile" else str(Path(file).parent)
    built = {service["user"] for service in SERVICES.values() if service.get("build") == folder}
    assert built == {user}
    assert not re.search(r"^COPY .*key", text, re.M)
    assert {".env", "keys"} <= set((ROOT / ".dockerignore").read_text(encoding="utf-8").split())
