"""Translations, from the files that people write to the one that Django reads."""

from __future__ import annotations

import gettext
import re
from pathlib import Path
from typing import Any

import pytest
from django.core.management import CommandError, call_command

from webapp import catalogues
from webapp.management import parts

HEAD = 'msgid ""\nmsgstr ""\n"Content-Type: text/plain; charset=UTF-8\\n"\n"Plural-Forms: nplurals=1; plural=0;\\n"\n\n'


def write(folder: Path, text: str) -> Path:
    path = folder / "locale/ja/LC_MESSAGES/django.po"
    path.parent.mkdir(parents=True)
    path.write_text(HEAD + text, encoding="utf-8")
    return path


@pytest.fixture
def checkout(settings: Any, tmp_path: Path) -> Path:
    """A checkout with one message, and a kind outside of it with two, one of which Teiten has too."""
    settings.BASE_DIR, settings.TEITEN_CATALOGUES = tmp_path / "teiten", tmp_path / "state/locale"
    settings.TEITEN_KINDS, settings.TEITEN_PLAN_DIR = (tmp_path / "kinds",), tmp_path / "plans"
    write(tmp_path / "teiten", 'msgid "clients"\nmsgstr "クライアント数"\n')
    kind = 'msgid "clients"\nmsgstr "客"\n\nmsgid "{n} loop"\nmsgid_plural "{n} loops"\nmsgstr[0] "{n}周"\n'
    write(tmp_path / "kinds/workloads/loops", kind)
    return tmp_path


def test_those_of_teiten_and_of_every_kind_become_one_file(checkout: Path) -> None:
    call_command("compilemessages", verbosity=0)
    japanese = gettext.translation("django", checkout / "state/locale", ["ja"])
    assert japanese.gettext("clients") == "クライアント数"
    assert japanese.ngettext("{n} loop", "{n} loops", 5) == "{n}周"
    assert [path.name for path in (checkout / "state/locale/ja/LC_MESSAGES").iterdir()] == ["django.mo"]


def test_a_compiled_file_has_no_date_of_its_own(checkout: Path) -> None:
    """Doctor compares it with what would be written later."""
    call_command("compilemessages", verbosity=0)
    (compiled,) = (checkout / "state/locale/ja/LC_MESSAGES").iterdir()
    assert re.findall(rb"POT-Creation-Date: (.*)", compiled.read_bytes()) == [b"1970-01-01 00:00+0000"]


def test_doctor_says_whether_they_are_of_this_version(checkout: Path) -> None:
    ((well, text),) = parts.translations()
    assert not well and "manage.py compilemessages" in text
    call_command("compilemessages", verbosity=0)
    assert list(parts.translations()) == [(True, "compiled")]
    path = checkout / "teiten/locale/ja/LC_MESSAGES/django.po"
    path.write_text(path.read_text().replace("クライアント数", "クライアント"), encoding="utf-8")
    assert [well for well, _ in parts.translations()] == [False]


def test_a_file_is_brought_up_to_date_with_texts_that_xgettext_does_not_find(checkout: Path) -> None:
    path = catalogues.of_api("ja", checkout / "teiten")
    catalogues.update(path, "ja", "API", {"All runs": "/runs/ get", "All trials": "/trials/ get"})
    path.write_text(path.read_text().replace('"All runs"\nmsgstr ""', '"All runs"\nmsgstr "すべての実行"'), "utf-8")
    catalogues.update(path, "ja", "API", {"All agents, 95 % at work": "/agents/ get", "All runs": "/runs/ get"})
    assert path.read_text().partition("\n\n")[2] == (
        '#. /agents/ get\nmsgctxt "API"\nmsgid "All agents, 95 % at work"\nmsgstr ""\n\n'
        '#. /runs/ get\nmsgctxt "API"\nmsgid "All runs"\nmsgstr "すべての実行"\n\n'
    )
    call_command("compilemessages", verbosity=0)
    japanese = gettext.translation("django", checkout / "state/locale", ["ja"])
    assert (japanese.pgettext("API", "All runs"), japanese.gettext("All runs")) == ("すべての実行", "All runs")


def test_what_a_person_has_not_looked_at_is_not_shown(checkout: Path) -> None:
    write(checkout / "kinds/workloads/guess", '#, fuzzy\nmsgid "scale"\nmsgstr "鱗"\n')
    call_command("compilemessages", verbosity=0)
    assert gettext.translation("django", checkout / "state/locale", ["ja"]).gettext("scale") == "scale"


def test_a_file_that_is_damaged_is_named_with_its_line_and_the_compiled_one_stays(checkout: Path) -> None:
    call_command("compilemessages", verbosity=0)
    path = write(checkout / "kinds/workloads/broken", 'mgsid "scale"\nmsgstr "鱗"\n')
    with pytest.raises(CommandError, match=r"broken/locale/ja/LC_MESSAGES/django\.po.*cannot be read.* on 5"):
        call_command("compilemessages", verbosity=0)
    path.unlink()
    assert catalogues.stale() == []
