"""manage.py run_plan --ready: a published experiment in one command."""

from __future__ import annotations

import io
from typing import Any

import pytest
from django.core.management import CommandError, call_command

from results import models
from tests import factories

pytestmark = pytest.mark.django_db


def output_of(*words: str) -> str:
    out = io.StringIO()
    call_command("run_plan", *words, "--no-wait", stdout=out)
    return out.getvalue()


def refused(*words: str) -> str:
    with pytest.raises(CommandError) as error:
        output_of(*words)
    assert not models.Run.objects.exists()
    return str(error.value)


@pytest.fixture(autouse=True)
def _agent(db: None) -> None:
    factories.agent()


def spec(run: models.Run) -> list[tuple[Any, Any]]:
    rows = run.configurations.order_by("index")
    return [(row.spec["installation"]["name"], row.spec["parameters"]["scale"]) for row in rows]


def test_a_ready_plan_runs_at_the_size_on_the_installations_that_are_named() -> None:
    words = ("--size", "10", "--agent", "primary=db1", "--installation", "16", "--installation", "postgresql-18.1")
    assert "Queries of your own, 10 trials" in output_of("--ready", "own-queries", *words)
    assert spec(models.Run.objects.get()) == [("postgresql-16.9", 10), ("postgresql-18.1", 10)]


def test_without_more_it_is_a_laptops_and_compares_all_that_the_agent_has() -> None:
    output_of("--ready", "own-queries", "--agent", "primary=db1")
    assert spec(models.Run.objects.get()) == [("postgresql-16.9", 5), ("postgresql-18.1", 5)]


def test_what_is_not_right_is_told() -> None:
    assert "There is no ready plan 'nothing'. There are" in refused("--ready", "nothing", "--agent", "primary=db1")
    assert "own-queries" in refused("--ready", "nothing")
    several = refused("--ready", "own-queries", "--size", "much", "--agent", "pooler=db1")
    assert "size: 'much' is not a whole number." in several
    assert "agents.primary: No agent is chosen." in several
    assert "agents.pooler: There is no role 'pooler'." in several
    assert "builds: This plan compares no builds." in refused(
        "--ready", "own-queries", "--agent", "primary=db1", "--build", "16 heap"
    )


def test_a_file_or_a_ready_plan_and_not_both() -> None:
    assert refused() == refused("x.toml", "--ready", "own-queries") == "Name either a file or a ready plan (--ready)."
    assert refused("x.toml", "--size", "3", "--agent", "primary=db1") == "--size, --agent: only with --ready."
