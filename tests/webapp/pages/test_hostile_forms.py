"""Forms that nobody fills in by hand: each is refused in words, and costs nothing."""

from __future__ import annotations

from typing import Any

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.test import Client

from results import models
from tests import factories

pytestmark = pytest.mark.django_db
DOTTED = "a." * 20_000 + "a = 1"  # 40 KB that tomllib takes 14 s and 1.5 GB for
DEEP = "x = " + "[" * 20_000
LONG = f"x = {'9' * 5000}"
TOMLS = (DOTTED, DEEP, LONG, r'name = "\u0000"', "x = 0x" + "f" * 5000)
FORMS = (
    "/plans/add/",
    "/plans/preview/",
    "/plans/import/",
    "/plans/{plan}/edit/",
    "/plans/{plan}/run/",
    "/plans/{plan}/schedule/",
    "/plans/{plan}/watches/",
    "/runs/change/",
    "/runs/blocks/",
    "/runs/remove/",
    "/reports/new/",
    "/reports/preview/",
    "/c/x/reference/",
    "/agents/add/",
    "/agents/db1/edit/",
    "/agents/db1/accept/",
    "/agents/db1/host/add/",
    "/agents/db1/host/import/",
    "/agents/db1/clusters/",
    "/trends/annotations/",
    "/account/sign-in/",
    "/account/tokens/",
    "/imports/new/",
    "/imports/preview/",
)


@pytest.mark.parametrize("text", TOMLS)
@pytest.mark.parametrize("extra", [{}, {"open": "1"}])
def test_toml_that_would_take_long_is_refused(text: str, extra: dict[str, str], member: Client) -> None:
    for fields in ({"toml": text}, {"file": SimpleUploadedFile("plan.toml", text.encode())}):
        answer = member.post("/plans/import/", fields | extra)
        assert answer.status_code == 422
        assert "The file is not TOML" in answer.content.decode()
    assert not models.Plan.objects.exists()


@pytest.mark.parametrize("text", TOMLS)
def test_host_factors_that_would_take_long_are_refused(text: str, admin: Client) -> None:
    factories.agent()
    answer = admin.post("/agents/db1/host/import/", {"toml": text})
    assert answer.status_code == 422
    assert "This is not TOML" in answer.content.decode()


@pytest.mark.parametrize("text", [f"[{{{DOTTED}}}]", "[" * 20_000, f"[{'9' * 5000}]"])
def test_levels_of_a_factor_that_would_take_long_stay_text(text: str, member: Client) -> None:
    fields = {"factor-0-target": "clients", "factor-0-levels": text, "name": "x"}
    assert member.post("/plans/preview/", fields).status_code == 200


@pytest.mark.parametrize("path", FORMS)
@pytest.mark.parametrize("fragment", [False, True])
def test_no_form_takes_a_nul_byte_in_any_field(path: str, fragment: bool, admin: Client) -> None:
    factories.agent()
    stored = factories.stored_plan()
    url = path.format(plan=stored.pk)
    headers: Any = {"HX-Request": "true"} if fragment else {}
    for fields in ({"name": "a\0"}, {"a\0": "b"}):
        answer = admin.post(url, fields, headers=headers)
        assert answer.status_code == 400
        assert "A field has a NUL byte, or half a character." in answer.content.decode()


def test_no_encoding_of_a_form_brings_a_nul_byte_in(admin: Client) -> None:
    body = b'--x\r\nContent-Disposition: form-data; name="toml"\r\n\r\n+AAA- +2AA-\r\n--x--\r\n'
    content_type = "multipart/form-data; boundary=x; charset=utf-7"
    answer = admin.generic("POST", "/plans/import/", body, content_type=content_type)
    assert answer.status_code == 400


def test_a_block_of_a_report_that_would_take_long_is_refused(admin: Client) -> None:
    text = f"# A\n\n```teiten comparison\n{DOTTED}\n```\n"
    answer = admin.post("/reports/preview/", {"title": "A", "language": "en", "authors": "Ada", "source": text})
    assert answer.status_code in (200, 400, 422)
    assert "Line 3: line 3: The block is no TOML" in answer.content.decode()
