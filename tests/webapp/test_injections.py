"""Texts that would run, read, fetch or show something, in every place of every request that takes a text.

Places: each name of a query, each part of an address, headers, each field of a form and of a body of the API. A place
gets one text of each of some kinds (`payloads`), the next place others of other kinds. `TEITEN_INJECTIONS=all` sends
all texts to each place. The requests are the same each time. How many there were is logged (`--log-cli-level=INFO`)."""

from __future__ import annotations

import json
import logging
import os
import re
import socket
import tomllib
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import suppress
from functools import partial
from pathlib import Path
from typing import Any
from urllib.parse import parse_qsl, quote, urlencode, urljoin, urlsplit

import pytest
import tomli_w
from django.contrib.auth.models import User
from django.db import connection
from django.test import Client
from django.urls import NoReverseMatch, Resolver404, get_resolver, resolve, reverse

from results import models
from results.models.audit import Role
from tests import factories
from tests.imported import COLUMNS, TABLE
from tests.webapp.api.test_api_access import READING, WRITING
from tests.webapp.attack import Attack, Form, Page, query_names
from tests.webapp.pages.test_site import POSTED
from tests.webapp.payloads import Canaries, Rotation, canaries, payloads
from tests.webapp.places import body_fields, multipart, places_in, query_parameters, with_text
from tests.webapp.plants import plant
from tests.webapp.worlds import api_world, more_of_api_world, page_addresses, page_names

pytestmark = [pytest.mark.slow, pytest.mark.django_db]
log = logging.getLogger(__name__)
EVERYTHING = os.environ.get("TEITEN_INJECTIONS") == "all"
HEADERS = (
    *("X-Forwarded-For", "X-Forwarded-Host", "X-Forwarded-Proto", "Forwarded", "Referer", "User-Agent", "Accept"),
    *("Accept-Language", "Accept-Encoding", "HX-Current-URL", "HX-Target", "If-None-Match", "If-Modified-Since"),
    *("Range", "Authorization", "Cookie", "Origin", "X-Request-ID"),
)
BODIES: tuple[tuple[str, str, dict[str, Any]], ...] = (  # that more is in than in those of WRITING
    ("post", "tokens/", {"name": "mine", "scope": "read", "days": 1}),
    (
        *("post", "plans/preview/"),
        factories.mapping(
            settings={"work_mem": "4MB"},
            collectors=["pg_stat"],
            initdb=["--data-checksums"],
            description="why",
            standing="kept",
            exclude=[{"installation": "16", "clients": 4}],
            factors={"installation": ["16", "18"], "clients": [1, 4], "setting.work_mem": ["4MB", "8MB"]},
        ),
    ),
)
TOMLS: tuple[tuple[str, str, dict[str, Any]], ...] = (
    ("/plans/import/", "/api/v1/plans/preview/", BODIES[1][2]),
    ("/agents/db1/host/import/", "/api/v1/agents/db1/host-factors/", tomllib.loads(factories.HOST_FACTOR)),
)
SHOWN = (  # texts that are stored wherever a text is
    "=cmd|'{command}'!A0 <script>canary()</script>",
    "\\end{{verbatim}}\\input{{/etc/passwd}}$\\write18{{{command}}}$ [x](javascript:canary()) ![x]({url})",
    "\"><img src=x onerror=canary()>' onmouseover=canary() x=' </script></textarea></title><script>canary()</script>",
)
EXPORTS = ("csv", "csv.zip", "html", "md.zip", "tex.zip", "xlsx", "svg", "provenance.json")
MOST_OF_A_ROUTE = 4
FEWEST_SHOWING = 60  # answers that have the stored text
KINDS_AT_A_PLACE = 5
TWINS = {  # page → endpoint whose parameters it takes too
    "/compare/": "comparison/",
    "/compare/why/": "comparison/why/",
    "/compare/changes/": "comparison/changes/",
} | {f"/{name}/": f"{name}/" for name in ("runs", "plans", "trends", "diff", "flame", "versions", "agents", "imports")}


