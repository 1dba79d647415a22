"""What a server's pages are styled by, against the real folder of static files."""

from __future__ import annotations

import gzip
from pathlib import Path
from typing import Any

import pytest
from django.conf import settings as configured
from django.contrib.staticfiles import storage
from django.core.management import call_command
from django.test import Client

from webapp import sheets

FOLDER = Path(configured.BASE_DIR) / "static/css"


def test_every_style_sheet_is_among_them() -> None:
    assert set(sheets.SHEETS) == {path.stem for path in FOLDER.glob("*.css")}


@pytest.mark.django_db
def test_a_server_makes_one_of_all_and_a_page_asks_for_it_alone(
    settings: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    settings.STATIC_ROOT = tmp_path
    settings.TEITEN_OPEN_READING = True
    settings.STORAGES = settings.STORAGES | {"staticfiles": {"BACKEND": "webapp.sheets.JoiningStorage"}}
    made = storage.ConfiguredStorage()
    for place in (storage, sheets, __import__("django.templatetags.static").templatetags.static):
        monkeypatch.setattr(place, "staticfiles_storage", made, raising=False)
    call_command("collectstatic", interactive=False, verbosity=0)
    [address] = sheets.addresses()
    text = (tmp_path / address.removeprefix(settings.STATIC_URL)).read_text(encoding="utf-8")
    places = [text.index((FOLDER / f"{name}.css").read_text(encoding="utf-8").strip()) for name in sheets.SHEETS]
    assert places == sorted(places)
    assert Client().get("/").content.decode().count('rel="stylesheet"') == 1
    served = Client().get(address, headers={"Accept-Encoding": "gzip"})
    assert served["Content-Encoding"] == "gzip"
    assert gzip.decompress(b"".join(served.streaming_content)).decode() == text  # type: ignore[attr-defined]
    large = [path for path in tmp_path.rglob("*.*.*") if path.suffix in (".js", ".css") and path.stat().st_size > 2000]
    assert len(large) > 5
    assert [path.name for path in large if not path.with_name(f"{path.name}.gz").exists()] == []
