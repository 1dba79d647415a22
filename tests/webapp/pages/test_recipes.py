"""Ready plans: the list, the choice, and the plan form filled in."""

from __future__ import annotations

import html
import json
import re
from pathlib import Path
from typing import Any
from urllib.parse import urlencode

import pytest
import tomli_w
from django.db import connection
from django.http import QueryDict
from django.test import Client
from django.test.utils import CaptureQueriesContext

from results import models
from results.domain.plan import from_mapping
from results.domain.plan.recipes import OTHER_TOPIC, example
from results.preview import preview
from results.queries.agents.agents import list_agents
from tests import factories
from tests.page_text import page_text
from tests.results.domain.plan.test_recipes import SHELF, mapping
from webapp.forms.recipe_cards import first_fitting, shelf
from workers.registry import kinds

FORM = "/plans/ready/reads/form/?"


@pytest.fixture(autouse=True)
def _plans(settings: Any, tmp_path: Path) -> None:
    settings.TEITEN_PLAN_DIR = tmp_path
    (tmp_path / "reads.toml").write_text(tomli_w.dumps(mapping()))
    (tmp_path / "builds.toml").write_text(tomli_w.dumps(mapping(name="Builds", compare="builds")))
    (tmp_path / "one.toml").write_text(tomli_w.dumps(mapping(name="One", compare="one")))


def page(client: Client, path: str, status: int = 200) -> str:
    answer = client.get(path)
    assert answer.status_code == status
    return html.unescape(page_text(answer))


def problems(text: str) -> list[dict[str, str]]:
    match = re.search(r'<script id="problems" type="application/json">(.*?)</script>', text)
    assert match is not None
    return list(json.loads(match[1]))


def chosen(text: str) -> list[str]:
    return re.findall(r'name="(?:installations|builds)" value="([^"]*)" checked', text)


def offered(text: str) -> list[str]:
    return re.findall(r'name="(?:installations|builds)" value="([^"]*)"', text)


def test_the_list_says_of_each_what_it_finds_out_and_what_was_found(db: None, stranger: Client) -> None:
    text = page(stranger, "/plans/ready/")
    for message in (
        "3 experiments",
        "What it finds out.",
        "A report 2012, 2.2",
    ):
        assert message in text
    assert 'href="/plans/ready/reads/"' in text


def test_the_list_asks_the_warehouse_once_a_workload_for_what_past_trials_took(db: None, stranger: Client) -> None:
    with CaptureQueriesContext(connection) as queries:
        text = page(stranger, "/plans/ready/")
    assert len(queries) == 1 + 1  # and once for agents, of which there are none
    assert text.count(">a guess<") == 3


def test_the_time_of_a_card_is_the_estimate_of_the_preview(db: None, stranger: Client, settings: Any) -> None:
    settings.TEITEN_PLAN_DIR = settings.BASE_DIR / "plans"
    factories.agent("agent", {"16": 160000, "18": 180000})
    cards = {card.recipe.slug: card for card in shelf(QueryDict("")).cards}
    for slug in ("wg1-read-scaleup", "own-queries", "wg1-ssb-parallel"):
        plan = from_mapping(example(cards[slug].recipe, cards[slug].recipe.laptop, whole=False), kinds())
        seen = preview(plan, kinds())
        assert (seen.seconds, seen.trials) == (cards[slug].estimate.seconds, cards[slug].trials)


def test_what_fits_a_laptop_runs_in_ten_minutes_and_the_most_useful_stands_first(db: None, settings: Any) -> None:
    settings.TEITEN_PLAN_DIR = settings.BASE_DIR / "plans"
    cards = shelf(QueryDict("")).cards
    assert cards[0].recipe.slug == "wg1-read-scaleup"
    assert {card.recipe.slug: card.estimate.seconds for card in cards if not card.quick} == {}
    assert all(card.recipe.question.endswith("?") for card in cards)
    assert all(card.recipe.topic != OTHER_TOPIC for card in cards)


