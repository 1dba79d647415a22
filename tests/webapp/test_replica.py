"""Pages and API are read from a real streaming standby by who only reads, and from the warehouse by who has written
what the standby has not replayed yet."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import psycopg
import pytest
from django.db import connection, connections, transaction
from django.test import Client
from django.test.utils import CaptureQueriesContext

from results import models, reading, replica
from tests import factories, restarting
from tests.page_text import page_text
from tests.restarting import Warehouse
from webapp.management.commands import doctor
from webapp.replica import COOKIE

PAGES = ("/", "/runs/", "/plans/", "/agents/", "/topologies/", "/versions/", "/trends/", "/reports/")
ENDPOINTS = ("runs/", "trials/", "measurements/", "plans/", "agents/", "metrics/")
PATIENCE_S = 30


@pytest.fixture(scope="module")
def primary(django_db_setup: None, django_db_blocker: Any) -> Iterator[Warehouse]:
    with django_db_blocker.unblock(), restarting.in_place() as warehouse:
        yield warehouse


@pytest.fixture(scope="module")
def running_standby(primary: Warehouse) -> Iterator[Warehouse]:
    with restarting.standby_of(primary) as standby:
        connections.settings[reading.REPLICA] = connections.settings[reading.PRIMARY] | standby.settings
        try:
            yield standby
        finally:
            connections[reading.REPLICA].close()
            del connections[reading.REPLICA], connections.settings[reading.REPLICA]


@pytest.fixture
def standby(running_standby: Warehouse, primary: Warehouse) -> Iterator[Warehouse]:
    """The tests' standby, which replays all again at the end of each."""
    with primary.emptied():
        yield running_standby
        running_standby.start()
        tell(running_standby, "SELECT pg_wal_replay_resume()")
        connections[reading.REPLICA].close()


@pytest.fixture(autouse=True)
def _plain(settings: Any, tmp_path: Path) -> None:
    plain = {"BACKEND": "django.contrib.staticfiles.storage.StaticFilesStorage"}
    settings.STORAGES = settings.STORAGES | {"staticfiles": plain}
    settings.PASSWORD_HASHERS = ["django.contrib.auth.hashers.MD5PasswordHasher"]
    settings.TEITEN_BUNDLE_DIR = tmp_path
    settings.TEITEN_OPEN_READING = True


@pytest.fixture
def run(standby: Warehouse) -> models.Run:
    run = factories.run()
    caught_up(standby)
    return run


@pytest.fixture
def member(standby: Warehouse) -> Client:
    client = Client(raise_request_exception=False)
    client.force_login(factories.member("ada", staff=True))
    caught_up(standby)
    return client


def tell(server: Warehouse, statement: str) -> Any:
    words = server.settings
    address = {"host": words["HOST"], "port": words["PORT"], "user": words["USER"], "dbname": words["NAME"]}
    with psycopg.connect(**address, autocommit=True) as admin:
        return admin.execute(statement).fetchone()


def caught_up(standby: Warehouse) -> None:
    """Wait until it has replayed what is committed."""
    lsn = replica.written_lsn()
    deadline_s = time.monotonic() + PATIENCE_S
    while not tell(standby, f"SELECT pg_last_wal_replay_lsn() >= '{lsn}'")[0]:
        assert time.monotonic() < deadline_s
        time.sleep(0.05)
    replica.forget()


def reader_of_primary() -> Client:
    """A visitor who wrote something that no standby has."""
    client = Client()
    client.cookies[COOKIE] = "FFFFFFFF/FFFFFFFF"
    return client


def queries(request: Callable[[], Any]) -> tuple[Any, str, str]:
    """The answer, and the statements that the warehouse and the standby were asked."""
    with (
        CaptureQueriesContext(connection) as of_primary,
        CaptureQueriesContext(connections[reading.REPLICA]) as of_replica,
    ):
        answer = request()
    return answer, *(" ".join(one["sql"] for one in captured) for captured in (of_primary, of_replica))


def test_a_visitor_s_pages_and_answers_are_read_from_the_standby_alone(run: models.Run) -> None:
    client = Client(raise_request_exception=False)
    paths = [*PAGES, f"/runs/{run.pk}/", f"/compare/?run={run.pk}", *(f"/api/v1/{path}" for path in ENDPOINTS)]
    for path in paths:
        answer, of_primary, of_replica = queries(lambda path=path: client.get(path))
        assert answer.status_code == 200, path
        assert "results_" not in of_primary.replace("results_member", ""), path
        assert of_replica, path
    assert str(run.name) in page_text(client.get("/runs/"))


def test_a_person_s_session_and_account_are_read_from_the_warehouse_and_the_rest_is_not(
    run: models.Run, member: Client
) -> None:
    answer, of_primary, of_replica = queries(lambda: member.get(f"/runs/{run.pk}/"))
    assert answer.status_code == 200
    assert "django_session" in of_primary and "auth_user" in of_primary and "results_run" not in of_primary
    assert "results_run" in of_replica and "django_session" not in of_replica and 'FROM "auth_user"' not in of_replica


def test_what_one_has_written_oneself_is_never_missing(run: models.Run, member: Client, standby: Warehouse) -> None:
    tell(standby, "SELECT pg_wal_replay_pause()")
    path = f"/runs/{run.pk}/"
    assert member.post(f"{path}cancel/").status_code in (200, 302)
    assert COOKIE in member.cookies
    visitor = Client()
    _, _, of_replica = queries(lambda: visitor.get(path))
    assert "results_run" in of_replica, "who wrote nothing reads on"
    answer, of_primary, _ = queries(lambda: member.get(path))
    assert "results_run" in of_primary
    assert "cancelled" in page_text(answer)
    assert visitor.get(f"/api/v1/runs/{run.pk}/").json()["run"]["state"] != "cancelled"
    tell(standby, "SELECT pg_wal_replay_resume()")
    caught_up(standby)
    answer, of_primary, of_replica = queries(lambda: member.get(path))
    assert "results_run" in of_replica and "results_run" not in of_primary
    assert "cancelled" in page_text(answer)


