"""What `manage.py doctor` finds of the parts beside the warehouse, and how it says to repair each."""

from __future__ import annotations

import re
import shutil
import subprocess
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import timedelta
from io import StringIO
from pathlib import Path
from typing import Any

import pytest
from aiosmtpd.controller import Controller
from aiosmtpd.handlers import Sink
from django.core.management import CommandError, call_command
from django.utils import timezone
from django_celery_beat.models import IntervalSchedule, PeriodicTask

from bootstrap import ports
from bootstrap.system import redis_server
from results import bundle_files
from tests.databases import as_warehouse, empty_database
from webapp.health import queue_client
from webapp.management import parts


@contextmanager
def redis_at(folder: Path, settings: Any, *words: str) -> Iterator[None]:
    port = next(port for port in range(8800, 8900) if ports.is_free(port))
    settings.CELERY_BROKER_URL = f"redis://127.0.0.1:{port}/0"
    command = [redis_server(), "--port", str(port), "--bind", ports.HOST, "--dir", str(folder), *words]
    with subprocess.Popen(command, stdout=subprocess.DEVNULL) as server:
        try:
            while "does not answer, or refuses Teiten" in str(list(parts.queue())):
                assert server.poll() is None
                threading.Event().wait(0.05)
            yield
        finally:
            server.kill()  # one that cannot save does not end by itself


def found(findings: Iterator[tuple[bool, str]]) -> list[tuple[bool, str]]:
    return list(findings)


def test_a_redis_of_the_tests_is_well() -> None:
    ((well, text),) = parts.queue()
    assert well and text.startswith("version ")


def test_a_redis_that_throws_messages_away_is_found(settings: Any, tmp_path: Path) -> None:
    with redis_at(tmp_path, settings, "--save", "", "--maxmemory", "100mb", "--maxmemory-policy", "allkeys-lru"):
        _, (well, text) = parts.queue()
    assert (well, text.rpartition(": ")[2]) == (False, "set maxmemory-policy noeviction, not allkeys-lru")


def test_a_redis_that_cannot_save_is_found(settings: Any, tmp_path: Path) -> None:
    folder = tmp_path / "redis"
    folder.mkdir()
    with redis_at(folder, settings, "--save", "3600 1"):
        shutil.rmtree(folder)
        with queue_client(5) as client:
            client.bgsave()
            while client.info("persistence")["rdb_last_bgsave_status"] == "ok":
                threading.Event().wait(0.05)
            _, (well, text) = parts.queue()
    assert not well
    assert text.startswith("cannot save to its disk, and may refuse messages: make room there")


@pytest.mark.parametrize(
    ("clock_s", "finding"),
    [
        (101.0, (True, "a worker has this machine's time")),
        (104.0, (True, "a worker has this machine's time")),
        (98.5, (True, "a worker has this machine's time")),
        (112.0, (False, "a worker is 10.0 s ahead of this machine (00:01:52 UTC): run chrony on both")),
        (70.0, (False, "a worker is 30.0 s behind this machine (00:01:10 UTC): run chrony on both")),
    ],
)
def test_a_clock_is_compared_with_the_time_while_it_was_read(clock_s: float, finding: tuple[bool, str]) -> None:
    assert parts._clock("a worker", 100.0, clock_s, 102.0) == finding


def test_a_mail_server_is_asked(settings: Any) -> None:
    assert found(parts.mail()) == [(True, "no server is set (TEITEN_EMAIL_URL): alerts by mail are not sent")]
    controller = Controller(Sink(), hostname=ports.HOST, port=next(p for p in range(8700, 8800) if ports.is_free(p)))
    settings.EMAIL_HOST, settings.EMAIL_PORT = ports.HOST, controller.port
    controller.start()
    try:
        assert found(parts.mail()) == [(True, f"127.0.0.1:{controller.port} answers")]
    finally:
        controller.stop()
    ((well, text),) = parts.mail()
    assert not well
    assert "Connection refused" in text and text.endswith("look at the mail server's log.")