@pytest.mark.parametrize(
    ("query", "first", "some"),
    [
        ("topic=Storage", "zfs-arc", True),
        ("servers=several", "wg1-cascading", True),
        ("q=JIT", "wg1-ssb-jit", False),
        ("q=pgpool+writers&quick=1", "wg1-pgpool-update", False),
        ("q=oracle", "", False),
    ],
)
def test_the_address_filters_the_plans_without_javascript(
    db: None, stranger: Client, settings: Any, query: str, first: str, some: bool
) -> None:
    settings.TEITEN_PLAN_DIR = settings.BASE_DIR / "plans"
    text = page(stranger, f"/plans/ready/?{query}")
    slugs = re.findall(r'<li id="([a-z0-9-]+)">', text)
    assert slugs[:1] == ([first] if first else [])
    assert (1 < len(slugs) < len(SHELF.plans)) if some else first or "No ready plan is like that." in text
    assert 'href="/plans/ready/">show all' in text


def test_a_ready_plan_is_short_unless_the_whole_is_asked_for(member: Client, tmp_path: Path) -> None:
    factories.agent()
    short = {"replicates": 2, "factors": {"clients": [4]}}
    (tmp_path / "reads.toml").write_text(tomli_w.dumps(mapping(short=short)))
    address = FORM + urlencode({"agents.primary": "db1", "installations": "postgresql-16.9"})
    assert "<textarea" in page(member, address) and ">\n4</textarea>" in page(member, address)
    assert ">\n1, 4</textarea>" in page(member, f"{address}&whole=1")


def test_the_plans_that_come_with_teiten_are_all_listed(db: None, stranger: Client, settings: Any) -> None:
    settings.TEITEN_PLAN_DIR = settings.BASE_DIR / "plans"
    text = page(stranger, "/plans/ready/")
    assert [plan.slug for plan in SHELF.plans if f'href="/plans/ready/{plan.slug}/"' not in text] == []


def test_a_file_that_is_no_ready_plan_is_named_and_hides_no_other(db: None, stranger: Client, tmp_path: Path) -> None:
    (tmp_path / "broken.toml").write_text(tomli_w.dumps(mapping(size="length")))
    text = page(stranger, "/plans/ready/")
    assert "plans/broken.toml is not a valid ready plan." in text
    assert "The workload has no parameter 'length'." in text
    assert 'href="/plans/ready/reads/"' in text
    assert "has no parameter 'length'" in page(stranger, "/plans/ready/broken/", 422)


def test_ready_plans_are_linked_from_the_overview_the_list_and_the_form(member: Client) -> None:
    for path in ("/", "/plans/", "/plans/add/"):
        assert 'href="/plans/ready/"' in page(member, path)


def test_the_choice_begins_with_the_first_agent_that_is_ready_and_its_oldest_and_newest_postgresql(
    db: None, stranger: Client
) -> None:
    factories.agent("away")
    models.Agent.objects.update(state="unreachable")
    factories.agent("db1", {"16.9": 160009, "18.1": 180001, "9.4.26": 90426})
    text = page(stranger, "/plans/ready/reads/")
    assert '<option value="db1" selected>' in text
    assert chosen(text) == ["postgresql-16.9", "postgresql-18.1"]
    assert 'postgresql-9.4.26 <small class="faint">older than the workload needs' in text
    assert 'name="size" value="10"' in text
    assert "Sign in and open in the plan form" in text


def test_another_agent_has_its_own_postgresql(db: None, stranger: Client) -> None:
    factories.agent("db1")
    factories.agent("db2", {"17.5": 170005})
    assert chosen(page(stranger, "/plans/ready/reads/?agents.primary=db2")) == ["postgresql-17.5"]


def test_of_many_installations_the_oldest_and_the_newest_that_the_workload_can_use_are_ticked(
    db: None, stranger: Client
) -> None:
    factories.agent("db1", {"15.8": 150008, "16.9": 160009, "18.1": 180001})
    text = page(stranger, "/plans/ready/reads/")
    assert chosen(text) == ["postgresql-15.8", "postgresql-18.1"]
    assert offered(text) == ["postgresql-15.8", "postgresql-16.9", "postgresql-18.1"]
    assert "Ticked at first: the oldest and the newest that the workload can use." in text


