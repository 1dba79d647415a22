"""A report that is begun in one language is written and published in both, with the same numbers."""

from __future__ import annotations

import html
import io
import json
import re
import zipfile
from copy import deepcopy
from typing import Any

import pytest
from django.test import Client
from django.urls import reverse
from django.utils.translation import override

from results import models, reports
from results.reports import Text
from tests.page_text import page_text
from tests.webapp.pages.test_report_languages import JAPANESE
from tests.webapp.pages.test_reports import run_in_two_versions
from webapp.reports.source import block

pytestmark = pytest.mark.django_db


WORDS = {"en": ("Discussion", "is faster", "drawn with seed"), "ja": ("考察", "信頼区間", "で決めたランダムな順序")}


def spoken(shown: str) -> list[str]:
    """The languages in which a text has what Teiten and its author say, all of it."""
    return [language for language, words in WORDS.items() if all(word in shown for word in words)]


@pytest.fixture(scope="module", autouse=True)
def made(kept: None) -> models.Run:
    return run_in_two_versions()


@pytest.fixture
def run(made: models.Run) -> models.Run:
    return deepcopy(made)


@pytest.fixture
def report(member: Client, run: models.Run) -> models.Report:
    """As its author begins it, in English."""
    member.post(
        reverse("reports:new"), {"title": "Is 18 faster?", "kind": "observation", "language": "en", "runs": run.pk}
    )
    return models.Report.objects.get()


def in_the_editor(member: Client, report: models.Report, language: str, version: int = 0) -> str:
    """The text that the editor has in a language."""
    query = {"text": language} | ({"version": str(version)} if version else {})
    page = member.get(reverse("reports:edit", args=[report.pk]), query).content.decode()
    return html.unescape(re.findall(r"<textarea[^>]*id=\"source\"[^>]*>\n(.*?)</textarea>", page, re.DOTALL)[0])


def save(member: Client, report: models.Report, language: str, title: str, source: str, **more: str) -> Any:
    report.refresh_from_db()
    sent = {"version": report.version, "text": language, "title": title, "authors": "Ada", "source": source, **more}
    return member.post(reverse("reports:edit", args=[report.pk]), sent)


def write_both(member: Client, report: models.Report) -> None:
    answer = save(member, report, "ja", "18は速いか", in_the_editor(member, report, "ja"))
    assert answer.status_code == 302, page_text(answer)


def publish(member: Client, report: models.Report, **more: Any) -> Any:
    report.refresh_from_db()
    return member.post(reverse("reports:publish", args=[report.pk]), {"version": report.version}, **more)


def test_a_second_language_begins_with_what_teiten_wrote_translated(member: Client, report: models.Report) -> None:
    english, japanese = in_the_editor(member, report, "en"), in_the_editor(member, report, "ja")
    assert "## Discussion" in english and "is faster" in english
    for words in ("## 考察", "### スループット", "同じマシンで同じ負荷", "信頼区間"):
        assert words in japanese
    for words in ("Discussion", "Throughput", "is faster", "the same load"):
        assert words not in japanese
    assert re.findall(r"```teiten.*?```", japanese, re.DOTALL) == re.findall(r"```teiten.*?```", english, re.DOTALL)
    assert report.drafts.get().languages == ["en"]  # nothing is stored by looking


def test_what_an_author_wrote_is_theirs_to_translate(member: Client, report: models.Report) -> None:
    english = in_the_editor(member, report, "en").replace("## Summary", "## Summary of mine\n\nThroughput is not all.")
    assert save(member, report, "en", "Is 18 faster?", english).status_code == 302
    japanese = in_the_editor(member, report, "ja")
    assert "## Summary of mine\n\nThroughput is not all." in japanese and "## 考察" in japanese


def test_each_language_is_saved_by_itself(member: Client, report: models.Report) -> None:
    write_both(member, report)
    english = in_the_editor(member, report, "en")
    assert save(member, report, "en", "Is 18 faster than 16?", f"{english}\n\nMore.").status_code == 302
    newest = report.drafts.get(version=3)
    assert (newest.title, newest.titles) == ("Is 18 faster than 16?", {"ja": "18は速いか"})
    assert newest.source.endswith("More.") and "## 考察" in newest.sources["ja"]
    assert in_the_editor(member, report, "ja") == newest.sources["ja"]
    page = page_text(member.get(reverse("reports:edit", args=[report.pk]), **JAPANESE))
    assert "18は速いか" in page  # who reads Japanese is given the Japanese text


