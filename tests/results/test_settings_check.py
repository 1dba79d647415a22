"""A plan's settings are held against those of the installations that it chooses, before anything starts."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext
from django.utils import timezone

from results import models, runs, stored_plans
from results.agents import record_contact
from results.domain.errors import PlanError
from results.domain.plan import Plan
from results.preview import preview
from tests import factories
from workers.registry import kinds

pytestmark = pytest.mark.django_db

OLD, NEW = "PostgreSQL postgresql-16.9 on db1", "PostgreSQL postgresql-18.1 on db1"
ONE: dict[str, Any] = {"installation": "16", "factors": {"clients": [1, 4]}}
TWO: dict[str, Any] = {"factors": {"installation": ["16", "18"]}}
WAYS: dict[str, Callable[[Plan], object]] = {
    "preview": lambda plan: preview(plan, kinds()),
    "run": lambda plan: runs.create_run(plan, kinds(), actor="tests"),
    "store": lambda plan: stored_plans.save_plan(plan, kinds(), user=None, actor="tests"),
}


@pytest.fixture(autouse=True)
def _agent(db: None) -> None:
    factories.agent()
    factories.settings_known()


def problems(way: str = "preview", **changes: Any) -> list[tuple[str, str, str]]:
    try:
        WAYS[way](factories.a_plan(**changes))
    except PlanError as error:
        return [(problem.field, problem.what, problem.todo) for problem in error.problems]
    return []


@pytest.mark.parametrize("way", WAYS)
def test_a_name_that_is_wrong_is_refused_with_the_one_that_was_meant(way: str) -> None:
    wrong = ("settings.shared_bufers", f"There is no setting shared_bufers in {OLD}.", "Did you mean shared_buffers?")
    assert problems(way, **ONE, settings={"shared_bufers": "lots"}) == [wrong]
    assert not models.Plan.objects.exists() and not models.Run.objects.exists()


@pytest.mark.parametrize("way", WAYS)
def test_a_value_that_cannot_be_is_refused(way: str) -> None:
    text = "shared_buffers is a number with or without a unit of B, kB, MB, GB, TB, not 'lots'"
    [(field, what, _)] = problems(way, **TWO, settings={"shared_buffers": "lots"})
    assert (field, what) == ("settings.shared_buffers", f"{text} in {OLD}, {NEW}.")


def test_settings_that_are_right_are_taken() -> None:
    right = {"Shared_Buffers": "256MB", "timezone": "Asia/Tokyo", "fsync": "false", "huge_pages": "try"}
    for way in WAYS:
        assert problems(way, **TWO, settings=right) == []


def test_settings_of_extensions_pass() -> None:
    assert problems(**ONE, settings={"pg_stat_statements.track": "all", "my.own": "x"}) == []


def test_each_level_of_a_factor_is_checked_and_named_by_its_factor() -> None:
    factors = {"installation": ["16"], "setting.work_mem": ["4MB", "some", "1kB"]}
    assert [(field, what.partition(",")[0]) for field, what, _ in problems(factors=factors)] == [
        ("factors.setting.work_mem", "work_mem is a number with or without a unit of B"),
        ("factors.setting.work_mem", "work_mem is at least 64kB"),
    ]
    machine = [{"label": "small", "values": {"setting.shared_bufers": "1GB"}}]
    [(field, _, todo)] = problems(factors={"installation": ["16"], "machine": machine})
    assert (field, todo) == ("factors.machine", "Did you mean shared_buffers?")


def test_a_setting_that_only_a_newer_version_has_is_refused_for_the_older_one() -> None:
    [(field, what, todo)] = problems(**TWO, settings={"io_method": "sync"})
    assert (field, what) == ("settings.io_method", f"There is no setting io_method in {OLD}.")
    assert todo == f"{NEW} has it: set it in a level together with that installation."
    together = [
        {"label": "16", "values": {"installation": "16"}},
        {"label": "18, worker", "values": {"installation": "18", "setting.io_method": "worker"}},
    ]
    assert problems(factors={"build": together}) == []


def test_settings_that_initdb_is_told_are_checked() -> None:
    [(field, what, _)] = problems(**ONE, initdb=["--data-checksums", "--set=work_men=4MB", "-cwork_mem=4MB"])
    assert (field, what) == ("initdb", f"There is no setting work_men in {OLD}.")


def test_where_an_installation_is_not_known_nothing_is_refused_and_the_preview_says_so() -> None:
    models.InstallationSettings.objects.filter(installation__name="postgresql-16.9").delete()
    assert problems(**ONE, settings={"shared_bufers": "lots"}) == []
    seen = preview(factories.a_plan(**ONE, settings={"work_mem": "4MB"}), kinds())
    assert [warning.text for warning in seen.warnings if warning.field == "settings"] == [
        f"The settings that {OLD} has are not known yet: those of the plan are not checked."
    ]
    without = preview(factories.a_plan(**ONE), kinds())
    assert "settings" not in {warning.field for warning in without.warnings}
    [(_, what, _)] = problems(**TWO, settings={"shared_bufers": "lots"})
    assert what == f"There is no setting shared_bufers in {NEW}."


def test_what_a_contact_no_longer_finds_of_an_installation_is_not_known_any_more() -> None:
    agent = models.Agent.objects.get()
    record_contact(agent.pk, factories.contact({"16.9": 160009, "18.1": 180001}), timezone.now())
    assert not models.InstallationSettings.objects.exists()


def test_servers_that_are_not_teitens_are_not_checked() -> None:
    """An endpoint has the settings that its owner gave it; whether they are those of the plan is verified there."""
    outside = {
        "topology": "endpoints",
        "topology_parameters": {"endpoints": "db.example:5432"},
        "settings": {"shared_bufers": "lots"},
        "agents": {"client": "db1"},
    }
    assert problems(**ONE | outside) == []


def test_a_plan_is_stored_before_its_agents_are_there() -> None:
    models.Agent.objects.all().delete()
    assert problems("store", **ONE, settings={"shared_bufers": "lots"}) == []


def test_checking_costs_one_query_and_none_without_settings() -> None:
    def queries(**changes: Any) -> int:
        with CaptureQueriesContext(connection) as made:
            preview(factories.a_plan(**TWO, **changes), kinds())
        return len(made)

    plain = queries()
    assert queries(settings={"work_mem": "4MB"}) == queries(settings={"work_mem": "4MB", "jit": "off"}) == plain + 1


@pytest.mark.parametrize(
    ("name", "value", "option"),
    [
        ("wal_compression", "lz4", "--with-lz4"),
        ("wal_compression", "zstd", "--with-zstd"),
        ("default_toast_compression", "lz4", "--with-lz4"),
        ("io_method", "io_uring", "--with-liburing"),
    ],
)
def test_what_a_build_was_made_without_is_refused_with_the_option_that_it_takes(
    name: str, value: str, option: str
) -> None:
    """The recorded builds have none of these."""
    newer = {"factors": {"installation": ["18"]}}
    for way in WAYS:
        [(field, what, todo)] = problems(way, **newer, settings={name: value})
        assert field == f"settings.{name}" and what.endswith(f"not {value!r} in {NEW}.")
        assert todo == f"It takes a PostgreSQL built with {option}."
    assert problems(**newer, settings={name: "sync" if name == "io_method" else "pglz"}) == []


def test_a_build_that_has_it_is_named() -> None:
    able = models.InstallationSettings.objects.get(installation__name="postgresql-18.1")
    able.lines = [line.replace("|pglz,on,off", "|pglz,lz4,on,off") for line in able.lines]
    able.save()
    [(_, what, todo)] = problems(**TWO, settings={"wal_compression": "lz4"})
    assert OLD in what and NEW not in what
    assert todo == f"{NEW} has it: set it in a level together with that installation."
