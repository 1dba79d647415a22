"""Lists that grow with the warehouse come in pages of the API, that lead on to the end."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from rest_framework.test import APIClient

from results import models
from tests import factories, long_lists

pytestmark = pytest.mark.django_db
Visitor = Callable[[str], APIClient]
# where → what makes rows, the field that tells them apart, and how many queries a page takes
LISTS: dict[str, tuple[Callable[[int], list[str]], str, int]] = {
    "citations": (long_lists.citations, "hash", 2),
    "references": (long_lists.references, "name", 1),
    "imports": (long_lists.imports, "slug", 2),
    "publications": (long_lists.published, "slug", 2),
    "reports": (long_lists.editions, "title", 1),
    "plans": (long_lists.plans, "name", 3),
}


def followed(client: APIClient, address: str, link: str = "next") -> list[Any]:
    """The pages from here on, from link to link."""
    pages = []
    while address:
        answer = client.get(address)
        assert answer.status_code == 200, answer.content
        pages.append(answer.json())
        address = pages[-1][link]
    return pages


@pytest.mark.parametrize("name", LISTS)
def test_every_row_is_on_one_page_in_order_where_many_have_the_same_time(name: str, anonymous: APIClient) -> None:
    make, field, _ = LISTS[name]
    rows = make(7)
    pages = followed(anonymous, f"/api/v1/{name}/?page_size=3")
    assert [[row[field] for row in page["results"]] for page in pages] == [rows[:3], rows[3:6], rows[6:]]
    back = followed(anonymous, pages[1]["next"], "previous")
    assert [[row[field] for row in page["results"]] for page in back] == [rows[6:], rows[3:6], rows[:3]]
    back = followed(anonymous, pages[0]["next"], "previous")
    assert [[row[field] for row in page["results"]] for page in back] == [rows[3:6], rows[:3]]


@pytest.mark.parametrize("name", LISTS)
def test_a_full_last_page_leads_nowhere(name: str, anonymous: APIClient) -> None:
    make, field, _ = LISTS[name]
    rows = make(3)
    (page,) = followed(anonymous, f"/api/v1/{name}/?page_size=3")
    assert ([row[field] for row in page["results"]], page["previous"]) == (rows, None)


@pytest.mark.parametrize("name", LISTS)
def test_past_the_end_there_are_no_rows(name: str, anonymous: APIClient) -> None:
    make, _, _ = LISTS[name]
    make(4)
    address = anonymous.get(f"/api/v1/{name}/?page_size=3").json()["next"]
    for model in (models.Reference, models.Snapshot, models.Run, models.Publication, models.Edition, models.Plan):
        model.objects.all().delete()
    page = anonymous.get(address).json()
    assert (page["results"], page["next"]) == ([], None)


@pytest.mark.parametrize("name", LISTS)
def test_a_page_takes_the_same_queries_whatever_there_is(
    name: str, anonymous: APIClient, django_assert_num_queries: Any
) -> None:
    make, _, queries = LISTS[name]
    make(7)
    address = f"/api/v1/{name}/?page_size=3"
    for _ in range(3):
        with django_assert_num_queries(queries):
            page = anonymous.get(address).json()
        address = page["next"]
    assert address is None


def test_more_than_a_hundred_citations_are_all_there(anonymous: APIClient) -> None:
    hashes = long_lists.citations(230)
    pages = followed(anonymous, "/api/v1/citations/")
    assert [row["hash"] for page in pages for row in page["results"]] == hashes
    assert [len(page["results"]) for page in pages] == [100, 100, 30]


@pytest.mark.parametrize("name", LISTS)
def test_rows_are_sorted_the_other_way_round_and_have_the_fields_asked_for(name: str, anonymous: APIClient) -> None:
    make, field, _ = LISTS[name]
    rows = make(3)
    described = anonymous.get("/api/v1/schema/?format=json").json()["paths"][f"/api/v1/{name}/"]["get"]["parameters"]
    (orders,) = (one["schema"]["enum"] for one in described if one["name"] == "ordering")
    both = {
        tuple(row[field] for row in anonymous.get(f"/api/v1/{name}/?ordering={order}&fields={field}").json()["results"])
        for order in orders[:2]
    }
    assert both == {tuple(rows), tuple(rows[::-1])}
    page = anonymous.get(f"/api/v1/{name}/?fields={field}").json()
    assert page["results"] == [{field: row} for row in rows]


def test_agents_of_a_further_page_take_no_more_queries(anonymous: APIClient, django_assert_num_queries: Any) -> None:
    for number in range(5):
        factories.agent(f"db{number}")
    address = "/api/v1/agents/?page_size=2"
    for _ in range(3):
        with django_assert_num_queries(5):
            address = anonymous.get(address).json()["next"]


def test_nobody_sees_by_a_page_what_a_list_does_not_have(anonymous: APIClient, settings: Any) -> None:
    names = long_lists.plans(3)
    factories.run(factories.member("ada"), models.Plan.objects.get(name=names[0]), private=True)
    long_lists.drafts(3)
    plans = anonymous.get("/api/v1/plans/?page_size=2").json()["results"]
    assert [(plan["runs"], plan["last_run_id"]) for plan in plans] == [(0, None), (0, None)]
    assert followed(anonymous, "/api/v1/reports/?page_size=1") == [{"next": None, "previous": None, "results": []}]
    settings.TEITEN_OPEN_READING = False
    for name in LISTS:
        assert anonymous.get(f"/api/v1/{name}/?page_size=1").status_code == 401


def test_imports_are_not_on_pages_of_published_tables_nor_the_other_way_round(anonymous: APIClient) -> None:
    tables, imported = long_lists.published(3), long_lists.imports(3)
    for name, slugs in (("publications", tables), ("imports", imported)):
        pages = followed(anonymous, f"/api/v1/{name}/?page_size=2")
        assert [[row["slug"] for row in page["results"]] for page in pages] == [slugs[:2], slugs[2:]]
        (first,) = anonymous.get(f"/api/v1/{name}/?page_size=1&fields=slug,run_id,trials").json()["results"]
        assert (first["slug"], first["trials"]) == (slugs[0], 0)


def test_tokens_have_the_fields_asked_for(visitor: Visitor) -> None:
    rows = visitor("read").get("/api/v1/tokens/?fields=name&page_size=2").json()["results"]
    assert [list(row) for row in rows] == [["name"], ["name"]]


def test_measurements_come_in_the_order_of_their_ids_wherever_in_an_attempt_a_page_ends(anonymous: APIClient) -> None:
    factories.finished_run()
    address = "/api/v1/measurements/"
    whole = [row["id"] for row in anonymous.get(f"{address}?page_size=1000").json()["results"]]
    assert whole == sorted(whole) and len(whole) > 20
    pages = followed(anonymous, f"{address}?page_size=7")
    assert [row["id"] for page in pages for row in page["results"]] == whole
    back = followed(anonymous, pages[-2]["next"], "previous")
    assert [row["id"] for page in reversed(back) for row in page["results"]] == whole
    newest = followed(anonymous, f"{address}?page_size=7&ordering=-id")
    assert [row["id"] for page in newest for row in page["results"]] == whole[::-1]
