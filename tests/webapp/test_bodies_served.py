"""Large bodies at a gunicorn, as it is deployed: they are refused by their headers, and nothing of them is kept."""

from __future__ import annotations

import socket
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest

from bootstrap import ports
from tests import factories
from tests.gunicorn import Served, served

pytestmark = pytest.mark.slow
LARGE_BYTES = 512 * 1024**2
PATIENCE_S = 30


@pytest.fixture
def here(transactional_db: None, tmp_path: Path) -> Iterator[Served]:
    with served(tmp_path) as one:
        yield one


def status_of(here: Served, path: str, *headers: str, body: bytes = b"") -> int:
    """The status that is answered to the headers alone, or to as much of the body as is taken."""
    lines = (f"POST {path} HTTP/1.1", f"Host: {ports.HOST}", "Content-Type: multipart/form-data; boundary=x", *headers)
    with closing(socket.create_connection((ports.HOST, here.port), PATIENCE_S)) as connection:
        connection.sendall("\r\n".join((*lines, "", "")).encode() + body)
        with connection.makefile("rb") as answer:
            return int(answer.readline().split()[1])


def kept_bytes(folder: Path) -> int:
    """Of what a web process has written where it keeps uploads for a while."""
    return sum(file.stat().st_size for file in (folder / "temporary").rglob("*") if file.is_file())


@pytest.mark.smoke
def test_what_is_too_large_is_answered_before_it_is_sent(here: Served, tmp_path: Path) -> None:
    length = f"Content-Length: {LARGE_BYTES}"
    cookie = f"Cookie: csrftoken={'a' * 32}"
    paths = ("/account/sign-in/", "/plans/import/", "/imports/new/", "/api/v1/imports/", "/api/v1/runs/")
    assert [status_of(here, path, length, cookie) for path in paths] == [413] * 5
    assert status_of(here, "/api/v1/runs/import/", length, cookie) == 401  # whose limit is larger
    assert kept_bytes(tmp_path) == 0


def test_an_upload_within_its_limit_is_not_taken_from_a_stranger(here: Served, tmp_path: Path) -> None:
    head = b'--x\r\nContent-Disposition: form-data; name="file"; filename="a.txt"\r\n\r\n'
    length, cookie = f"Content-Length: {128 * 1024**2}", f"Cookie: csrftoken={'a' * 32}"
    assert status_of(here, "/imports/new/", length, cookie, body=head) == 302
    assert status_of(here, "/api/v1/imports/", length, cookie, body=head) == 401
    assert kept_bytes(tmp_path) == 0


def test_a_body_in_chunks_is_refused_and_its_connection_closed(here: Served, tmp_path: Path) -> None:
    secret = factories.tokens(factories.member("ada", staff=True))["admin"]
    chunk = b"100000\r\n" + b"x" * 0x100000 + b"\r\n"
    for path in ("/imports/new/", "/api/v1/runs/import/", "/api/v1/plans/"):
        headers = ("Transfer-Encoding: chunked", f"Authorization: Bearer {secret}")
        assert status_of(here, path, *headers, body=chunk[:1000]) == 413
    assert kept_bytes(tmp_path) == 0
    assert "Traceback" not in here.printed()
