"""Commands speak the language of the terminal where they are typed."""

from __future__ import annotations

import os
import subprocess
import sys
from io import StringIO
from pathlib import Path
from typing import Any

import pytest
from django.core.management import CommandError, call_command, get_commands, load_command_class
from django.utils.translation import get_language, override
from rich.cells import cell_len

from results.domain.errors import TeitenError
from results.domain.messages import gettext_lazy as _
from results.queries.shared.ids import NotFound
from webapp.management.command import TerminalCommand, in_words
from webapp.management.language import of_terminal, wrapped

CHECKOUT = Path(__file__).parents[2]
OF_DJANGO = {"makemessages", "compilemessages"}  # which work before there is a translation
HEAD = 'msgid ""\nmsgstr "Content-Type: text/plain; charset=UTF-8\\n"\n\n'
WORDS = {"look at this part only (repeatable)": "この部分だけを点検", "{n} to mend.": "{n}件を直してください。"}


@pytest.mark.parametrize(
    ("environ", "language"),
    [
        ({"LANG": "ja_JP.UTF-8"}, "ja"),
        ({"LANG": "ja"}, "ja"),
        ({"LANG": "ja_JP@cjknarrow"}, "ja"),
        ({"LANG": "en_GB.UTF-8"}, "en"),
        ({"LANG": "ja_JP.UTF-8", "LC_MESSAGES": "en_US.UTF-8"}, "en"),
        ({"LANG": "en_US.UTF-8", "LC_MESSAGES": "ja_JP.UTF-8"}, "ja"),
        ({"LANG": "ja_JP.UTF-8", "LC_MESSAGES": "ja_JP.UTF-8", "LC_ALL": "C"}, "en"),
        ({"LC_ALL": "", "LANG": "ja_JP.UTF-8"}, "ja"),
        ({"LC_CTYPE": "ja_JP.UTF-8", "LANG": "en_US.UTF-8"}, "en"),
    ],
)
def test_the_first_variable_that_is_set_says_which(environ: dict[str, str], language: str) -> None:
    assert of_terminal(environ, "utf-8") == language


@pytest.mark.parametrize("environ", [{}, {"LANG": "de_DE.UTF-8"}, {"LC_ALL": "", "LANG": ""}])
def test_a_terminal_that_names_no_language_of_teiten_has_that_of_the_setting(
    environ: dict[str, str], settings: Any
) -> None:
    assert of_terminal(environ, "utf-8") == "en"
    settings.LANGUAGE_CODE = "ja"
    assert of_terminal(environ, "utf-8") == "ja"


@pytest.mark.parametrize("name", ["C", "C.UTF-8", "POSIX"])
def test_the_locale_of_programs_is_english_whatever_the_setting_says(name: str, settings: Any) -> None:
    settings.LANGUAGE_CODE = "ja"
    assert of_terminal({"LANG": name}, "utf-8") == "en"


@pytest.mark.parametrize(
    ("encoding", "language"),
    [("utf-8", "ja"), ("euc_jp", "ja"), (None, "ja"), ("ascii", "en"), ("iso8859-1", "en"), ("no such", "en")],
)
def test_a_terminal_that_cannot_show_japanese_has_english(encoding: str | None, language: str, settings: Any) -> None:
    assert of_terminal({"LANG": "ja_JP"}, encoding) == language
    settings.LANGUAGE_CODE = "ja"
    assert of_terminal({}, encoding) == language


def test_every_command_of_teiten_follows_the_terminal() -> None:
    ours = {name for name, app in get_commands().items() if app == "webapp"} - OF_DJANGO
    assert "doctor" in ours
    assert [name for name in ours if not isinstance(load_command_class("webapp", name), TerminalCommand)] == []