def test_builds_with_another_access_method_are_ticked_with_heap_of_the_same_server(db: None, stranger: Client) -> None:
    agent = factories.agent("db1", {"16.9": 160009, "18.1": 180001})
    agent.installations.filter(version="16.9").update(access_methods=["heap", "heap2"])
    text = page(stranger, "/plans/ready/builds/")
    assert chosen(text) == ["postgresql-16.9 heap", "postgresql-16.9 heap2"]
    assert offered(text) == ["postgresql-16.9 heap", "postgresql-16.9 heap2", "postgresql-18.1 heap"]


def test_builds_without_another_access_method_are_ticked_as_versions_are(db: None, stranger: Client) -> None:
    factories.agent("db1", {"15.8": 150008, "16.9": 160009, "18.1": 180001})
    text = page(stranger, "/plans/ready/builds/")
    assert chosen(text) == ["postgresql-15.8 heap", "postgresql-18.1 heap"]
    assert "where none has, the oldest and the newest" in text


def test_a_plan_of_one_installation_offers_the_newest(db: None, stranger: Client) -> None:
    factories.agent()
    text = page(stranger, "/plans/ready/one/")
    assert chosen(text) == ["postgresql-18.1"]
    assert text.count('type="radio"') == 2


def test_without_an_agent_the_page_says_how_to_add_one(db: None, stranger: Client) -> None:
    assert "There is no agent yet." in page(stranger, "/plans/ready/reads/")


def test_the_number_of_queries_does_not_grow_with_agents(db: None, stranger: Client) -> None:
    counts = []
    for name in ("db1", "db2"):
        factories.agent(name)
        with CaptureQueriesContext(connection) as queries:
            page(stranger, "/plans/ready/reads/")
        counts.append(len(queries))
    assert counts[0] == counts[1] <= 4


def test_a_choice_opens_the_plan_form_filled_in(member: Client) -> None:
    factories.agent()
    parameters = {
        "size": "25",
        "agents.primary": "db1",
        "agents.client": "",
        "installations": ["postgresql-16.9", "18"],
    }
    text = page(member, FORM + urlencode(parameters, doseq=True))
    assert '<form method="post" class="page split" id="plan" action="/plans/add/"' in text
    assert 'id="name" name="name" value="Reads"' in text
    assert 'name="parameters.scale" value="25"' in text
    assert "postgresql-16.9, 18</textarea>" in text
    assert '<option value="db1" selected>' in text


def test_a_second_plan_of_the_same_kind_gets_another_name(member: Client) -> None:
    factories.agent()
    factories.stored_plan(name="Reads")
    factories.stored_plan(name="Reads (2)")
    text = page(member, FORM + "agents.primary=db1&installations=16")
    assert 'name="name" value="Reads (3)"' in text


def test_a_choice_that_is_not_right_comes_back_with_its_problems(member: Client) -> None:
    factories.agent()
    text = page(member, FORM + "size=0&agents.primary=db1&builds=16+heap", 422)
    assert {problem["field"] for problem in problems(text)} == {"size", "installations", "builds"}
    assert 'name="size" value="0"' in text
    assert chosen(text) == []


def test_the_noise_of_a_choice_is_measured_by_its_aa_plan(member: Client) -> None:
    factories.agent()
    requested = FORM + "agents.primary=db1&installations=16"
    assert "Measure its noise (A/A)" in page(member, "/plans/ready/reads/")
    text = page(member, requested + "&aa=1")
    assert 'name="name" value="A/A of Reads"' in text
    assert 'value="twin"' in text
    assert 'value="twin"' not in page(member, requested)


def test_the_aa_plan_of_what_has_twins_already_says_so(member: Client, tmp_path: Path) -> None:
    factories.agent()
    (tmp_path / "reads.toml").write_text(tomli_w.dumps(mapping(factors={"twin": factories.TWINS})))
    text = page(member, FORM + "agents.primary=db1&installations=16&aa=1", 422)
    assert "Every configuration occurs twice already." in text


