"""The chapters of docs/ inside Teiten."""

from __future__ import annotations

import re
from typing import Any

import pytest
from django.conf import settings
from django.test import Client

from tests.page_text import page_text
from webapp.markdown import rendered
from webapp.pages.manual import CHAPTERS

pytestmark = pytest.mark.django_db
NOT_FOR_USERS = {"architecture", "names"}  # of who works on the code


def anchors(text: str) -> set[str]:
    return set(re.findall(r' id="([^"]+)"', text))


def test_every_file_that_users_read_is_a_chapter() -> None:
    files = {path.stem for path in (settings.BASE_DIR / "docs").glob("*.md") if "." not in path.stem}
    assert set(CHAPTERS) == files - NOT_FOR_USERS


def test_a_chapter_is_read_without_a_query_by_anyone(stranger: Client, django_assert_num_queries: Any) -> None:
    with django_assert_num_queries(0):
        text = page_text(stranger.get("/manual/method/"))
    assert '<a href="/manual/">manual</a> / Method: what makes a number worth keeping' in text
    assert '<h2 id="the-verdict">The verdict</h2>' in text
    assert '<a href="#the-verdict">The verdict</a>' in text
    assert stranger.get("/manual/names/").status_code == 404


def test_every_word_can_be_linked_to(stranger: Client) -> None:
    text = page_text(stranger.get("/manual/words/"))
    assert {"agent", "family", "verdict", "replicate", "layer", "workload"} <= anchors(text)
    assert 'href="/manual/method/#the-verdict"' in text


def test_no_link_of_a_chapter_is_dead(stranger: Client) -> None:
    texts = {f"/manual/{slug}/": page_text(stranger.get(f"/manual/{slug}/")) for slug in CHAPTERS}
    dead = []
    for address, text in texts.items():
        for target in re.findall(r'href="((?:/manual/[a-z-]+/)?#[^"]+|/manual/[a-z-]+/)"', text):
            chapter, _, anchor = target.partition("#")
            if anchor != "main" and anchor and anchor not in anchors(texts[chapter or address]):
                dead.append((address, target))
    assert dead == []
    assert not any(".md" in target for text in texts.values() for target in re.findall(r'href="([^"]*)"', text))


def test_every_link_of_a_page_into_the_manual_has_its_anchor(stranger: Client) -> None:
    templates = "".join(path.read_text() for path in (settings.BASE_DIR / "templates").rglob("*.html"))
    links = re.findall(r"{% url 'manual:page' '([a-z-]+)' %}(?:#([a-z-]+))?", templates)
    assert links
    for slug, anchor in links:
        assert not anchor or anchor in anchors(page_text(stranger.get(f"/manual/{slug}/"))), (slug, anchor)


def test_html_in_a_file_is_shown_as_text() -> None:
    chapter = rendered(
        "x", "en", "# Title\n\n<script>alert(1)</script> [a](javascript:alert(1)) [b](other.md) `<b>`\n", {}
    )
    assert chapter.title == "Title"
    assert "<script>" not in chapter.html and "href" not in chapter.html
    assert "&lt;script&gt;" in chapter.html


def test_a_chapter_is_japanese_where_it_is_translated_and_english_where_it_is_not(stranger: Client) -> None:
    japanese = page_text(stranger.get("/manual/words/?lang=ja"))
    assert '<article lang="ja">' in japanese and "試行" in japanese
    assert '<article lang="en">' in page_text(stranger.get("/manual/security/?lang=ja"))
    assert '<article lang="en">' in page_text(stranger.get("/manual/words/"))


def test_a_link_to_an_english_heading_finds_the_japanese_one(stranger: Client) -> None:
    english = page_text(stranger.get("/manual/method/"))
    japanese = page_text(stranger.get("/manual/method/?lang=ja"))
    article = english.partition("<article")[2]
    assert anchors(article) <= anchors(japanese.partition("<article")[2])


def test_the_end_of_a_line_beside_japanese_is_no_space() -> None:
    html = rendered("one", "ja", "# A\n\n測定を\n繰り返す。\npgbenchは\n英語のまま\nas is\nhere", {}).html
    assert "測定を繰り返す。pgbenchは英語のままas is\nhere" in html