@pytest.fixture(autouse=True)
def _surroundings(settings: Any, tmp_path: Path) -> None:
    plain = {"BACKEND": "django.contrib.staticfiles.storage.StaticFilesStorage"}
    settings.STORAGES = settings.STORAGES | {"staticfiles": plain}
    settings.TEITEN_OPEN_READING = True
    settings.TEITEN_BUNDLE_DIR = tmp_path
    settings.TEITEN_API_LIMIT = settings.TEITEN_API_LIMIT_ANONYMOUS = 0  # thousands of requests in a minute


@pytest.fixture
def planted() -> Iterator[Canaries]:
    with canaries() as of_test:
        yield of_test


@pytest.fixture
def texts(planted: Canaries) -> Rotation:
    return Rotation(payloads(planted), everything=EVERYTHING)


@pytest.fixture(scope="module")
def counts() -> Iterator[Counter[str]]:
    """What the tests did together, logged in a line."""
    totals: Counter[str] = Counter()
    yield totals
    log.info("all injections: %s", ", ".join(f"{totals[name]} {name}" for name in totals))


@pytest.fixture
def attack(
    planted: Canaries,
    counts: Counter[str],
    request: pytest.FixtureRequest,
    caplog: pytest.LogCaptureFixture,
    db: None,
) -> Iterator[Attack]:
    """Whose findings, files and connections there must be none at the end."""
    caplog.set_level(logging.CRITICAL, "django")  # thousands of refusals
    one = Attack()
    yield one
    executed, connected = planted.executed, planted.connected
    log.info("%s: %s", request.node.name, one)
    counts.update({"requests": one.requests, "places": one.places, "commands planted": planted.planted})
    counts.update({"executed": len(executed), "connections": connected})
    counts.update({"answers of 5xx": sum(n for status, n in one.statuses.items() if status >= 500 and status != 502)})
    counts.update({"answers of 502 for an agent": one.statuses[502]})
    assert one.requests > 0
    assert "\n".join(one.wrong[:40]) == ""
    assert (executed, connected) == ([], 0)


@pytest.fixture
def admin(db: None) -> Client:
    return signed_in(factories.member("root", staff=True))


def signed_in(user: User) -> Client:
    client = Client(raise_request_exception=False)
    client.force_login(user)
    return client


@pytest.fixture
def identities(admin: Client) -> list[Client]:
    """An administrator's session, which sees most, and in between a reader's, a token of each scope, and nobody's."""
    secrets = factories.tokens(User.objects.get(username="root")).values()
    tokens = [
        Client(raise_request_exception=False, headers={"Authorization": f"Bearer {secret}"}) for secret in secrets
    ]
    others = [Client(raise_request_exception=False), signed_in(factories.member("reader", Role.READER)), *tokens]
    return [client for other in others for client in (admin, admin, other)]


@pytest.fixture
def world(db: None, tmp_path: Path) -> dict[str, Any]:
    made = api_world(factories.member("ada", staff=True), tmp_path)
    close_agents()
    return made | more_of_api_world(tmp_path)


def close_agents() -> None:
    """Nothing listens where the agents are."""
    models.Agent.objects.update(host="127.0.0.1", port=1)


def test_a_canary_is_seen(planted: Canaries, db: None) -> None:
    """The texts would be noticed: what PostgreSQL runs as its own account makes its file."""
    with connection.cursor() as cursor:
        cursor.execute(f"COPY (SELECT 1) TO PROGRAM '{planted.command()}'")
    assert planted.executed == ["1"]
    with socket.create_connection(planted.listener.getsockname()):
        assert planted.connected == 1


def test_pages(attack: Attack, texts: Rotation, identities: list[Client], admin: Client, tmp_path: Path) -> None:
    address = page_addresses(tmp_path)
    close_agents()
    names = [name for name in page_names(get_resolver().url_patterns) if name not in POSTED]
    urls = [address(name) for name in names if name != "account:sign-out"]
    asked = queries_of_pages(attack, admin, urls)
    for twin, endpoint in TWINS.items():
        asked.setdefault(resolve(twin).route, set()).update(query_parameters(f"/api/v1/{endpoint}"))
    for url in urls:
        names_here = asked.get(resolve(urlsplit(url).path).route, set()) | {"next"}
        read_with(attack, texts, identities, url, names_here)


