"""The proxy of docker-compose.yml is that of the demo, which the tests of the demo try."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import yaml
from django.urls import URLPattern, URLResolver, get_resolver

from bootstrap.proxy import TEMPLATE
from webapp.bodies import upload_of

ROOT = Path(__file__).parents[2]


def services() -> dict[str, Any]:
    compose = yaml.safe_load((ROOT / "docker-compose.yml").read_text(encoding="utf-8"))
    return dict(compose["services"])


def test_compose_gives_the_proxy_its_configuration_and_the_addresses_in_it() -> None:
    proxy = services()["proxy"]
    assert [volume.partition(":")[0] for volume in proxy["volumes"]] == [f"./{TEMPLATE.relative_to(ROOT)}"]
    given = {name for name in proxy["environment"] if name.startswith("TEITEN_")}
    assert given == set(re.findall(r"\$\{(\w+)\}", TEMPLATE.read_text(encoding="utf-8")))


def test_the_proxy_lets_every_upload_through() -> None:
    [pattern] = re.findall(r"location ~ (\S+) \{", TEMPLATE.read_text(encoding="utf-8"))
    taken = [path for path, view in _routes(get_resolver().url_patterns) if upload_of(view)]
    assert len(taken) >= 5
    assert [path for path in taken if not re.search(pattern, f"/{path}")] == []


def _routes(patterns: list[URLPattern | URLResolver], above: str = "") -> Iterator[tuple[str, Any]]:
    for pattern in patterns:
        path = above + re.sub(r"<[^>]*>", "7", str(pattern.pattern))
        if isinstance(pattern, URLResolver):
            yield from _routes(pattern.url_patterns, path)
        else:
            yield path, pattern.callback


def test_nothing_but_the_proxy_is_reached_from_outside() -> None:
    assert [name for name, service in services().items() if "ports" in service] == ["proxy"]
