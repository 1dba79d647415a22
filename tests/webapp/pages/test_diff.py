"""The page that compares what two trials, runs or agents ran in."""

from __future__ import annotations

import re
from datetime import timedelta
from typing import Any

import pytest
from django.test import Client
from django.utils import timezone

from results import models
from results.agents import record_contact
from results.domain.environment.layers import LayerKind
from tests import environments, factories
from tests.page_text import page_text
from tests.results.queries.environment.test_environments import KERNEL
from webapp.pages.diff import TITLES


@pytest.fixture
def run(db: None) -> models.Run:
    """18 on another kernel than 16."""
    made = factories.finished_run()
    environments.run_in_versions(made, v18=environments.layers(18, facts=KERNEL))
    return made


def text_of(client: Client, path: str, status: int = 200, **headers: str) -> str:
    answer = client.get(path, headers=headers)
    assert answer.status_code == status
    return re.sub(r"\s+", " ", re.sub(r"<wbr>", "", page_text(answer)))


def rows(text: str) -> list[list[str]]:
    matches = re.findall(r"<tr class=.*?</tr>", text)
    return [[re.sub(r"<[^>]+>", "", cell).strip() for cell in re.findall(r"<t[hd].*?</t[hd]>", row)] for row in matches]


def test_a_stranger_is_asked_for_two(run: models.Run, stranger: Client, django_assert_num_queries: Any) -> None:
    with django_assert_num_queries(2):
        text = text_of(stranger, "/diff/")
    assert f'<option value="run:{run.pk}">run {run.pk}, 16 against 18</option>' in text
    assert '<option value="agent:db1">' in text
    assert "Fill in both sides" in text_of(stranger, f"/diff/?left=run:{run.pk}")


def test_two_trials_key_by_key(run: models.Run, stranger: Client, django_assert_num_queries: Any) -> None:
    left, right = environments.of_each_version(run)
    with django_assert_num_queries(6):
        text = text_of(stranger, f"/diff/?left=trial:{left}&right=trial:{right}")
    assert '<b class="worse">1 key that matters differs.</b>' in text
    assert "Meant to differ, according to the plans: installation, major, version." in text
    of = {row[-4]: row for row in rows(text)}
    assert of["release"][-3][:3] == "6.1" and of["release"][-2][:3] == "6.8"
    assert of["release"][-1].startswith("matters (!)")
    assert of["data_checksums"][-3:-1] == ["off", "on"]
    assert of["data_checksums"][-1].startswith("default changed (!)")
    assert of["version"][-3:] == ["16.14", "18.4", "as intended Follows from installation."]
    assert "shared_buffers" not in of
    for address in (f"/trials/{left}/", f"/trials/{right}/", f"/diff/?left=trial:{right}&amp;right=trial:{left}"):
        assert f'href="{address}"' in text


def test_all_keys_put_the_settings_of_two_versions_side_by_side(run: models.Run, stranger: Client) -> None:
    left, right = environments.of_each_version(run)
    of = {row[-4]: row for row in rows(text_of(stranger, f"/diff/?left=trial:{left}&right=trial:{right}&show=all"))}
    assert len(of) > 400
    assert of["shared_buffers"][-3:] == ["128MB", "128MB", "same"]
    assert of["io_method"][-3:-1] == ["–", "worker"]


def test_a_search_finds_keys_and_values(run: models.Run, stranger: Client) -> None:
    left, right = environments.of_each_version(run)
    address = f"/diff/?left=trial:{left}&right=trial:{right}"
    assert [row[0] for row in rows(text_of(stranger, f"{address}&q=IO_METHOD"))] == ["io_method"]
    keys = [row[0] for row in rows(text_of(stranger, f"{address}&show=all&q=128MB"))]
    assert "shared_buffers" in keys and "work_mem" not in keys
    nothing = text_of(stranger, f"{address}&q=colour")
    assert "No key and no value that differs contains “colour”." in nothing and "Show all keys" in nothing


def test_a_part_of_the_page_for_htmx(run: models.Run, stranger: Client) -> None:
    left, right = environments.of_each_version(run)
    part = stranger.get(f"/diff/?left=trial:{left}&right=trial:{right}&q=", headers={"HX-Request": "true"})
    assert "<html" not in page_text(part)
    assert part["HX-Push-Url"] == f"/diff/?left=trial:{left}&right=trial:{right}"


def test_runs_are_compared_over_all_their_trials(run: models.Run, stranger: Client) -> None:
    other = factories.finished_run()
    environments.run_in_versions(other)
    text = text_of(stranger, f"/diff/?left=run:{run.pk}&right=run:{other.pk}")
    of = {row[-4]: row for row in rows(text)}
    # one of the run's kernels is not the other's
    assert " / " in of["release"][-3] and " / " not in of["release"][-2]
    assert of["release"][-1].startswith("matters")
    assert "as intended" in of["version"][-1]


def test_agents_are_compared_as_last_contacted(db: None, stranger: Client, django_assert_num_queries: Any) -> None:
    factories.agent("db1")
    second = factories.agent("db2")
    record_contact(second.pk, factories.contact({}, kernel="6.8.0"), timezone.now() + timedelta(seconds=1))
    with django_assert_num_queries(8):
        text = text_of(stranger, "/diff/?left=agent:db1&right=agent:db2")
    of = {row[-4]: row for row in rows(text)}
    assert of["release"][-3:-1] == ["6.1.0", "6.8.0"]
    assert of["name"][-3:-1] == ["db1", "db2"] and of["name"][-1].startswith("noted Another machine.")