def test_a_stranger_signs_in_and_comes_back_to_the_choice(db: None, stranger: Client) -> None:
    answer = stranger.get(FORM + "size=25&agents.primary=db1")
    assert answer.status_code == 302
    assert answer["Location"].endswith("next=/plans/ready/reads/form/%3Fsize%3D25%26agents.primary%3Ddb1")


def test_an_unknown_ready_plan_is_not_there(db: None, stranger: Client) -> None:
    for path in ("/plans/ready/nothing/", "/plans/ready/nothing/form/"):
        assert stranger.get(path).status_code in (302, 404)
    assert "There is nothing at this address" in page(stranger, "/plans/ready/nothing/", 404)


def contacted(**found: Any) -> models.Agent:
    agent = factories.agent()
    models.Agent.objects.filter(pk=agent.pk).update(**found)
    return agent


def test_a_card_says_whether_it_fits_the_agent_that_its_form_would_choose(
    db: None, stranger: Client, settings: Any
) -> None:
    settings.TEITEN_PLAN_DIR = settings.BASE_DIR / "plans"
    contacted(memory_bytes=64 * 2**30, disk={"free_bytes": 500 * 2**30}, cores=16)
    text = page(stranger, "/plans/ready/?q=wg1-read-scaleup")
    assert "Fits db1." in text and "of data" in text


def test_a_card_says_what_its_data_are_too_large_for(db: None, stranger: Client, settings: Any) -> None:
    settings.TEITEN_PLAN_DIR = settings.BASE_DIR / "plans"
    contacted(memory_bytes=50 * 2**20, disk={"free_bytes": 10 * 2**20}, cores=2)
    text = page(stranger, "/plans/ready/?q=wg1-read-scaleup")
    assert "Too large for db1:" in text and "of disk, and 10 MB are free." in text
    assert "Tight on db1:" in text and "of data exceed the 50 MB of memory" in text
    assert "servers share 2 processors" in page(stranger, "/plans/ready/?q=wg1-cascading")


def test_a_card_says_what_is_not_known_of_the_machine_or_the_data(db: None, stranger: Client, settings: Any) -> None:
    settings.TEITEN_PLAN_DIR = settings.BASE_DIR / "plans"
    contacted(memory_bytes=None, disk={}, cores=None)
    text = page(stranger, "/plans/ready/?q=wg1-read-scaleup")
    assert "Not known whether it fits db1: the memory of db1, the free disk of db1, the processors of db1." in text
    assert "Not known whether it fits db1: how much data it takes" in page(stranger, "/plans/ready/?q=own-queries")


def test_without_an_agent_no_card_says_that_it_fits(db: None, stranger: Client) -> None:
    text = page(stranger, "/plans/ready/")
    assert "Fits db1" not in text and "Not known whether" not in text


def test_what_was_found_of_the_agent_costs_as_many_queries_whatever_the_plans(
    db: None, stranger: Client, settings: Any, django_assert_max_num_queries: Any
) -> None:
    settings.TEITEN_PLAN_DIR = settings.BASE_DIR / "plans"
    contacted(memory_bytes=64 * 2**30, disk={"free_bytes": 500 * 2**30}, cores=16)
    with django_assert_max_num_queries(22):
        page(stranger, "/plans/ready/")


def test_the_first_plan_that_fits_is_led_to_with_its_form_filled_in(settings: Any, member: Client) -> None:
    settings.TEITEN_PLAN_DIR = settings.BASE_DIR / "plans"
    contacted(memory_bytes=64 * 2**30, disk={"free_bytes": 500 * 2**30}, cores=16)
    found = first_fitting(list_agents())
    assert found and found[0].recipe.slug == "wg1-read-scaleup"
    form = page(member, found[1])
    assert 'value="db1" selected' in form and "postgresql-16.9, postgresql-18.1" in form
    models.Agent.objects.update(disk={"free_bytes": 10**6})
    assert first_fitting(list_agents()) is None


def test_no_plan_is_led_to_on_an_agent_without_postgresql(db: None, settings: Any) -> None:
    settings.TEITEN_PLAN_DIR = settings.BASE_DIR / "plans"
    models.Agent.objects.create(name="db1", host="db1", user="bench", data_dir="/d", work_dir="/w", state="ready")
    assert first_fitting(list_agents()) is None