def test_a_cookie_that_is_no_lsn_leads_to_the_warehouse(run: models.Run) -> None:
    for value in ("x", "FFFFFFFF/FFFFFFFF", "1/2; DROP"):
        client = Client()
        client.cookies[COOKIE] = value
        answer, of_primary, _ = queries(lambda client=client: client.get("/runs/"))
        assert (answer.status_code, "results_run" in of_primary) == (200, True)


@pytest.mark.parametrize(("scope", "server"), [("read", 1), ("run", 0), ("admin", 0)])
def test_only_a_token_that_cannot_write_reads_the_standby(
    scope: str, server: int, standby: Warehouse, run: models.Run
) -> None:
    secret = factories.tokens(factories.member("grace", staff=True))[scope]
    caught_up(standby)
    headers = {"Authorization": f"Bearer {secret}"}
    answer, *asked = queries(lambda: Client().get(f"/api/v1/runs/{run.pk}/", headers=headers))
    assert answer.status_code == 200
    assert "results_apitoken" in asked[0] and "results_apitoken" not in asked[1]
    assert "results_run" in asked[server] and "results_run" not in asked[1 - server]


@pytest.mark.parametrize("path", ["/runs/", "/api/v1/runs/"])
def test_a_standby_that_goes_away_is_not_noticed(path: str, run: models.Run, standby: Warehouse) -> None:
    client = Client(raise_request_exception=False)
    assert client.get(path).status_code == 200  # its connection is open, and it is known to be well
    standby.stop()
    answer, of_primary, _ = queries(lambda: client.get(path))
    assert answer.status_code == 200 and str(run.name) in page_text(answer)
    assert "results_run" in of_primary
    assert client.get(path).status_code == 200
    standby.start()
    caught_up(standby)
    deadline_s = time.monotonic() + PATIENCE_S
    while not replica.is_usable():  # it connects to the warehouse again first
        assert time.monotonic() < deadline_s
        replica.forget()
        time.sleep(0.05)
    answer, of_primary, of_replica = queries(lambda: client.get(path))
    assert "results_run" in of_replica and "results_run" not in of_primary


def test_a_standby_far_behind_is_not_read(run: models.Run, standby: Warehouse, monkeypatch: pytest.MonkeyPatch) -> None:
    tell(standby, "SELECT pg_wal_replay_pause()")
    models.Run.objects.filter(pk=run.pk).update(name="renamed")
    lsn = replica.written_lsn()
    deadline_s = time.monotonic() + PATIENCE_S
    while not tell(standby, f"SELECT pg_last_wal_receive_lsn() >= '{lsn}'")[0]:
        assert time.monotonic() < deadline_s
        time.sleep(0.05)
    monkeypatch.setattr(replica, "MOST_LAG_S", 0.0)
    replica.forget()
    assert "renamed" in page_text(Client().get("/runs/"))
    [(ok, text)] = [finding for finding in doctor._warehouse() if "standby" in finding[1]]
    assert not ok and "behind" in text


def test_a_304_of_the_standby_is_of_what_it_would_show(run: models.Run, member: Client, standby: Warehouse) -> None:
    path = f"/compare/?run={run.pk}"
    first = Client().get(path)
    assert reader_of_primary().get(path)["ETag"] == first["ETag"], "both servers are in one state"
    tell(standby, "SELECT pg_wal_replay_pause()")
    member.post(f"/runs/{run.pk}/cancel/")
    headers = {"If-None-Match": first["ETag"]}
    assert Client().get(path, headers=headers).status_code == 304
    mine = reader_of_primary().get(path, headers=headers)
    assert (mine.status_code, mine["ETag"] != first["ETag"]) == (200, True)
    tell(standby, "SELECT pg_wal_replay_resume()")
    caught_up(standby)
    now = Client().get(path, headers=headers)
    assert (now.status_code, now["ETag"]) == (200, mine["ETag"])


def test_after_a_write_and_in_a_transaction_the_warehouse_is_read(run: models.Run) -> None:
    with reading.decided():
        reading.from_replica()
        assert models.Run.objects.get(pk=run.pk)._state.db == reading.REPLICA
        with transaction.atomic():
            assert models.Run.objects.get(pk=run.pk)._state.db == reading.PRIMARY
        models.Run.objects.filter(pk=run.pk).update(name="renamed")
        assert models.Run.objects.get(pk=run.pk).name == "renamed"
    assert reading.alias() == reading.PRIMARY


def test_doctor_tells_a_standby_of_this_warehouse_from_any_other_server(
    run: models.Run, standby: Warehouse, primary: Warehouse
) -> None:
    known = connections.settings[reading.REPLICA]
    assert (True, "the standby is 0.0 s behind") in list(doctor._warehouse())
    known["PORT"], port = str(primary.port), known["PORT"]
    connections[reading.REPLICA].close()
    del connections[reading.REPLICA]
    try:
        assert any("no standby of this warehouse" in text for _ok, text in doctor._warehouse())
    finally:
        connections[reading.REPLICA].close()
        del connections[reading.REPLICA]
        known["PORT"] = port