@pytest.fixture
def japanese(tmp_path: Path, settings: Any) -> Path:
    """A state folder with the translations of a few texts."""
    source = tmp_path / "teiten/locale/ja/LC_MESSAGES/django.po"
    source.parent.mkdir(parents=True)
    entries = (f'msgid "{english}"\nmsgstr "{words}"\n' for english, words in WORDS.items())
    source.write_text(HEAD + "\n".join(entries), encoding="utf-8")
    settings.BASE_DIR, settings.TEITEN_CATALOGUES = tmp_path / "teiten", tmp_path / "state/locale"
    call_command("compilemessages", verbosity=0)
    return tmp_path / "state"


def in_terminal(state: Path, *words: str, **locale: str) -> subprocess.CompletedProcess[str]:
    """Type a command in a terminal of this locale. Nothing that is named here has to be reached."""
    environment = {
        "PATH": os.defpath,
        "TEITEN_DEBUG": "1",
        "TEITEN_STATE": str(state),
        "PYTHONUTF8": "1",
        "COLUMNS": "100",
        **locale,
    }
    command = [sys.executable, "manage.py", *words]
    return subprocess.run(command, cwd=CHECKOUT, env=environment, capture_output=True, text=True, timeout=120)


def test_help_is_in_the_language_of_the_terminal(japanese: Path) -> None:
    for words in (("doctor", "--help"), ("help", "doctor")):
        shown = in_terminal(japanese, *words, LANG="ja_JP.UTF-8")
        assert shown.returncode == 0 and "この部分だけを点検" in shown.stdout, shown
    shown = in_terminal(japanese, "doctor", "--help", LANG="ja_JP.UTF-8", LC_ALL="C")
    assert "look at this part only (repeatable)" in " ".join(shown.stdout.split())


def test_what_a_command_says_is_in_the_language_of_the_terminal(japanese: Path) -> None:
    words = ("doctor", "--skip-checks", "--part", "translations")  # the checkout has others than the state folder
    shown = in_terminal(japanese, *words, LANG="ja_JP.UTF-8")
    assert shown.stderr == "CommandError: 1件を直してください。\n"
    shown = in_terminal(japanese, *words, LANG="ja_JP.UTF-8", PYTHONIOENCODING="ascii")
    assert shown.stderr == "CommandError: 1 to mend.\n"


def test_a_command_that_code_calls_has_the_language_of_the_code(japanese: Path, monkeypatch: Any) -> None:
    monkeypatch.setenv("LANG", "ja_JP.UTF-8")
    monkeypatch.delenv("LC_ALL", raising=False)
    output = StringIO()
    call_command("doctor", "--part", "proxies", stdout=output)
    assert "TLS not required" in output.getvalue()


def test_the_language_is_what_it_was_when_the_command_has_ended(monkeypatch: Any) -> None:
    monkeypatch.setenv("LC_ALL", "ja_JP.UTF-8")
    spoken: list[str | None] = []

    class Command(TerminalCommand):
        requires_system_checks = ()

        def handle(self, *args: Any, **options: Any) -> None:
            spoken.append(get_language())
            raise CommandError("the end")

    with override("en"), pytest.raises(SystemExit):
        Command(stderr=StringIO()).run_from_argv(["manage.py", "speak"])
    with override("en"):
        assert (spoken, get_language()) == (["ja"], "en")


def test_errors_are_said_in_words_without_secrets() -> None:
    error = TeitenError(_("It broke."), where="db1", why="postgresql://me:secret@db1/x", todo=_("Mend it."))
    assert in_words(error) == "db1: It broke. postgresql://me:(hidden)@db1/x Mend it."
    assert in_words(NotFound(_("There is no {kind} {number}.", kind="run", number=3))) == "There is no run 3."
    assert in_words(OSError(2, "No such file")) == "[Errno 2] No such file"


def test_lines_of_japanese_help_fit_and_do_not_begin_with_a_mark() -> None:
    text = "結果データベースと生データを、チェックサムとともに書きます。manage.py restoreで戻せます（空のとき）。"
    lines = wrapped(text, 20)
    assert "".join(lines).replace(" ", "") == text.replace(" ", "")
    assert max(map(cell_len, lines)) <= 20
    assert [line for line in lines if line[0] in "、。）ーッャュョ" or line[-1] in "（「"] == []
    assert "manage.py restore" in " ".join(lines)
