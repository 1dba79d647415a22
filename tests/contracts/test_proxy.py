"""The proxy of docker-compose.yml is that of the demo, which the tests of the demo try."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import yaml

from bootstrap.proxy import TEMPLATE

ROOT = Path(__file__).parents[2]


def services() -> dict[str, Any]:
    compose = yaml.safe_load((ROOT / "docker-compose.yml").read_text(encoding="utf-8"))
    return dict(compose["services"])


def test_compose_gives_the_proxy_its_configuration_and_the_addresses_in_it() -> None:
    proxy = services()["proxy"]
    assert [volume.partition(":")[0] for volume in proxy["volumes"]] == [f"./{TEMPLATE.relative_to(ROOT)}"]
    given = {name for name in proxy["environment"] if name.startswith("TEITEN_")}
    assert given == set(re.findall(r"\$\{(\w+)\}", TEMPLATE.read_text(encoding="utf-8")))


def test_nothing_but_the_proxy_is_reached_from_outside() -> None:
    assert [name for name, service in services().items() if "ports" in service] == ["proxy"]
