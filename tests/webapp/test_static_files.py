"""What pages are styled by and drawn with, against the real folder of static files."""

from __future__ import annotations

import gzip
import re
from pathlib import Path
from typing import Any

import pytest
from django.conf import settings as configured
from django.contrib.staticfiles import storage
from django.core.management import call_command
from django.test import Client

FOLDER = Path(configured.BASE_DIR) / "static"
SHEETS = ["tokens", "base", "components", "pages"]  # a later one may override an earlier one


@pytest.mark.django_db
def test_a_page_asks_for_every_style_sheet_in_order(settings: Any) -> None:
    settings.TEITEN_OPEN_READING = True
    settings.STORAGES = settings.STORAGES | {
        "staticfiles": {"BACKEND": "django.contrib.staticfiles.storage.StaticFilesStorage"}
    }
    page = Client().get("/").content.decode()
    assert re.findall(r'<link rel="stylesheet" href="/static/css/(\w+).css">', page) == SHEETS
    assert {path.stem for path in (FOLDER / "css").glob("*")} == set(SHEETS)


@pytest.mark.slow
@pytest.mark.django_db
def test_a_server_sends_static_files_packed_and_under_a_name_of_their_content(
    settings: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    settings.STATIC_ROOT = tmp_path
    settings.TEITEN_OPEN_READING = True
    settings.STORAGES = settings.STORAGES | {
        "staticfiles": {"BACKEND": "whitenoise.storage.CompressedManifestStaticFilesStorage"}
    }
    collected = storage.ConfiguredStorage()
    for module in (storage, __import__("django.templatetags.static").templatetags.static):
        monkeypatch.setattr(module, "staticfiles_storage", collected, raising=False)
    call_command("collectstatic", interactive=False, verbosity=0)
    page = Client().get("/").content.decode()
    [address] = re.findall(r'href="(/static/css/pages\.\w+\.css)"', page)
    served = Client().get(address, headers={"Accept-Encoding": "gzip"})
    assert served["Content-Encoding"] == "gzip"
    text = gzip.decompress(b"".join(served.streaming_content)).decode()  # type: ignore[attr-defined]
    assert text == (FOLDER / "css/pages.css").read_text(encoding="utf-8")
    assert not (tmp_path / "css/pages.css").exists()  # nothing links to it
    large = [path for path in tmp_path.rglob("*.*.*") if path.suffix in (".js", ".css") and path.stat().st_size > 2000]
    assert len(large) > 5
    assert [path.name for path in large if not path.with_name(f"{path.name}.gz").exists()] == []


def test_style_sheets_and_scripts_have_no_long_lines() -> None:
    long = [
        f"{path.name}:{number}"
        for folder in ("css", "js")
        for path in sorted((FOLDER / folder).glob("*"))
        for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), 1)
        if len(line) > 120
    ]
    assert long == []


def test_scripts_use_what_plotly_documents() -> None:
    """Names that begin with an underscore, `calcdata` and `__data__` may change with any release of Plotly."""
    private = re.compile(r"\._\w|\bcalcdata\b|__data__|\.d2p\b|\.c2p\b")
    private_uses = [
        f"{path.name}:{number}: {line.strip()}"
        for path in sorted((FOLDER / "js").glob("*.js"))
        for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), 1)
        if private.search(line)
    ]
    assert private_uses == []
