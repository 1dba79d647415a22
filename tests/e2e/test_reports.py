"""A report is written in a real browser: the preview follows what is typed, a block is put in, and it is published."""

from __future__ import annotations

import re

import pytest
from django.db import connection
from playwright.sync_api import Dialog, expect

from results import models
from tests import factories
from tests.e2e.conftest import Watched


@pytest.mark.smoke
def test_a_report_is_written_and_published(watched: Watched) -> None:
    factories.member()
    with connection.cursor() as cursor:  # so that there is no run 1, which the block begins with
        cursor.execute("SELECT nextval(pg_get_serial_sequence(%s, 'id'))", [models.Run._meta.db_table])
    run = factories.finished_run(replicates=3, standing="kept")
    watched.sign_in()
    page = watched.open(f"/compare/?run={run.pk}")
    page.click("#export summary")
    page.click("text=Write a report of these runs")
    page.fill("#title", "Is 18 faster?")
    page.click("text=Begin")
    expect(page.locator("#preview figure")).to_have_count(2)
    page.locator("#source").press("Control+Home")
    page.locator("#source").press_sequentially("We ask **one** question. ")
    expect(page.locator("#preview strong", has_text="one")).to_have_count(1)
    page.locator("#source").press("Control+End")
    page.click("[data-insert*='teiten table']")
    expect(page.locator("#preview .problem")).to_contain_text("There is no run 1")
    page.keyboard.type(str(run.pk))  # in place of the number that is selected
    expect(page.locator("#preview .problem")).to_have_count(0)
    page.click("text=Save")
    expect(page.locator(".messages")).to_contain_text("Version 2 is saved.")
    page.click("text=Publish version 2")
    page.wait_for_url(re.compile(r"/reports/\d+/1/$"))
    expect(page.locator("article figure img").first).to_be_visible()
    assert page.evaluate("document.querySelector('article figure img').naturalWidth") > 300
    with page.expect_download() as download:
        page.click("a.button:has-text('PDF')")
    assert download.value.path().read_bytes().startswith(b"%PDF")
    assert models.Edition.objects.get().title == "Is 18 faster?"


def test_leaving_with_unsaved_text_is_asked(watched: Watched) -> None:
    factories.member()
    report = factories.edition(factories.finished_run(replicates=3)).report
    watched.sign_in()
    page = watched.open(f"/reports/{report.pk}/edit/")
    page.locator("#source").press_sequentially("Not saved.")
    asked: list[str] = []

    def leave(dialog: Dialog) -> None:
        asked.append(dialog.type)
        dialog.accept()

    page.on("dialog", leave)
    page.goto(page.url.replace("/edit/", "/1/"))
    assert asked == ["beforeunload"]


def test_a_report_is_written_and_published_in_both_languages(watched: Watched) -> None:
    factories.member()
    run = factories.finished_run(replicates=3, standing="kept")
    watched.sign_in()
    page = watched.open(f"/reports/new/?runs={run.pk}")
    page.fill("#title", "Is 18 faster?")
    page.click("text=Begin")
    page.click("text=Write it in 日本語 too")
    expect(page.locator("#source")).to_have_value(re.compile("## 考察"))
    expect(page.locator("#preview .report")).to_have_attribute("lang", "ja")
    page.fill("#title", "18は速いか")
    page.locator("#source").press("Control+Home")
    page.locator("#source").press_sequentially("問いは一つです。")
    expect(page.locator("#preview .report")).to_contain_text("問いは一つです。")
    page.click("button:text-is('Save')")
    expect(page.locator(".messages")).to_contain_text("Version 2 is saved.")
    expect(page.locator("#source")).to_have_value(re.compile("問いは一つです。"))
    page.click("text=Publish version 2")
    page.wait_for_url(re.compile(r"/reports/\d+/1/$"))
    expect(page.locator("h1")).to_contain_text("Is 18 faster?")
    page.click("text=This report in 日本語")
    expect(page.locator("h1")).to_contain_text("18は速いか")
    expect(page.locator("article.report")).to_contain_text("問いは一つです。")
    with page.expect_download() as download:
        page.click("a.button:has-text('PDF')")
    assert download.value.suggested_filename == "18は速いか-edition-1-ja.pdf"
    assert download.value.path().read_bytes().startswith(b"%PDF")