def test_endpoints(attack: Attack, texts: Rotation, identities: list[Client], world: dict[str, Any]) -> None:
    for path in (*READING, "audit/", "tokens/"):
        url = f"/api/v1/{path.format(**world)}"
        read_with(attack, texts, identities, url, query_parameters(urlsplit(url).path) | {"format"})


def test_headers(attack: Attack, texts: Rotation, identities: list[Client], world: dict[str, Any]) -> None:
    for url in ("/runs/", "/now/", "/account/sign-in/", "/nothing/", "/api/v1/measurements/", "/api/v1/nothing/"):
        for number, header in enumerate(HEADERS):
            attack.places += 1
            for text in texts.at_next_place(KINDS_AT_A_PLACE):
                more = {"HX-Request": "true"} if header.startswith("HX-") else {}
                sent = text.encode(errors="replace").decode("latin-1")  # as a server hands it on
                attack.ask(identities[number % len(identities)], "get", url, headers={header: sent} | more)


def test_bodies_of_the_api(attack: Attack, texts: Rotation, admin: Client, world: dict[str, Any]) -> None:
    for method, path, body in [*((row[0], row[1], row[3]) for row in WRITING), *BODIES]:
        url = f"/api/v1/{path.format(**world)}"
        whole = body_fields(method, url) | body
        for place in (*places_in(whole), ()):
            attack.places += 1
            for text in texts.at_next_place(KINDS_AT_A_PLACE):
                changed = json.dumps(with_text(whole, place, text))
                attack.ask(admin, method, url, data=changed, content_type="application/json")


def test_toml(attack: Attack, texts: Rotation, admin: Client, world: dict[str, Any]) -> None:
    for page, endpoint, document in TOMLS:
        for place in (*places_in(document), ()):
            attack.places += 1
            for text in texts.at_next_place(KINDS_AT_A_PLACE):
                changed = with_text(document, place, text)
                toml = tomli_w.dumps(changed) if isinstance(changed, dict) else str(changed)
                attack.ask(admin, "post", page, data={"toml": toml})
                attack.ask(admin, "post", endpoint, data=json.dumps({"toml": toml}), content_type="application/json")


def test_files_of_other_programs(attack: Attack, texts: Rotation, admin: Client, world: dict[str, Any]) -> None:
    fields = {"mapped": "t.csv", "workload": "tpcb", "name": "Old", "note": "n", "title": "t", "source": "s", **COLUMNS}
    cells = sorted(set(re.split(r"[,\n]", TABLE)) - {""})
    for place in (*fields, *cells, "file name", "content"):
        attack.places += 1
        for text in texts.at_next_place(KINDS_AT_A_PLACE):
            content = {"content": text}.get(place) or (TABLE.replace(place, text) if place in cells else TABLE)
            sent = fields | {place: text} if place in fields else fields
            body, content_type = multipart(sent, "file", text if place == "file name" else "t.csv", content)
            for path in ("/api/v1/imports/", "/api/v1/imports/preview/", "/imports/preview/"):
                attack.ask(admin, "post", path, data=body, content_type=content_type)


def test_forms(attack: Attack, texts: Rotation, admin: Client, tmp_path: Path) -> None:
    address = page_addresses(tmp_path)
    close_agents()
    names = [name for name in page_names(get_resolver().url_patterns) if name not in POSTED]
    forms: dict[tuple[str, tuple[str, ...]], Form] = {}
    for url in (address(name) for name in names if name != "account:sign-out"):
        for form in page_of(attack, admin, url).forms:
            if form.method == "post" and not form.action.startswith("/account/sign-out"):
                forms.setdefault((resolve(urlsplit(form.action).path).route, tuple(form.fields)), form)
    assert len(forms) > 20
    for form in forms.values():
        fill_in(attack, texts, admin, form)


