"""The menu leads to every page."""

from __future__ import annotations

import re

import pytest
from django.test import Client
from django.urls import NoReverseMatch, get_resolver, reverse

from tests import factories
from tests.page_text import page_text
from tests.webapp.pages.test_site import POSTED
from tests.webapp.worlds import page_names
from webapp import menu

pytestmark = pytest.mark.django_db
NOT_IN_THE_MENU = {
    "metrics": "for Prometheus",
    "now": "a part of the front page",
    "lately": "a part of the front page",
    "comparison-cell": "a part of a comparison",
    "comparison-rows": "a part of a comparison",
    "runs:blocks": "asked for from a comparison",
    "runs:remove": "asked for from a run or the list of runs",
    "account:sign-in": "in the bar",
    "account:sign-out": "in the bar",
    "account:language": "in the bar",
    "reports:feed": "on the list of reports",
}


def linked(client: Client, path: str = "/") -> list[str]:
    menu_text = page_text(client.get(path)).partition('<div class="menu-groups">')[2].partition("</details>")[0]
    return re.findall(r'href="([^"]*)"', menu_text)


def without_arguments() -> dict[str, str]:
    """Name of every page that needs no argument → its address."""
    addresses = {}
    for name in page_names(get_resolver().url_patterns):
        if name in (*POSTED, *NOT_IN_THE_MENU):
            continue
        try:
            addresses[name] = reverse(name)
        except NoReverseMatch:
            continue
    return addresses


def test_every_page_without_arguments_is_in_the_menu(client: Client, db: None) -> None:
    client.force_login(factories.member("admin", staff=True))
    there = linked(client)
    assert {name: address for name, address in without_arguments().items() if address not in there} == {}
    assert len(there) == len(set(there))


def test_a_member_can_sign_out_from_the_menu_and_a_stranger_is_not_offered_it(stranger: Client, member: Client) -> None:
    def forms(client: Client) -> list[str]:
        menu_text = page_text(client.get("/")).partition('<div class="menu-groups">')[2].partition("</details>")[0]
        return re.findall(r'action="([^"]*)"', menu_text)

    assert reverse("account:sign-out") in forms(member)
    assert reverse("account:sign-out") not in forms(stranger)


def test_a_stranger_is_offered_what_a_stranger_may_open(stranger: Client, member: Client, db: None) -> None:
    offered, of_a_member = linked(stranger), linked(member)
    assert not {reverse("plans:add"), reverse("plans:import"), reverse("agents:add")} & set(offered)
    assert reverse("plans:add") in of_a_member and reverse("agents:add") not in of_a_member


def test_every_entry_leads_to_a_page(member: Client) -> None:
    factories.agent()
    answers = {entry.text: member.get(entry.address).status_code for entry in menu.entries()}
    assert {text for text, status in answers.items() if status not in (200, 403)} == set()
    assert [text for text, status in answers.items() if status == 403] == ["Add an agent", "Audit log"]


@pytest.mark.parametrize(
    ("path", "bar", "entry"),
    [
        ("/runs/", "Runs", "Runs"),
        ("/trials/5/", "Runs", "Runs"),
        ("/compare/why/", "Compare", "Why they differ"),
        ("/plans/ready/some/", "Plans", "Ready plans"),
        ("/manual/method/", None, "Method"),
        ("/manual/trends/", None, "All chapters"),
        ("/", None, None),
    ],
)
def test_the_page_where_one_is_is_marked(path: str, bar: str | None, entry: str | None) -> None:
    in_bar, in_menu = menu.nearest(path, menu.bar()), menu.nearest(path, menu.entries())
    assert (in_bar.text if in_bar else None, in_menu.text if in_menu else None) == (bar, entry)