def test_what_the_settings_say_of_proxies_and_tls_must_fit(settings: Any) -> None:
    def with_settings(count: int, https: bool, address: str = "") -> tuple[bool, str]:
        settings.REST_FRAMEWORK = settings.REST_FRAMEWORK | {"NUM_PROXIES": count}
        settings.SECURE_SSL_REDIRECT, settings.TEITEN_ADDRESS = https, address
        (finding,) = parts.proxies()
        return finding

    assert with_settings(1, True, "https://teiten.example.org")[0]
    assert with_settings(0, False)[0]
    assert "TEITEN_PROXIES is 0" in with_settings(0, True)[1]
    assert "TEITEN_HTTPS is off" in with_settings(1, False, "https://teiten.example.org")[1]


def test_static_files_that_are_not_collected_are_counted(settings: Any, tmp_path: Path) -> None:
    settings.STATIC_ROOT = tmp_path
    manifest = {"BACKEND": "django.contrib.staticfiles.storage.ManifestStaticFilesStorage"}
    settings.STORAGES = settings.STORAGES | {"staticfiles": manifest}
    ((well, text),) = parts.static_files()
    assert not well
    assert text.endswith("are not collected: manage.py collectstatic")


@pytest.mark.django_db(transaction=True)
def test_a_warehouse_that_does_not_hold_every_text_is_found() -> None:
    for name, well in (("UTF8", True), ("SQL_ASCII", False)):
        with empty_database(name) as database, as_warehouse(database):
            assert parts.encoding()[0] == well


WITHOUT_NOTO = (True, "Japanese in files is IPAexGothic, which has no bold: install fonts-noto-cjk for one that has")


def test_the_programs_for_documents_are_there() -> None:
    *programs, letters = parts.programs()
    assert [(well, text.partition(" ")[0]) for well, text in programs] == [(True, "Pandoc"), (True, "Pango")]
    assert letters in [(True, "Japanese in files is Noto Sans CJK, regular and bold"), WITHOUT_NOTO]


def test_where_the_letters_of_japanese_have_no_bold_it_says_so(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(parts, "noto_fonts", lambda: ())
    assert list(parts.programs())[-1] == WITHOUT_NOTO


@pytest.mark.django_db
def test_a_bundle_folder_with_too_little_room_is_found(settings: Any, tmp_path: Path, monkeypatch: Any) -> None:
    settings.TEITEN_BUNDLE_DIR = tmp_path
    output = StringIO()
    call_command("doctor", "--part", "bundle folder", stdout=output)
    assert re.fullmatch(rf"ok +bundle folder: {tmp_path}: [\d.,]+ .B free\n", output.getvalue())
    monkeypatch.setattr(bundle_files, "LEAST_FREE_BYTES", 10**18)
    with pytest.raises(CommandError, match="1 to mend"):
        call_command("doctor", "--part", "bundle folder", stdout=output)
    assert output.getvalue().endswith("make room, or move TEITEN_BUNDLE_DIR\n")


@pytest.mark.django_db
def test_one_part_alone_is_looked_at_as_the_health_check_of_beat_does() -> None:
    every, _ = IntervalSchedule.objects.get_or_create(every=5, period=IntervalSchedule.SECONDS)
    beat = PeriodicTask.objects.filter(name="dispatch")
    beat.delete()
    PeriodicTask.objects.create(name="dispatch", interval=every, last_run_at=timezone.now())
    output = StringIO()
    call_command("doctor", "--part", "beat", stdout=output)
    assert re.fullmatch(r"ok +beat: last wrote at [\d:]+ UTC\n", output.getvalue())
    beat.update(last_run_at=timezone.now() - timedelta(minutes=3))
    with pytest.raises(CommandError, match="1 to mend"):
        call_command("doctor", "--part", "beat", stdout=output)
