"""From nothing to a queued run, and a folder of queries into the form, in a browser."""

from __future__ import annotations

from pathlib import Path

import pytest
from playwright.sync_api import expect

from results import models
from tests import factories
from tests.e2e.conftest import Watched

NOT_RIGHT = "Failed to load resource: the server responded with a status of 422"


@pytest.mark.smoke
def test_a_newcomer_chooses_a_ready_plan_a_size_and_agents_and_runs_it(watched: Watched, agent: models.Agent) -> None:
    factories.agent("db2", {"17.5": 170005, "18.1": 180001})
    models.Agent.objects.update(allows_code=True)
    watched.sign_in()
    page = watched.open("/")
    page.locator("main").get_by_role("link", name="Ready plans").click()
    page.click("text=Queries of your own")
    expect(page.locator("h1")).to_contain_text("Queries of your own")
    expect(page.locator("#compared")).to_contain_text("postgresql-16.9")
    page.select_option("[id='agents.primary']", "db2")
    expect(page.locator("#compared")).to_contain_text("postgresql-17.5")
    expect(page.locator("#compared")).not_to_contain_text("postgresql-16.9")
    page.uncheck("text=postgresql-18.1")
    page.fill("#size", "none")
    page.click("text=Open in the plan form")
    expect(page.locator('[data-problem-for="size"]')).to_contain_text("'none' is not a whole number")
    expect(page.locator("#compared [value='postgresql-18.1']")).not_to_be_checked()
    watched.troubles.remove(f"{NOT_RIGHT} (Unprocessable Entity)")
    page.fill("#size", "7")
    page.click("text=Open in the plan form")
    expect(page.locator("[id='parameters.scale']")).to_have_value("7")
    expect(page.locator("#preview")).to_contain_text("5 trials")
    expect(page.locator("#preview")).to_contain_text("a guess")
    page.click("text=Save and run")
    expect(page.locator("h1")).to_contain_text("0 of 5 trials")
    run = models.Run.objects.get()
    assert (run.state, run.plan.name) == ("running", "Queries of your own")
    assert {t.state for t in run.trials.all()} == {"waiting"}
    spec = run.configurations.get().spec
    assert (spec["installation"]["name"], spec["agents"]["primary"]) == ("postgresql-17.5", "db2")


def test_each_workload_shows_its_own_parameters_as_it_is_chosen(watched: Watched, agent: models.Agent) -> None:
    watched.sign_in()
    page = watched.open("/plans/add/")
    page.fill("#name", "Mine")
    page.fill("[id='parameters.scale']", "5000")
    page.select_option("#workload", "script")
    expect(page.locator("[id='parameters.form']")).to_be_visible()
    expect(page.locator("[id='parameters.fillfactor']")).to_have_count(0)
    expect(page.locator("[id='parameters.scale']")).to_have_value("")
    expect(page.locator("#name")).to_have_value("Mine")
    expect(page.locator("[id='parameters.passes']")).to_have_count(0)
    page.select_option("[id='parameters.form']", "queries")
    expect(page.locator("[id='parameters.passes']")).to_be_visible()
    expect(page.locator("[id='parameters.protocol']")).to_have_count(0)
    expect(page.locator('[data-problem-for="parameters.text"]')).to_contain_text("The script is empty.")
    page.fill("[id='parameters.text']", "echo a 1")
    page.select_option("[id='parameters.form']", "command")
    expect(page.locator("#preview")).to_contain_text("This is code of the plan's own")


@pytest.fixture
def queries(tmp_path: Path) -> Path:
    folder = tmp_path / "queries"
    folder.mkdir()
    content = {
        "10-last.sql": "SELECT 10",
        "2-second.sql": "SELECT 2;\r\n\r\n",
        "01 first.sql": "SELECT 1;\n",
        "README.md": "no",
    }
    for name, text in content.items():
        (folder / name).write_bytes(text.encode())
    return folder


JOINED = "-- file: 01-first\nSELECT 1;\n-- file: 2-second\nSELECT 2;\n-- file: 10-last\nSELECT 10\n"


def test_files_and_folders_are_joined_in_the_order_of_their_numbers(
    watched: Watched, agent: models.Agent, queries: Path
) -> None:
    watched.sign_in()
    page = watched.open("/plans/add/")
    page.select_option("#workload", "script")
    page.select_option("[id='parameters.form']", "queries")
    expect(page.locator("[id='parameters.passes']")).to_be_visible()
    area = page.locator("[id='parameters.text']")
    several, folder = page.locator("[data-upload-into='parameters.text']").all()
    several.set_input_files([queries / name for name in ("10-last.sql", "2-second.sql", "01 first.sql")])
    expect(area).to_have_value(JOINED)
    expect(page.locator('[data-problem-for="name"]')).to_contain_text("The plan has no name")
    expect(page.locator('[data-problem-for="parameters.text"]')).to_be_empty()
    several.set_input_files(queries / "2-second.sql")
    expect(area).to_have_value("SELECT 2;\n")
    folder.set_input_files(queries)
    expect(area).to_have_value(JOINED)
    expect(page.locator(".upload output").first).to_contain_text("3 files joined")
    (queries / "2-second.sql").write_bytes(b"SELECT '\xff';")
    several.set_input_files(queries / "2-second.sql")
    expect(page.locator(".upload output").first).to_contain_text("2-second.sql is not UTF-8 text")
    expect(area).to_have_value(JOINED)
