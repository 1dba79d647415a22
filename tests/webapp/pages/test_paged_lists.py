"""Lists that grow with the warehouse come in pages: the first, the next, the last and what is past it."""

from __future__ import annotations

import html
import re
from collections.abc import Callable
from typing import Any
from urllib.parse import urlencode

import pytest
from django.test import Client
from django.utils import timezone

from results import models
from tests import factories, long_lists
from tests.page_text import page_text

pytestmark = pytest.mark.django_db
LISTS: dict[str, tuple[Callable[[int], list[str]], str, str, str]] = {
    "/plans/": (long_lists.plans, "plans", "More plans", r"plan \d{3}"),
    "/imports/": (long_lists.imports, "imports", "Older imports", r"/imports/(import-\d{3})/"),
    "/published/": (long_lists.published, "published", "More tables", r"/published/(table-\d{3})/"),
    "/c/": (long_lists.citations, "citations", "Older citations", r"<code>([0-9a-f]{16})</code>"),
    "/reports/": (long_lists.editions, "reports", "Older reports", r"edition \d{3}"),
}
MOST_QUERIES = {"/plans/": 2}  # others: 1


@pytest.fixture(autouse=True)
def _pages_of_three(monkeypatch: pytest.MonkeyPatch) -> None:
    for _, module, _, _ in LISTS.values():
        monkeypatch.setattr(f"webapp.pages.{module}.PAGE", 3)


def followed(client: Client, path: str, words: str) -> list[str]:
    """The text of each page, from link to link."""
    texts = [page_text(client.get(path))]
    while words in texts[-1]:
        (query,) = re.findall(rf'rel="next" href="([^"]+)"\s*>{words}<', texts[-1])
        texts.append(page_text(client.get(path + html.unescape(query))))
    return texts


@pytest.mark.parametrize("path", LISTS)
def test_every_row_is_on_one_page_in_order_where_many_have_the_same_time(path: str, stranger: Client) -> None:
    make, _, words, row = LISTS[path]
    rows = make(7)
    texts = followed(stranger, path, words)
    assert [re.findall(row, text) for text in texts] == [rows[:3], rows[3:6], rows[6:]]
    assert ["First page" in text for text in texts] == [False, True, True]


@pytest.mark.parametrize("path", LISTS)
def test_a_full_last_page_leads_nowhere(path: str, stranger: Client) -> None:
    make, _, words, row = LISTS[path]
    rows = make(3)
    (text,) = followed(stranger, path, words)
    assert re.findall(row, text) == rows and "First page" not in text


@pytest.mark.parametrize(
    ("path", "last"),
    [
        ("/plans/", lambda: {"after": "plan 003"}),
        ("/imports/", lambda: {"before": models.Run.objects.earliest("pk").pk}),
        ("/published/", lambda: {"after": "table-001"}),
        ("/c/", lambda: {"before": models.Snapshot.objects.earliest("hash").hash}),
        ("/reports/", lambda: {"before": models.Edition.objects.earliest("pk").pk}),
    ],
)
def test_past_the_end_is_said_with_the_way_back(
    path: str, last: Callable[[], dict[str, Any]], stranger: Client
) -> None:
    make, _, _, row = LISTS[path]
    make(4)
    text = page_text(stranger.get(f"{path}?{urlencode(last())}"))
    assert re.findall(row, text) == []
    assert "No more of these." in text and re.search(r'href="\?"\s*>First page<', text)


@pytest.mark.parametrize("path", LISTS)
def test_an_empty_list_is_not_past_the_end(path: str, stranger: Client) -> None:
    text = page_text(stranger.get(path))
    assert "No more of these." not in text and "First page" not in text


@pytest.mark.parametrize("path", LISTS)
def test_what_no_page_gave_begins_the_list_or_is_past_its_end(path: str, stranger: Client) -> None:
    make, _, _, _ = LISTS[path]
    make(2)
    for value in ("0", "-1", "nothing", "9" * 18, "9" * 40, "2026-01-01"):
        assert stranger.get(path, {"before": value, "after": value}).status_code == 200


@pytest.mark.parametrize("path", LISTS)
def test_pages_take_the_same_queries_whatever_there_is(
    path: str, stranger: Client, django_assert_num_queries: Any
) -> None:
    make = LISTS[path][0]
    make(7)
    for query in ("", re.findall(r'rel="next" href="([^"]+)"', page_text(stranger.get(path)))[0]):
        with django_assert_num_queries(MOST_QUERIES.get(path, 1)):
            stranger.get(path + html.unescape(query))


def test_archived_plans_and_private_runs_neither_show_nor_count(stranger: Client) -> None:
    names = long_lists.plans(5)
    models.Plan.objects.filter(name=names[1]).update(archived=True)
    plan = models.Plan.objects.get(name=names[0])
    factories.run(factories.member("ada"), plan, private=True)
    first, second = followed(stranger, "/plans/", "More plans")
    assert re.findall(r"plan \d{3}", first + second) == [names[0], *names[2:]]
    assert "never" in first and "/runs/" not in re.findall(r"<tbody>.*</tbody>", first, re.DOTALL)[0]


def test_drafts_are_paged_for_those_who_may_see_them_and_for_nobody_else(stranger: Client, member: Client) -> None:
    titles = long_lists.drafts(5)
    texts = followed(member, "/reports/", "Older drafts")
    assert [re.findall(r"draft \d{3}", text) for text in texts] == [titles[:3], titles[3:]]
    assert "older draft" not in "".join(texts)
    for query in ("", "?drafts_before=999999"):
        text = page_text(stranger.get(f"/reports/{query}"))
        assert "draft 0" not in text and "Being written" not in text and "First page" not in text


def test_a_report_stands_once_by_its_newest_edition_that_is_not_withdrawn(stranger: Client) -> None:
    first = factories.edition(factories.finished_run())
    models.Edition.objects.create(
        **{
            name: getattr(first, name)
            for name in ("report", "title", "content", "facts", "attempts", "citations", "rule")
        },
        number=2,
        hash="2",
        published_at=timezone.now(),
        withdrawn_at=timezone.now(),
    )
    long_lists.editions(3)
    (text, second) = followed(stranger, "/reports/", "Older reports")
    assert f"/reports/{first.report_id}/1/" in text and f"/reports/{first.report_id}/2/" in text
    assert f"/reports/{first.report_id}/" not in second


def test_the_audit_log_keeps_what_is_chosen_on_its_pages(admin: Client, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("webapp.pages.audit.PAGE", 2)
    for number in range(5):
        models.AuditEntry.objects.create(actor="bob" if number == 2 else "ada", verb="look", object=f"plan {number}")
    first = page_text(admin.get("/audit/?actor=ada"))
    (query,) = re.findall(r'rel="next" href="([^"]+)"', first)
    second = page_text(admin.get(f"/audit/{html.unescape(query)}"))
    assert [re.findall(r">(plan \d)<", text) for text in (first, second)] == [
        ["plan 4", "plan 3"],
        ["plan 1", "plan 0"],
    ]
    assert 'href="?actor=ada"' in second and "Older entries" not in second