@pytest.mark.parametrize("text", SHOWN, ids=["formula", "LaTeX", "HTML"])
def test_what_is_stored_is_shown_as_text(
    text: str, attack: Attack, planted: Canaries, admin: Client, tmp_path: Path
) -> None:
    text = text.format(command=planted.command(), url=planted.url)
    run = plant(text, User.objects.get(username="root"), tmp_path)
    listed = [f"/api/v1/{path}" for path in READING if "{" not in path and not path.startswith(("docs", "schema"))]
    files = [f"/api/v1/comparison.{form}?run={run.pk}&series=shape" for form in EXPORTS]
    rows = (f"runs/{run.pk}/medians/?metric=tps", f"measurements/?run={run.pk}")
    tables = [f"/api/v1/{path}&format=csv" for path in rows]
    crawl(attack, admin, [*without_arguments(), *listed, *files, *tables])
    assert attack.showing > FEWEST_SHOWING


def without_arguments() -> Iterator[str]:
    """Addresses of pages that are read and name nothing."""
    for name in page_names(get_resolver().url_patterns):
        with suppress(NoReverseMatch):
            if name not in (*POSTED, "account:sign-out"):
                yield reverse(name)


def crawl(attack: Attack, client: Client, urls: list[str]) -> None:
    """Read these addresses and all that they lead to, up to MOST_OF_A_ROUTE of each route."""
    read: Counter[str] = Counter()
    seen = set(urls)
    while urls:
        url = urls.pop(0)
        path = urlsplit(url).path
        try:
            route = resolve(path).route
        except Resolver404:
            continue
        if read[route] >= MOST_OF_A_ROUTE and not path.startswith("/api/v1/comparison."):
            continue
        read[route] += 1
        attack.places += 1
        links = page_of(attack, client, url).links
        new = [urljoin(url, link).partition("#")[0] for link in links]
        urls += [link for link in dict.fromkeys(new) if link.startswith("/") and link not in seen]
        seen.update(new)


def read_with(attack: Attack, texts: Rotation, identities: list[Client], url: str, names: set[str]) -> None:
    """Read an address with a text in each name of its query, in a name itself, and in each part of its path."""
    path, query = urlsplit(url).path, dict(parse_qsl(urlsplit(url).query))
    places: list[Callable[[str], str]] = [partial(in_query, path, query, name) for name in sorted(names)]
    places.append(lambda text: f"{path}?{urlencode(query | {text: 'x'})}")
    for value in map(str, resolve(path).kwargs.values()):
        before, _, after = path.rpartition(value)
        places.append(partial(in_path, before, after))
    for place in places:
        attack.places += 1
        for text in texts.at_next_place(KINDS_AT_A_PLACE):
            attack.ask(identities[attack.requests % len(identities)], "get", place(text))


def in_query(path: str, query: dict[str, str], name: str, text: str) -> str:
    return f"{path}?{urlencode(query | {name: text})}"


def in_path(before: str, after: str, text: str) -> str:
    return f"{before}{quote(text, safe='')}{after}"


def queries_of_pages(attack: Attack, client: Client, urls: list[str]) -> dict[str, set[str]]:
    """Route → names that links and forms of the pages have in its query."""
    asked: dict[str, set[str]] = {}
    for url in urls:
        path, page = urlsplit(url).path, page_of(attack, client, url)
        links = [
            link if link.startswith("/") else f"{path}{link}" for link in page.links if link.startswith(("/", "?"))
        ]
        for link in (*links, url):
            if link.startswith("/") and "?" in link:
                asked.setdefault(resolve(urlsplit(link).path).route, set()).update(query_names(link))
        for form in page.forms:
            if form.method == "get":
                asked.setdefault(resolve(urlsplit(form.action).path).route, set()).update(form.fields)
    return asked


def page_of(attack: Attack, client: Client, url: str) -> Page:
    answer: Any = attack.ask(client, "get", url)
    text = answer.content.decode() if "html" in answer.headers.get("Content-Type", "") else ""
    return Page(text, urlsplit(url).path)


def fill_in(attack: Attack, texts: Rotation, client: Client, form: Form) -> None:
    """Send a form with a text in each field, and as the name and content of each file."""
    for name in form.fields:
        attack.places += 1
        for text in texts.at_next_place(KINDS_AT_A_PLACE):
            attack.ask(client, "post", form.action, data=form.fields | {name: text})
    for name in form.files:
        attack.places += 1
        for text in texts.at_next_place(KINDS_AT_A_PLACE):
            body, content_type = multipart(form.fields, name, text, text)
            attack.ask(client, "post", form.action, data=body, content_type=content_type)