def test_an_older_version_is_put_back_in_all_its_languages(member: Client, report: models.Report) -> None:
    write_both(member, report)
    assert save(member, report, "ja", "別の題", "## 目的").status_code == 302
    old = in_the_editor(member, report, "en", version=2)
    assert save(member, report, "en", "Is 18 faster?", f"{old}\n\nAgain.", base="2").status_code == 302
    assert report.drafts.get(version=4).titles == {"ja": "18は速いか"}


def test_a_conflict_loses_nothing_that_was_typed(member: Client, report: models.Report) -> None:
    write_both(member, report)
    answer = save(member, report, "ja", "題", "書いたもの", version="1")
    assert answer.status_code == 409
    assert "書いたもの" in answer.content.decode() and "Somebody saved version 2 meanwhile." in page_text(answer)


def test_a_language_is_removed_again(member: Client, report: models.Report) -> None:
    write_both(member, report)
    assert save(member, report, "ja", "", "", remove="1").status_code == 302
    newest = report.drafts.get(version=3)
    assert (newest.languages, newest.sources) == (["en"], {})


@pytest.mark.parametrize(
    ("sent", "what"),
    [
        ({"text": "ja", "title": " "}, "A report needs a title."),
        ({"text": "ja", "title": "x" * 201}, "longer than 200 letters"),
        ({"text": "ja", "source": "x" * 200_001}, "200,001 letters"),
        ({"text": "ja", "source": "\x1b"}, "control character"),
        ({"text": "fr"}, "There is no language 'fr'."),
        ({"text": "en", "language": "ja"}, "It has a text in 日本語 already."),
    ],
)
def test_what_cannot_be_saved_is_said(member: Client, report: models.Report, sent: dict[str, str], what: str) -> None:
    write_both(member, report)
    report.refresh_from_db()
    body = {"version": report.version, "title": "t", "authors": "Ada", "source": "s"} | sent
    answer = member.post(reverse("reports:edit", args=[report.pk]), body)
    assert answer.status_code == 400 and what in html.unescape(page_text(answer))
    assert models.Draft.objects.count() == 2


@pytest.mark.parametrize(
    "changed",
    [
        lambda text: text.replace("```teiten differences", "```teiten environment"),
        lambda text: text + "\n\n" + block("grid"),
        lambda text: text.replace("&view=ratio", ""),
    ],
)
def test_texts_that_show_other_numbers_are_not_published(member: Client, report: models.Report, changed: Any) -> None:
    assert save(member, report, "ja", "18は速いか", changed(in_the_editor(member, report, "ja"))).status_code == 302
    answer = publish(member, report)
    assert "The texts in English and 日本語 do not show the same blocks." in page_text(answer)
    assert "of the text in 日本語" in page_text(answer) and not models.Edition.objects.exists()


def test_captions_may_differ(member: Client, report: models.Report, run: models.Run) -> None:
    query = f"run={run.pk}"
    assert save(member, report, "en", "t", block("table", query=query, caption="Each cell")).status_code == 302
    assert save(member, report, "ja", "題", block("table", query=query, caption="全セル")).status_code == 302
    assert publish(member, report).status_code == 302
    edition = models.Edition.objects.get()
    assert "Each cell" in edition.content and "全セル" in edition.contents["ja"]


def test_both_are_one_edition_with_the_same_numbers(
    member: Client, stranger: Client, report: models.Report, django_assert_max_num_queries: Any
) -> None:
    write_both(member, report)
    publish(member, report)
    edition = models.Edition.objects.get()
    address = reverse("reports:edition", args=[report.pk, 1])
    tables = {}
    for language, visitor in (("en", {}), ("ja", JAPANESE)):
        with django_assert_max_num_queries(4):
            page = html.unescape(stranger.get(address, **visitor).content.decode())
        article = page.partition("<article")[2].partition("</article>")[0]
        assert spoken(article) == [language]
        title = {"en": "Is 18 faster?", "ja": "18は速いか"}
        assert f"<title>\n  {title[language]}" in page or title[language] in page.partition("</title>")[0]
        assert f'class="report" lang="{language}"' in page
        other = "ja" if language == "en" else "en"
        assert f'href="?lang={other}"' in page
        cells = re.findall(r'<td class="num">(.*?)</td>', article)
        tables[language] = [re.findall(r"\d[\d.,]*", cell) for cell in cells]
    assert tables["en"] == tables["ja"] and any(tables["en"])
    assert spoken(html.unescape(stranger.get(address, {"lang": "ja"}).content.decode())) == ["ja"]
    assert edition.attempts and len(edition.citations) == len(set(edition.citations))