def test_a_machine_that_looks_the_same_is_named(db: None, stranger: Client) -> None:
    factories.agent("db2")
    trials = []
    for name in ("db1", "db2"):
        run = factories.finished_run(installation="16", factors={}, agents={"primary": name})
        for trial in environments.done(run):
            environments.ran_in(trial.attempt, environments.layers())
            trials.append(trial.pk)
    text = text_of(stranger, f"/diff/?left=trial:{trials[0]}&right=trial:{trials[-1]}")
    assert "Nothing that matters differs, except what is meant to." in text
    assert [row[-3:-1] for row in rows(text)] == [["db1", "db2"], ["db1", "db2"]]


def test_a_trial_is_held_against_the_machine_as_it_is_now(run: models.Run, stranger: Client) -> None:
    agent = models.Agent.objects.get(name="db1")
    contact = factories.contact({}, kernel="6.12.0")
    record_contact(agent.pk, contact, timezone.now() + timedelta(seconds=1))
    text = text_of(stranger, f"/diff/?left=trial:{environments.of_each_version(run)[0]}&right=agent:db1")
    of = {row[-4]: row for row in rows(text)}
    assert of["release"][-2] == "6.12.0"
    assert "shared_buffers" not in text and "Settings in force" not in text


def test_published_figures_say_that_nothing_is_recorded(run: models.Run, stranger: Client) -> None:
    published = factories.finished_run()
    models.Attempt.objects.filter(run=published).update(environment="")
    published.publication = models.Publication.objects.create(
        slug="report", title="Report of 2019", publisher="PGECons", year=2019, place="table 1", file="x.csv", sha256="0"
    )
    published.save()
    text = text_of(stranger, f"/diff/?left=run:{published.pk}&right=run:{run.pk}")
    assert "No environment is recorded for the left side." in text
    assert "not measured here (Report of 2019): what they ran in is known from their source only" in text
    both = text_of(stranger, f"/diff/?left=run:{published.pk}&right=run:{published.pk}")
    assert "No environment is recorded for either side." in both


def test_a_trial_that_waits_has_nothing_to_compare(db: None, stranger: Client) -> None:
    trial = factories.run().trials.first()
    assert trial is not None
    text = text_of(stranger, f"/diff/?left=trial:{trial.pk}&right=trial:{trial.pk}")
    assert "no trial that came as far as a running server" in text


@pytest.mark.parametrize(
    ("reference", "status"),
    [
        ("trial:999999", 404),
        ("run:999999", 404),
        ("agent:nobody", 404),
        ("trial:" + "9" * 25, 400),
        ("trial:x", 400),
        ("trial:²", 400),
        ("12", 400),
        ("plan:1", 400),
    ],
)
def test_what_is_not_there_is_said(reference: str, status: int, run: models.Run, stranger: Client) -> None:
    text = text_of(stranger, f"/diff/?left=run:{run.pk}&right={reference}", status)
    assert ("Write trial:12, run:3 or agent:db1." in text) == (status == 400)


def test_where_reading_is_closed_a_stranger_signs_in(run: models.Run, stranger: Client, settings: Any) -> None:
    settings.TEITEN_OPEN_READING = False
    assert stranger.get(f"/diff/?left=run:{run.pk}&right=run:{run.pk}").status_code == 302


@pytest.mark.parametrize(("page", "side"), [("/trials/{}/", "trial"), ("/runs/{}/", "run")])
def test_trials_and_runs_lead_there(page: str, side: str, run: models.Run, stranger: Client) -> None:
    key = environments.of_each_version(run)[0] if side == "trial" else run.pk
    assert f'href="/diff/?left={side}:{key}"' in text_of(stranger, page.format(key))
    assert 'href="/diff/?left=agent:db1"' in text_of(stranger, "/agents/db1/")


def test_the_comparison_has_it_in_one_line(run: models.Run, stranger: Client) -> None:
    text = text_of(stranger, f"/compare/?run={run.pk}")
    line = re.sub(
        r"<[^>]+>", "", next(text for text in re.findall(r"<summary>.*?</summary>", text) if "intended" in text)
    )
    assert line.startswith("differs as intended installation postgresql-16.9 → postgresql-18.1 · same 4")
    assert re.search(r"also differs kernel 6\.1\S* → 6\.8\S* \(!\)", line)
    assert "note data_checksums off → on (!)" in line
    assert line.endswith("no verdict in 2 of 2 cells")
    left, right = re.findall(r"/diff/\?left=trial:(\d+)&amp;right=trial:(\d+)", text)[0]
    majors = [models.Trial.objects.get(pk=pk).configuration.dimensions["major"] for pk in (left, right)]
    assert majors == ["16", "18"]


def test_a_comparison_of_what_nobody_recorded_says_so(run: models.Run, stranger: Client) -> None:
    models.Attempt.objects.update(environment="")
    assert "The environment of these trials is not recorded" in text_of(stranger, f"/compare/?run={run.pk}")


def test_the_trial_page_leaves_the_builds_defaults_to_it(run: models.Run, stranger: Client) -> None:
    assert "effective_io_concurrency" not in text_of(stranger, f"/trials/{environments.of_each_version(run)[0]}/")


def test_every_kind_of_layer_has_its_heading() -> None:
    assert set(LayerKind) <= set(TITLES)
