"""The plan form makes the mapping that the TOML makes."""

from __future__ import annotations

import re
from html.parser import HTMLParser
from typing import Any

import pytest
from django.http import QueryDict
from django.test import Client

from results import models
from results.domain.plan import from_mapping, read, to_toml
from tests import factories
from tests.page_text import page_text
from tests.webapp.pages.test_plans import FORM, problems
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
    shown = page_text(member.get(f"/plans/{stored.pk}/edit/"))
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


def shown(client: Client, **posted: str) -> set[str]:
    """Names of the workload's inputs after a select was changed, as htmx asks for them."""
    answer = client.post("/plans/preview/", posted, headers={"HX-Request": "true", "HX-Target": "plan-fields"})
    return set(re.findall(r'name="parameters\.(\w+)"', page_text(answer)))


def test_another_workload_shows_its_own_parameters_and_no_other(member: Client) -> None:
    workloads = kinds().workloads
    for name, spec in workloads.items():
        names = shown(member, **{"workload": name, "workload-was": "pgbench", "parameters.fillfactor": "90"})
        always = {parameter.name for parameter in spec.parameters if not parameter.only_with}
        assert always <= names <= {parameter.name for parameter in spec.parameters}


def test_a_parameter_is_shown_only_with_the_value_that_gives_it_meaning(member: Client) -> None:
    queries = shown(member, **{"workload": "script", "workload-was": "script", "parameters.form": "queries"})
    pgbench = shown(member, workload="script")
    assert ("passes" in queries, "protocol" in queries, "headline" in queries) == (True, False, False)
    assert ("passes" in pgbench, "protocol" in pgbench, "headline" in pgbench) == (False, True, False)
    varied = shown(member, **{"workload": "script", "factor-name": "form", "factor-value": "queries, pgbench"})
    assert {"passes", "protocol", "headline"} <= varied


def test_when_and_how_late_is_asked_only_of_a_topology_that_loses_its_primary(member: Client) -> None:
    def fields_shown(**changes: str) -> set[str]:
        posted = {"workload": "ledger", "topology": "streaming", **changes}
        answer = member.post("/plans/preview/", posted, headers={"HX-Request": "true", "HX-Target": "plan-fields"})
        return set(re.findall(r'name="topology_parameters\.(\w+)"', page_text(answer)))

    later = {"failover_at_s", "promote_after_s"}
    assert "failover" in fields_shown() and not later & fields_shown()
    assert later <= fields_shown(**{"topology_parameters.failover": "kill"})
    assert later <= fields_shown(**{"factor-name": "topology.failover", "factor-value": "none, kill"})


def test_what_means_nothing_after_a_change_is_dropped_and_what_is_common_kept(member: Client) -> None:
    posted = {
        "workload": "script",
        "workload-was": "script",
        "parameters.form": "pgbench",
        "parameters.passes": "9",
        "parameters.clients": "8",
        "parameters.scale": "4",
        "parameters.text": "SELECT 1;",
    }
    answer = member.post("/plans/preview/", posted, headers={"HX-Request": "true", "HX-Target": "plan-fields"})
    text = page_text(answer)
    assert 'name="parameters.passes"' not in text
    for kept in ('name="parameters.clients" value="8"', 'name="parameters.scale" value="4"', "SELECT 1;</textarea>"):
        assert kept in text
    assert 'name="workload-was" value="script"' in text


def test_the_size_of_one_workloads_data_is_not_taken_for_anothers(member: Client) -> None:
    posted = {
        "workload": "script",
        "workload-was": "pgbench",
        "parameters.scale": "5000",
        "parameters.clients": "8",
        "parameters.protocol": "prepared",
    }
    answer = member.post("/plans/preview/", posted, headers={"HX-Request": "true", "HX-Target": "plan-fields"})
    text = page_text(answer)
    assert "5000" not in text
    assert 'name="parameters.clients" value="8"' in text
    assert '<option value="prepared" selected>' in text


def test_a_value_that_means_nothing_in_a_stored_plan_is_shown_all_the_same(member: Client) -> None:
    plan = factories.stored_plan(workload="script", parameters={"text": "SELECT 1;", "passes": 7})
    assert 'name="parameters.passes" value="7"' in page_text(member.get(f"/plans/{plan.pk}/edit/"))


def test_what_is_wrong_with_a_script_stands_beside_its_field(member: Client) -> None:
    factories.agent()
    posted = FORM | {
        "workload": "script",
        "parameters.scale": "1",
        "parameters.text": "-- script: a\nSELECT 1;\n-- script: a\nSELECT 2;",
    }
    answer = member.post("/plans/add/", posted)
    assert answer.status_code == 422
    assert [(p["field"], p["what"]) for p in problems(page_text(answer))] == [
        ("parameters.text", "There are two called 'a'.")
    ]


def test_only_scripts_of_a_workload_are_uploaded(member: Client) -> None:
    text = page_text(member.get("/plans/add/"))
    assert 'data-upload-into="parameters.setup_script"' in text
    assert 'data-upload-into="description"' not in text


def test_the_form_says_where_the_duration_is_not_used(member: Client) -> None:
    message = "measures until its work is done"
    for posted, reported in (
        ({"workload": "pgbench"}, False),
        ({"workload": "pgbench", "parameters.transactions": "5"}, True),
        ({"workload": "pgbench", "parameters.transactions": "many"}, False),
        ({"workload": "script"}, False),
        ({"workload": "script", "parameters.form": "queries"}, True),
        ({"workload": "nothing"}, False),
    ):
        assert (message in fields_after(member, posted)) == reported, posted


def test_the_form_says_which_part_of_a_profile_runs_for_the_duration(member: Client) -> None:
    profile = {"workload": "access_method"}
    assert "only its step tpcb runs for the duration" in fields_after(member, profile)
    assert "the duration is not used" not in fields_after(member, profile)
    assert "the duration is not used" in fields_after(member, profile | {"parameters.tpcb": "false"})


def fields_after(member: Client, posted: dict[str, str]) -> str:
    """The form's fields, anew for what is chosen."""
    headers = {"HX-Request": "true", "HX-Target": "plan-fields"}
    return page_text(member.post("/plans/preview/", posted, headers=headers))


def options_of(client: Client, field: str, language: str) -> list[str]:
    page = client.get("/plans/add/", headers={"Accept-Language": language}).content.decode()
    chooser = page.partition(f'id="{field}"')[2].partition("</select>")[0]
    options = re.findall(r"<option[^>]*>(.*?)</option>", chooser, re.DOTALL)
    return [" ".join(text.split()) for text in options]


def test_workloads_and_topologies_are_offered_by_what_they_are_called(member: Client) -> None:
    english, japanese = options_of(member, "topology", "en"), options_of(member, "topology", "ja")
    assert english == sorted(english, key=str.casefold)
    assert english[:4] == ["Cascading replication", "Endpoints of a cluster", "Logical replication", "pgpool-II"]
    assert japanese == [
        "pgpool-II",
        "postgres_fdwによるシャーディング",
        "カスケードレプリケーション",
        "クラスタのエンドポイント",
        "ストリーミングレプリケーション",
        "単一サーバ",
        "論理レプリケーション",
    ]
    workloads = options_of(member, "workload", "en")
    assert workloads == sorted(workloads, key=str.casefold)
    assert options_of(member, "workload", "ja")[-3:] == ["台帳", "追記", "独自のスクリプト・クエリ・コマンド"]
