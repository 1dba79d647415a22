"""What a request's headers say of its body decides before anything reads it."""

from __future__ import annotations

from io import BytesIO
from typing import Any

import pytest
from django.test import Client
from rest_framework.test import APIClient

from results.domain.imports.text import LARGEST_IMPORT_BYTES
from results.domain.research_object.limits import MOST_BYTES as MOST_ARCHIVE_BYTES
from tests import factories
from webapp.bodies import MOST_BYTES

pytestmark = pytest.mark.django_db
FORM = "multipart/form-data; boundary=x"
READ_IT = ("/", "/plans/import/", "/account/sign-in/", "/nowhere/", "/static/mark.svg")
UPLOADS = ("/imports/new/", "/imports/preview/")
API_UPLOADS = ("/api/v1/imports/", "/api/v1/imports/preview/", "/api/v1/runs/import/")


class Unread(BytesIO):
    """A body that must not be read."""

    def read(self, *_: Any) -> bytes:
        raise AssertionError("the body was read")

    readline = read


@pytest.fixture(autouse=True)
def _plain_static(settings: Any) -> None:
    plain = {"BACKEND": "django.contrib.staticfiles.storage.StaticFilesStorage"}
    settings.STORAGES = {**settings.STORAGES, "staticfiles": plain}
    settings.TEITEN_OPEN_READING = True


@pytest.fixture
def member(client: Client) -> Client:
    client.force_login(factories.member())
    return client


def sent(client: Client, path: str, size_bytes: int, method: str = "POST", **headers: Any) -> Any:
    """The answer to a request that says how long its body is, and has none that may be read."""
    body = {"wsgi.input": Unread(), "CONTENT_LENGTH": str(size_bytes), "CONTENT_TYPE": FORM}
    return client.generic(method, path, **body, **headers)


@pytest.mark.parametrize("path", READ_IT)
@pytest.mark.parametrize("method", ["GET", "POST"])
def test_a_long_body_is_refused_unread_at_every_page(path: str, method: str, client: Client) -> None:
    answer = sent(client, path, 512 * 1024**2, method)
    assert answer.status_code == 413
    page = answer.content.decode()
    assert "The body of the request has 512 MB." in page
    assert "At most 2 MB are read here." in page


@pytest.mark.parametrize("path", ["runs/", "plans/", "plans/preview/", "tokens/", "nowhere/"])
def test_the_api_refuses_a_long_body_in_its_own_shape(path: str, client: Client) -> None:
    answer = sent(client, f"/api/v1/{path}", MOST_BYTES + 1)
    error = answer.json()["error"]
    assert (answer.status_code, error["kind"], error["where"]) == (413, "body", "Content-Length")
    assert set(error) == {"kind", "what", "where", "why", "todo", "retryable"}


def test_a_fragment_of_a_page_is_refused_as_a_fragment(member: Client) -> None:
    answer = sent(member, "/plans/preview/", MOST_BYTES + 1, headers={"HX-Request": "true"})
    assert answer.status_code == 413
    assert answer.content.lstrip().startswith(b'<div class="problem"')


@pytest.mark.parametrize("path", ["/plans/import/", "/api/v1/plans/", "/imports/new/", "/static/mark.svg"])
def test_a_body_of_unknown_length_is_refused(path: str, member: Client) -> None:
    answer = member.generic("POST", path, **{"wsgi.input": Unread(), "HTTP_TRANSFER_ENCODING": "chunked"})
    assert answer.status_code == 413
    assert "does not say how long its body is" in answer.content.decode()


@pytest.mark.parametrize("path", [*UPLOADS, *API_UPLOADS])
def test_uploads_have_a_limit_of_their_own(path: str, member: Client) -> None:
    most_bytes = MOST_ARCHIVE_BYTES if path.endswith("runs/import/") else LARGEST_IMPORT_BYTES + MOST_BYTES
    assert sent(member, path, most_bytes + 1).status_code == 413


@pytest.mark.parametrize("path", UPLOADS)
@pytest.mark.parametrize("size_bytes", [10, LARGEST_IMPORT_BYTES])
def test_an_upload_of_a_stranger_leads_to_the_sign_in_page_unread(path: str, size_bytes: int) -> None:
    client = Client(enforce_csrf_checks=True)
    client.cookies["csrftoken"] = "a" * 32  # with which Django looks for the other half in the form
    answer = sent(client, path, size_bytes)
    assert (answer.status_code, answer["Location"]) == (302, f"/account/sign-in/?next={path}")


@pytest.mark.parametrize("path", API_UPLOADS)
def test_an_upload_to_the_api_needs_a_token_before_it_is_read(path: str) -> None:
    assert sent(APIClient(), path, LARGEST_IMPORT_BYTES).status_code == 401
    secret = factories.tokens(factories.member("ada", staff=True))["read"]
    for scheme in ("Bearer", "bearer", "BEARER"):
        answer = sent(APIClient(), path, LARGEST_IMPORT_BYTES, HTTP_AUTHORIZATION=f"{scheme} {secret}")
        assert (answer.status_code, answer.json()["error"]["kind"]) == (403, "access")


@pytest.mark.parametrize("authorization", [None, "", "Basic x", "Digest a", "bearerx y", "x bearer"])
@pytest.mark.parametrize("path", ["/api/v1/runs/import/", "/api/v1/trials/1/bundle/"])
def test_a_signed_in_member_uploads_no_run_and_its_form_is_not_read(authorization: str | None, path: str) -> None:
    client = APIClient(enforce_csrf_checks=True)
    client.force_login(factories.member())
    client.cookies["csrftoken"] = "a" * 32
    headers = {} if authorization is None else {"HTTP_AUTHORIZATION": authorization}
    answer = sent(client, path, LARGEST_IMPORT_BYTES, **headers)
    assert (answer.status_code, answer.json()["error"]["kind"]) == (403, "access")


def test_bodies_within_the_limit_are_read(member: Client) -> None:
    answer = member.post("/plans/import/", {"toml": "# " + "x" * (MOST_BYTES // 2 - 1000)})
    assert answer.status_code == 422
    assert "No PostgreSQL is named" in answer.content.decode()
