"""The plan form makes the mapping that the TOML makes."""

from __future__ import annotations

from html.parser import HTMLParser
from typing import Any

import pytest
from django.http import QueryDict
from django.test import Client

from results import models
from results.plan import from_mapping, read, to_toml
from tests import factories
from webapp.forms.levels import read_exclude, read_levels, typed, write_exclude, write_levels
from webapp.forms.plan import mapping_of
from workers.registry import kinds

PLANS: dict[str, dict[str, Any]] = {
    "small": factories.mapping(),
    "eight factors": factories.mapping(
        name="Everything that anybody ever asked about, with a rather long name 定点観測",
        description='Lines\n\nand "quotes", <tags> & more',
        factors={
            "installation": ["16", "18"],
            "clients": [1, 4],
            "protocol": ["simple", "prepared"],
            "unlogged": [True, False],
            "setting.work_mem": ["4MB", "64MB"],
            "setting.random_page_cost": ["1.1", "4"],
            "access_method": ["", "heap2"],
            "script": ["select-only@9, simple-update@1", "tpcb-like"],
        },
        exclude=[
            {"clients": "4", "installation": "16"},
            {"script": "select-only@9, simple-update@1", "unlogged": "true"},
        ],
    ),
    "composite levels": factories.mapping(
        factors={
            "installation": ["16"],
            "size": [
                {"label": "small, in memory", "values": {"scale": 10, "setting.shared_buffers": "1GB"}},
                {"label": "large", "values": {"scale": 1000, "setting.shared_buffers": "8GB"}},
            ],
            "clients": [1],
        }
    ),
    "settings and lists": factories.mapping(
        settings={"shared_buffers": "1GB", "autovacuum": "off", "pg_stat_statements.track": "all"},
        initdb=["--data-checksums", "--wal-segsize=64"],
        collectors=["sar", "latency_log"],
        required_collectors=["sar"],
        agents={"primary": "db1", "client": "load-1"},
        parameters={
            "script": "custom",
            "custom_script": "\\set a random(1, 9)\nSELECT :a;\n",
            "rate": 100.5,
            "connect": True,
        },
        warmup_s=2.5,
        threads="4",
        data="template",
        cache="as-found",
    ),
}


class Inputs(HTMLParser):
    """What a browser would send of the form #plan."""

    def __init__(self) -> None:
        super().__init__()
        self.sent = QueryDict(mutable=True)
        self.inside = False
        self.select = self.area = ""
        self.first: str | None = None
        self.text = ""

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        given = dict(attrs)
        if tag == "form" and given.get("id") == "plan":
            self.inside = True
        if not self.inside:
            return
        name = given.get("name") or ""
        if (tag == "input" and given.get("type") != "checkbox") or (tag == "input" and "checked" in given):
            self.sent.appendlist(name, given.get("value") or "")
        elif tag == "select":
            self.select, self.first = name, None
        elif tag == "option" and self.select:
            value = given.get("value") or ""
            if self.first is None or "selected" in given:
                self.first = value
        elif tag == "textarea":
            self.area, self.text = name, ""

    def handle_data(self, data: str) -> None:
        self.text += data

    def handle_endtag(self, tag: str) -> None:
        if tag == "form":
            self.inside = False
        elif tag == "select" and self.select:
            self.sent.appendlist(self.select, self.first or "")
            self.select = ""
        elif tag == "textarea" and self.area:
            self.sent.appendlist(self.area, self.text.removeprefix("\n").replace("\n", "\r\n"))
            self.area = ""


def posted(text: str) -> QueryDict:
    reader = Inputs()
    reader.feed(text)
    reader.sent.pop("csrfmiddlewaretoken", None)
    return reader.sent


@pytest.mark.parametrize("name", PLANS)
def test_a_plan_goes_through_the_form_unchanged(name: str, member: Client) -> None:
    for agent in ("db1", "load-1"):
        factories.agent(agent)
    plan = from_mapping(PLANS[name], kinds())
    stored = factories.stored_plan(**PLANS[name])
    shown = member.get(f"/plans/{stored.pk}/edit/").content.decode()
    assert from_mapping(mapping_of(posted(shown), kinds()), kinds()).hash == plan.hash


@pytest.mark.parametrize("name", PLANS)
def test_export_and_import_give_the_same_plan(name: str, member: Client) -> None:
    stored = factories.stored_plan(**PLANS[name])
    text = member.get(f"/plans/{stored.pk}/plan.toml").content.decode()
    stored.delete()
    member.post("/plans/import/", {"toml": text})
    again = models.Plan.objects.get()
    assert again.hash == from_mapping(PLANS[name], kinds()).hash
    assert again.toml == to_toml(read(text, kinds()))


@pytest.mark.parametrize(
    ("levels", "text"),
    [
        (["a", "b"], "a, b"),
        ([""], '""'),
        (["", "heap2"], '"", heap2'),
        (["a, b", "c"], '"a, b", c'),
        (['say "hi"'], '"say ""hi"""'),
        (["[x"], '"[x"'),
        ([], ""),
    ],
)
def test_levels_are_written_and_read(levels: list[str], text: str) -> None:
    assert write_levels(levels) == text
    assert read_levels(None, text) == levels


def test_composite_levels_are_toml() -> None:
    levels = [{"label": 'a "b"', "values": {"setting.x": "1", "scale": 4, "unlogged": True}}, 7]
    assert read_levels(None, write_levels(levels)) == levels
    assert read_levels(None, "[{ label = ") == "[{ label = "


def test_what_cannot_be_typed_stays_text_for_the_one_validation() -> None:
    clients = next(p for p in kinds().workloads["pgbench"].parameters if p.name == "clients")
    assert typed(clients, "four") == "four"
    assert typed(clients, "0") == 0
    assert typed(clients, "nan") == "nan"


def test_left_out_combinations_are_lines() -> None:
    entries = [{"clients": "4", "script": "a, b"}, {"x": "1"}]
    assert read_exclude(write_exclude(entries)) == entries
