"""What a report says by itself is in the language of the report, whatever its reader reads."""

from __future__ import annotations

import html
import io
import zipfile
from copy import deepcopy

import pytest
from django.test import Client
from django.urls import reverse

from results import models, reports
from results.reports import Text
from tests.webapp.pages.test_reports import run_in_two_versions, text
from webapp.reports.source import block

pytestmark = pytest.mark.django_db


@pytest.fixture(scope="module", autouse=True)
def made(kept: None) -> models.Run:
    return run_in_two_versions()


@pytest.fixture
def run(made: models.Run) -> models.Run:
    return deepcopy(made)


JAPANESE = {"HTTP_ACCEPT_LANGUAGE": "ja"}
WORDS = {  # in a report of each language, by what Teiten words itself
    "en": (
        "drawn with seed",
        "Factors of run",
        '<th scope="col">factor</th>',
        "<caption>Table 1. Transactions per second, every cell",
        "<figcaption>Figure 1. Transactions per second by clients",
        ">smallest</th>",
        "is faster",
    ),
    "ja": (
        "で決めたランダムな順序で実行しました。",
        "の因子",
        '<th scope="col">因子</th>',
        "<caption>表1：",
        "<figcaption>図1：",
        ">最小値</th>",
        "信頼区間",
    ),
}


def lacking(shown: str, language: str) -> list[str]:
    """What a report of the language should say and does not, and what it says of the other one."""
    other = "en" if language == "ja" else "ja"
    return [words for words in WORDS[language] if words not in shown] + [
        words for words in WORDS[other] if words in shown
    ]


@pytest.mark.parametrize(("language", "visitor"), [("ja", {}), ("en", JAPANESE)])
def test_a_preview_is_in_the_language_of_the_report_and_its_frame_in_the_visitors(
    member: Client, run: models.Run, language: str, visitor: dict[str, str]
) -> None:
    source = text(run)["source"] + "\n\n" + block("poem")
    answer = member.post(
        reverse("reports:preview"), {"title": "t", "authors": "a", "language": language, "source": source}, **visitor
    )
    shown = html.unescape(answer.content.decode())
    assert lacking(shown, language) == []
    in_the_text, in_the_frame = "<strong>This block cannot be shown</strong>", "1 block cannot be shown"
    assert (in_the_text in shown, in_the_frame in shown) == ((False, True) if language == "ja" else (True, False))


@pytest.mark.parametrize(("language", "visitor"), [("ja", {}), ("en", JAPANESE)])
def test_an_edition_and_its_files_are_in_the_language_of_the_report(
    member: Client, stranger: Client, run: models.Run, language: str, visitor: dict[str, str]
) -> None:
    report = reports.create(Text(**text(run, language=language)), user=None, actor="tests")
    member.post(reverse("reports:publish", args=[report.pk]), {"version": 1}, **visitor)
    edition = report.editions.get()
    assert [words for words in ("Factors of run", "の因子") if words in edition.content] == [
        "の因子" if language == "ja" else "Factors of run"
    ]
    page = html.unescape(stranger.get(reverse("reports:edition", args=[report.pk, 1]), **visitor).content.decode())
    article = page.partition("<article")[2].partition("</article>")[0]
    assert lacking(article, language) == []
    assert ("It never changes." in page) == (language == "ja")  # the frame
    named = "第1版" if language == "ja" else "Edition 1"
    for form in ("html", "md.zip", "tex.zip", "bib", "site.zip"):
        answer = stranger.get(reverse("reports:export", args=[report.pk, 1, form]), **visitor)
        assert named in words_in(answer.content), form
        if form == "tex.zip":
            figure, table = ("図", "表") if language == "ja" else ("Figure", "Table")
            assert rf"\figurename}}{{{figure}}}\renewcommand{{\tablename}}{{{table}}}" in words_in(answer.content)
    with zipfile.ZipFile(io.BytesIO(answer.content)) as site:
        assert lacking(html.unescape(site.read("index.html").decode()), language) == []


def words_in(content: bytes) -> str:
    """The texts of an exported file, or of all that are packed in it."""
    if not content.startswith(b"PK"):
        return content.decode()
    with zipfile.ZipFile(io.BytesIO(content)) as archive:
        return "".join(
            archive.read(name).decode() for name in archive.namelist() if name.endswith((".md", ".tex", ".html"))
        )


def test_a_report_begins_in_its_own_language(member: Client, run: models.Run) -> None:
    for language, visitor in (("ja", {}), ("en", JAPANESE)):
        sent = {"title": "t", "kind": "observation", "language": language, "runs": str(run.pk)}
        member.post(reverse("reports:new"), sent, **visitor)
        source = models.Draft.objects.latest("pk").source
        words = ("## 考察", "同じマシンで同じ負荷", "信頼区間")
        assert [word in source for word in words] == [language == "ja"] * 3, source
        assert ("## Discussion" in source and "is faster" in source) == (language == "en")