def test_its_files_are_in_the_language_that_is_asked_for(
    member: Client, stranger: Client, report: models.Report
) -> None:
    write_both(member, report)
    publish(member, report)
    edition = models.Edition.objects.get()
    for language, headers in (("ja", {}), ("en", JAPANESE)):
        address = reverse("reports:export", args=[report.pk, 1, "site.zip"])
        answer = stranger.get(address, {"lang": language}, **headers)
        with zipfile.ZipFile(io.BytesIO(answer.content)) as site:
            assert spoken(html.unescape(site.read("index.html").decode())) == [language]
            assert reports.hashed_of(edition) == site.read("published.json").decode()
            (text,) = (name for name in site.namelist() if name.endswith(".md"))
            assert text.endswith(f"-{language}.md")
            assert ("## 考察" in site.read(text).decode()) == (language == "ja")
        cited = stranger.get(reverse("reports:export", args=[report.pk, 1, "bib"]), {"lang": language}).content.decode()
        assert ("18は速いか" in cited) == (language == "ja")


def test_lists_and_notices_have_the_title_of_the_reader(
    member: Client, stranger: Client, report: models.Report
) -> None:
    write_both(member, report)
    publish(member, report)
    for path in (reverse("reports:list"), reverse("reports:feed")):
        assert "Is 18 faster?" in page_text(stranger.get(path))
        assert "18は速いか" in page_text(stranger.get(path, **JAPANESE))
    reports.withdraw(models.Edition.objects.get(), "The disk was full.", actor="tests")
    notice = stranger.get(reverse("reports:edition", args=[report.pk, 1]), **JAPANESE)
    assert notice.status_code == 410 and "18は速いか" in page_text(notice)


def test_the_api_has_both(member: Client, stranger: Client, report: models.Report) -> None:
    write_both(member, report)
    publish(member, report)
    (listed,) = stranger.get("/api/v1/reports/").json()["results"]
    assert (listed["language"], listed["title"], listed["titles"]) == ("en", "Is 18 faster?", {"ja": "18は速いか"})
    edition = stranger.get(f"/api/v1/reports/{report.pk}/1/").json()
    japanese = edition["translations"]["ja"]
    assert "## 考察" in japanese["text"] and "## Discussion" in edition["text"]
    kinds = [[next(iter(part)) for part in one["parts"]] for one in (edition, japanese)]
    assert kinds[0] == kinds[1] and not any("svg" in part.get("figure", {}) for part in japanese["parts"])
    assert "第1版" in stranger.get(japanese["files"]["html"]).content.decode()
    assert "Edition 1" in stranger.get(edition["files"]["html"], **JAPANESE).content.decode()


def test_the_hash_is_of_all_languages_and_of_one_alone_as_it_was(
    run: models.Run, report: models.Report, member: Client
) -> None:
    publish(member, report)
    alone = json.loads(reports.hashed_of(models.Edition.objects.get()))
    assert {"titles", "sources", "translated"}.isdisjoint(alone)
    write_both(member, report)
    publish(member, report)
    both = models.Edition.objects.get(number=2)
    hashed = json.loads(reports.hashed_of(both))
    assert (hashed["titles"], hashed["sources"], hashed["translated"]) == (both.titles, both.sources, both.contents)
    text = Text(both.title, both.authors, both.language, both.source, both.titles, both.sources)
    assert reports.text_of(both) == text and "考察" in hashed["translated"]["ja"]


def test_the_same_two_texts_are_published_once(member: Client, report: models.Report) -> None:
    write_both(member, report)
    publish(member, report)
    assert "This is edition 1 already" in page_text(publish(member, report))
    assert save(member, report, "ja", "18はどれだけ速いか", in_the_editor(member, report, "ja")).status_code == 302
    assert publish(member, report).status_code == 302
    assert models.Edition.objects.count() == 2


def test_a_new_report_begins_in_the_language_that_is_read(member: Client) -> None:
    with override("ja"):
        page = member.get(reverse("reports:new"), **JAPANESE).content.decode()
    assert '<option value="ja" selected>' in page
