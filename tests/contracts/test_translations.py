"""Every text of code and templates has its translation, with the same places and markup in it."""

from __future__ import annotations

import os
import re
import shutil
import string
import subprocess
import sys
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import pytest
from babel.messages.catalog import Catalog, Message
from django.conf import settings

from results.domain.messages import LANGUAGES, ORIGINAL
from results.published.catalogue import TABLES, translations
from results.published.tables import FOLDER
from webapp import catalogues

ROOT = Path(__file__).parents[2]
SOURCES = ("manage.py", "Makefile", "results", "workers", "webapp", "templates", "locale")
FILES = catalogues.sources("ja", ROOT, [ROOT / "workers"])
IDS = [str(path.relative_to(ROOT)) for path in FILES]
JAPANESE = "ぁ-ヿ一-鿿々"


def messages() -> Iterator[tuple[str, Message]]:
    """Yield each message with its file, but for the head of a file, which is none."""
    for name, path in zip(IDS, FILES, strict=True):
        yield from ((name, message) for message in catalogues.read(path) if message.id)


def forms(message: Message) -> list[tuple[str, str]]:
    """Return (English, Japanese) of a message; of a plural, Japanese has the form for many."""
    english = message.id[1] if isinstance(message.id, tuple) else message.id
    japanese = message.string[0] if isinstance(message.string, tuple) else message.string
    return [(str(english), str(japanese))]


def test_every_text_has_a_translation_that_a_person_has_looked_at(tmp_path: Path) -> None:
    """`make messages` finds nothing to change, and leaves nothing empty."""
    for name in SOURCES:
        if (ROOT / name).is_dir():
            shutil.copytree(ROOT / name, tmp_path / name, ignore=shutil.ignore_patterns("__pycache__"))
        else:
            shutil.copy(ROOT / name, tmp_path / name)
    (words,) = re.findall(r"manage\.py (makemessages (?:.*\\\n)?.*)", (ROOT / "Makefile").read_text(encoding="utf-8"))
    environment = {**os.environ, "TEITEN_DEBUG": "1", "TEITEN_STATE": str(tmp_path / "state")}
    command = [sys.executable, "manage.py", *words.replace("\\\n", " ").split()]
    subprocess.run(command, cwd=tmp_path, env=environment, check=True, capture_output=True, timeout=300)
    changed = [
        name
        for name, path in zip(IDS, FILES, strict=True)
        if _entries(path) != _entries(tmp_path / path.relative_to(ROOT))
    ]
    assert changed == [], "make messages changes these: give it, and translate what is new"
    assert [(name, message.id) for name, message in messages() if message.fuzzy or not all(forms(message)[0])] == []


def _entries(path: Path) -> list[str]:
    """Return the lines of a file of translations but for the date of its making."""
    return [line for line in path.read_text(encoding="utf-8").splitlines() if "POT-Creation-Date" not in line]


def test_a_translation_has_the_places_of_the_english() -> None:
    assert [
        (name, english, japanese)
        for name, message in messages()
        for english, japanese in forms(message)
        if places(english) != places(japanese)
    ] == []


def places(text: str) -> set[str]:
    """Return where values go: '%(name)s' of templates, '{name}' of code."""
    try:
        fields = {field for _, field, _, _ in string.Formatter().parse(text) if field}
    except ValueError:  # a brace that is no place
        fields = set()
    return fields | set(re.findall(r"%\((\w+)\)s", text))


def test_a_translation_has_the_markup_of_the_english() -> None:
    assert [
        (name, english, japanese)
        for name, message in messages()
        for english, japanese in forms(message)
        if Counter(re.findall(r"</?\w+", english)) != Counter(re.findall(r"</?\w+", japanese))
    ] == []


def test_japanese_is_set_as_the_glossary_says() -> None:
    """No space beside Japanese, no half-width katakana or brackets around Japanese, full-width digits or commas."""
    wrong = re.compile(
        rf"[{JAPANESE}、。] +[{JAPANESE}A-Za-z0-9{{%<]|[A-Za-z0-9}}>] +[{JAPANESE}]|[ｦ-ﾟ０-９Ａ-Ｚａ-ｚ]|[，．]"
    )
    assert [
        (name, japanese) for name, message in messages() for _, japanese in forms(message) if wrong.search(japanese)
    ] == []
    assert [japanese for japanese in translations(FOLDER, "ja").values() if wrong.search(japanese)] == []


@pytest.mark.parametrize("language", [language for language in LANGUAGES if language != ORIGINAL])
def test_what_is_shown_of_a_published_table_has_its_translation(language: str) -> None:
    """All but what a server said, and the columns that a figure was computed of."""
    translated = translations(FOLDER, language)
    shown = {text for table in TABLES for text in (table.place, table.caption, *(note.text for note in table.notes))}
    shown |= {text for t in TABLES for text in (t.report.title, t.report.publisher, t.report.licence)}
    shown |= {d.words for table in TABLES for d in table.derived if not d.line or not d.agrees}
    shown |= {answer.message for table in TABLES for trial in table.trials for answer in trial.answers}
    assert {text for text in shown if text and not text.startswith("ERROR: ")} - translated.keys() == set()
    licences = {table.report.licence for table in TABLES}
    columns = {d.words for table in TABLES for d in table.derived if d.words == "v11_seconds / v12_seconds"}
    assert {text for text, words in translated.items() if text == words} - licences - columns == set()


def test_no_text_of_a_published_table_has_another_translation_elsewhere() -> None:
    others = {message.id: message.string for _, message in messages() if not message.context}
    translated = translations(FOLDER, "ja").items()
    assert [text for text, words in translated if others.get(text, words) != words] == []


@pytest.mark.parametrize(
    ("english", "japanese"),
    [("{count} of {all}", "{all}件"), ("%(name)s runs", "実行"), ("one", "{one}"), ("{n:,} rows", "{m:,}行")],
)
def test_other_places_are_seen(english: str, japanese: str) -> None:
    assert places(english) != places(japanese)


def test_all_languages_are_those_of_the_setting() -> None:
    languages = {path.parents[1].name for path in ROOT.glob("locale/*/LC_MESSAGES/django.po")}
    assert languages | {"en"} == {code for code, _ in settings.LANGUAGES}


def test_each_file_says_how_many_forms_a_plural_has() -> None:
    heads: list[Catalog] = [catalogues.read(path) for path in FILES]
    assert {(head.num_plurals, head.charset) for head in heads} == {(1, "utf-8")}
