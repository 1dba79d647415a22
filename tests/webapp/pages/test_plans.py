"""Plans: list, page, form, preview, import, schedule."""

from __future__ import annotations

import json
import re
from typing import Any

from django.core.files.uploadedfile import SimpleUploadedFile
from django.test import Client

from results import models, stored_plans
from tests import factories
from tests.page_text import page_text
from workers.registry import kinds
from workers.tasks import start_plan

FORM = {
    "name": "From the form",
    "workload": "pgbench",
    "topology": "single",
    "agents.primary": "db1",
    "duration_s": "5",
    "factor-name": ["installation", "clients", ""],
    "factor-value": ["16, 18", "1, 4", ""],
    "setting-name": ["work_mem"],
    "setting-value": ["8MB"],
    "collectors": ["latency_log"],
}


TOML = "name = 'pasted'\ninstallation = '16'\n[agents]\nprimary = 'db1'\n[settings]\n"


def problems(text: str) -> list[dict[str, str]]:
    matches = re.findall(r'<script id="problems" type="application/json">(.*?)</script>', text)
    return list(json.loads(matches[0]))


def test_the_list_is_two_queries(stranger: Client, db: None, django_assert_max_num_queries: Any) -> None:
    plan = factories.stored_plan(description="Does 18 pay?")
    factories.run(stored=plan)
    with django_assert_max_num_queries(2):
        text = page_text(stranger.get("/plans/"))
    assert "Does 18 pay?" in text
    assert "New plan" not in text


def test_without_plans_it_says_what_to_do(db: None, stranger: Client, member: Client) -> None:
    assert "Sign in to make one." in page_text(stranger.get("/plans/"))
    assert "make one in the form" in page_text(member.get("/plans/"))


def test_a_plan_shows_its_runs_and_its_toml(db: None, stranger: Client, django_assert_max_num_queries: Any) -> None:
    plan = factories.stored_plan()
    run = factories.run(stored=plan)
    with django_assert_max_num_queries(5):
        text = page_text(stranger.get(f"/plans/{plan.pk}/"))
    assert f"/runs/{run.pk}/" in text
    assert "[factors]" in text
    assert "Run now" not in text


def test_the_form_suggests_the_ready_agent_and_its_versions(member: Client, django_assert_max_num_queries: Any) -> None:
    factories.agent()
    with django_assert_max_num_queries(10):
        text = page_text(member.get("/plans/add/"))
    assert "postgresql-16.9, postgresql-18.1" in text
    assert 'name="parameters.clients"' in text


def test_the_form_stores_a_plan(member: Client) -> None:
    factories.agent()
    answer = member.post("/plans/add/", FORM)
    plan = models.Plan.objects.get(name="From the form")
    assert answer["Location"] == f"/plans/{plan.pk}/"
    assert 'work_mem = "8MB"' in plan.toml


def test_the_form_stores_and_runs(member: Client) -> None:
    factories.agent()
    answer = member.post("/plans/add/", FORM | {"run": "1"})
    run = models.Run.objects.get()
    assert answer["Location"] == f"/runs/{run.pk}/"
    assert run.trials.count() == 12


def test_problems_stand_beside_their_fields_and_what_was_typed_stays(member: Client) -> None:
    factories.agent()
    wrong = FORM | {"parameters.scale": "many", "factor-value": ["16, 18", "1, zero", ""], "name": ""}
    answer = member.post("/plans/add/", wrong)
    assert answer.status_code == 422
    text = page_text(answer)
    assert {problem["field"] for problem in problems(text)} == {"name", "parameters.scale", "factors.clients"}
    for place in ("name", "parameters.scale", "factors.*"):
        assert f'data-problem-for="{place}"' in text
    assert 'value="many"' in text
    assert "1, zero" in text
    assert not models.Plan.objects.exists()


def test_a_name_that_is_taken_is_a_problem_of_the_name(member: Client) -> None:
    factories.agent()
    factories.stored_plan(name="From the form")
    answer = member.post("/plans/add/", FORM)
    assert [problem["field"] for problem in problems(page_text(answer))] == ["name"]


def test_the_preview_shows_the_matrix_before_anything_runs(member: Client, django_assert_max_num_queries: Any) -> None:
    factories.agent()
    with django_assert_max_num_queries(10):
        text = page_text(member.post("/plans/preview/", FORM))
    assert "12 trials" in text
    assert "16 · clients 4" in text
    assert "3 replicates show only differences of 4.7 times the noise, 5 of 2.4" in text
    assert not models.Plan.objects.exists()
    assert not models.Run.objects.exists()


def test_the_preview_says_what_the_blocks_show_by_the_noise_of_an_aa_run(member: Client) -> None:
    run = factories.aa_run(0.02)
    text = page_text(member.post("/plans/preview/", FORM | {"replicates": "8"}))
    assert f'<a href="/runs/{run.pk}/">A/A run {run.pk}</a>' in text
    assert "in four of five cases" in text
    two = page_text(member.post("/plans/preview/", FORM | {"replicates": "2"}))
    assert "in four of five cases" not in two and "the smallest that matters" in two


def test_one_click_makes_the_aa_plan_of_a_run_or_a_plan(member: Client) -> None:
    run = factories.finished_run()
    stored = factories.stored_plan(name="A/A of 16 against 18")
    for source in (f"aa-run={run.pk}", f"aa-plan={stored.pk}"):
        text = page_text(member.get(f"/plans/add/?{source}"))
        assert "A again" in text
        assert 'name="replicates" value="5"' in text or 'value="5"' in text
    assert "A/A of 16 against 18 (2)" in page_text(member.get(f"/plans/add/?aa-run={run.pk}"))
    assert f"/plans/add/?aa-run={run.pk}" in page_text(member.get(f"/runs/{run.pk}/"))
    assert f"/plans/add/?aa-plan={stored.pk}" in page_text(member.get(f"/plans/{stored.pk}/"))


def test_the_aa_plan_of_nothing_is_not_found_and_a_stranger_signs_in_first(member: Client, stranger: Client) -> None:
    assert member.get(f"/plans/add/?aa-run={factories.NO_ID}").status_code == 404
    assert member.get("/plans/add/?aa-plan=x").status_code == 404
    assert stranger.get("/plans/add/?aa-run=1").status_code == 302


def test_the_preview_names_an_agent_that_is_not_there(member: Client) -> None:
    text = page_text(member.post("/plans/preview/", FORM | {"agents.primary": "nobody"}))
    assert all(problem["field"].startswith("agents.") for problem in problems(text))
    assert "There is no agent &#x27;nobody&#x27;" in text


def test_an_access_method_that_no_installation_has_is_refused_in_the_preview_and_by_every_way_to_run(
    member: Client,
) -> None:
    factories.agent()
    lacking = "PostgreSQL postgresql-16.9 on db1 has no table access method zheap."
    typed = FORM | {"access_method": "zheap"}
    assert problems(page_text(member.post("/plans/preview/", typed)))[0]["what"] == lacking
    stored_and_run = member.post("/plans/add/", typed | {"run": "1"})
    assert (stored_and_run.status_code, problems(page_text(stored_and_run))[0]["field"]) == (422, "access_method")
    of_toml = member.post("/plans/import/", {"toml": factories.stored_plan(access_method="zheap").toml, "open": "1"})
    assert 'value="zheap"' in of_toml.content.decode()
    refused = member.post(f"/plans/{models.Plan.objects.latest('pk').pk}/run/")
    assert (refused.status_code, lacking in page_text(refused)) == (422, True)
    assert not models.Run.objects.exists()


def test_the_fields_follow_the_workload(member: Client) -> None:
    answer = member.post("/plans/preview/", FORM, headers={"HX-Request": "true", "HX-Target": "plan-fields"})
    assert 'name="parameters.clients"' in page_text(answer)
    unknown = member.post("/plans/preview/", FORM | {"workload": "x"}, headers={"HX-Target": "plan-fields"})
    assert "x (unknown)" in page_text(unknown)


def test_a_clone_starts_from_the_plan(member: Client) -> None:
    plan = factories.stored_plan()
    text = page_text(member.get(f"/plans/add/?from={plan.pk}"))
    assert 'value="16 against 18 (copy)"' in text
    assert member.get(f"/plans/add/?from={factories.NO_ID}").status_code == 404


def test_an_edit_replaces_the_plan(member: Client) -> None:
    factories.agent()
    plan = factories.stored_plan()
    member.post(f"/plans/{plan.pk}/edit/", FORM)
    plan.refresh_from_db()
    assert plan.name == "From the form"


def test_a_file_is_imported(member: Client) -> None:
    text = factories.stored_plan().toml
    models.Plan.objects.all().delete()
    member.post("/plans/import/", {"file": SimpleUploadedFile("plan.toml", text.encode())})
    assert models.Plan.objects.get().toml == text


def test_a_wrong_file_says_what_is_wrong_with_every_field(member: Client) -> None:
    answer = member.post("/plans/import/", {"toml": 'name = "x"\nnonsense = 1\nreplicates = "three"\n'})
    assert answer.status_code == 422
    text = page_text(answer)
    for expected in ("nonsense", "replicates", "installation", "agents"):
        assert f"<code>{expected}</code>" in text
    assert "nonsense = 1" in text
    assert "The file is not TOML" in member.post("/plans/import/", {"toml": "= ="}).content.decode()


def test_a_file_can_be_opened_in_the_form(member: Client) -> None:
    text = member.post("/plans/import/", {"toml": 'name = "half"\n', "open": "1"}).content.decode()
    assert 'value="half"' in text
    assert not models.Plan.objects.exists()


def test_it_runs_now_later_and_by_itself(member: Client) -> None:
    factories.agent()
    plan = factories.stored_plan()
    member.post(f"/plans/{plan.pk}/run/")
    assert models.Run.objects.get().state == "running"
    member.post(f"/plans/{plan.pk}/run/", {"start_at": "2999-01-31T04:00+02:00"})
    later = models.Run.objects.latest("pk")
    assert (later.state, f"{later.start_at:%Y-%m-%d %H:%M %Z}") == ("scheduled", "2999-01-31 02:00 UTC")
    answer = member.post(f"/plans/{plan.pk}/schedule/", {"cron": "0 2 * * 6"}, follow=True)
    assert "It runs at “0 2 * * 6”" in page_text(answer)
    assert member.post(f"/plans/{plan.pk}/schedule/", {"cron": "whenever"}).status_code == 422
    assert member.post(f"/plans/{plan.pk}/run/", {"start_at": "soon"}).status_code == 422


def test_a_plan_for_an_agent_that_is_gone_does_not_run_and_says_why(member: Client) -> None:
    plan = factories.stored_plan()
    answer = member.post(f"/plans/{plan.pk}/run/")
    assert answer.status_code == 422
    assert "There is no agent" in page_text(answer)


def test_an_archived_plan_leaves_the_list(member: Client) -> None:
    plan = factories.stored_plan()
    member.post(f"/plans/{plan.pk}/remove/", {"do": "archive"})
    assert f"/plans/{plan.pk}/" not in page_text(member.get("/plans/"))
    assert "archived" in page_text(member.get(f"/plans/{plan.pk}/"))


def test_names_with_quotes_and_dollars_are_refused_and_shown_as_text(member: Client) -> None:
    factories.agent()
    answer = member.post("/plans/add/", FORM | {"name": "$(touch /tmp/x) \"'<b>"})
    assert answer.status_code == 422
    text = page_text(answer)
    assert "<b>" not in text.replace("<b>Latency log</b>", "").split('id="parameters.script"')[0].split("<aside")[0]
    assert "&lt;b&gt;" in text


def test_a_schedule_that_could_not_run_says_why_until_the_plan_has_run(member: Client) -> None:
    plan = factories.stored_plan()
    factories.fall_due(plan)
    start_plan(plan.pk)
    for path in (f"/plans/{plan.pk}/", "/plans/"):
        text = page_text(member.get(path))
        assert "could not be started" in text
        assert "There is no agent &#x27;db1&#x27;" in text
    factories.run(stored=plan)
    for path in (f"/plans/{plan.pk}/", "/plans/"):
        assert "could not be started" not in page_text(member.get(path))


def test_an_archived_plan_offers_no_run_and_no_schedule(member: Client) -> None:
    plan = factories.stored_plan()
    assert "Run now" in page_text(member.get(f"/plans/{plan.pk}/"))
    member.post(f"/plans/{plan.pk}/remove/", {"do": "archive"})
    text = page_text(member.get(f"/plans/{plan.pk}/"))
    for button in ("Run now", "Run at that time", "Schedule"):
        assert button not in text
    assert "Clone" in text


def test_two_rows_of_one_name_are_a_problem_and_both_stay(member: Client) -> None:
    factories.agent()
    twice = FORM | {
        "factor-name": ["installation", "clients", "clients"],
        "factor-value": ["16, 18", "1, 4", "64"],
        "setting-name": ["work_mem", "work_mem"],
        "setting-value": ["8MB", "9MB"],
    }
    fields = {"factors.clients", "settings.work_mem"}
    assert {p["field"] for p in problems(page_text(member.post("/plans/preview/", twice)))} == fields
    answer = member.post("/plans/add/", twice)
    assert answer.status_code == 422
    text = page_text(answer)
    assert {problem["field"] for problem in problems(text)} == fields
    assert text.count('name="factor-name" list="targets" value="clients"') == 2
    for typed in ("1, 4", ">\n64<", 'value="8MB"', 'value="9MB"'):
        assert typed in text
    assert not models.Plan.objects.exists()


def test_a_setting_that_no_installation_has_is_named_in_the_preview_and_not_stored(member: Client) -> None:
    factories.agent()
    factories.settings_known()
    wrong = FORM | {"setting-name": ["shared_bufers"], "setting-value": ["lots"]}
    places = "PostgreSQL postgresql-16.9 on db1, PostgreSQL postgresql-18.1 on db1"
    expected = {
        "field": "settings.shared_bufers",
        "what": f"There is no setting shared_bufers in {places}.",
        "todo": "Did you mean shared_buffers?",
    }
    assert problems(page_text(member.post("/plans/preview/", wrong))) == [expected]
    answer = member.post("/plans/add/", wrong)
    assert (answer.status_code, problems(page_text(answer))) == (422, [expected])
    levels = wrong | {"factor-name": ["installation", "setting.work_mem"], "factor-value": ["16, 18", "4MB, much"]}
    right = levels | {"setting-name": ["shared_buffers"], "setting-value": ["256MB"]}
    answer = member.post("/plans/import/", {"toml": f"{TOML}shared_bufers = 'lots'\n"})
    assert (answer.status_code, "Did you mean shared_buffers?" in page_text(answer)) == (422, True)
    [of_factor] = problems(page_text(member.post("/plans/preview/", right)))
    assert of_factor["field"] == "factors.setting.work_mem"
    assert not models.Plan.objects.exists()


def test_options_of_initdb_are_read_as_a_shell_reads_them(member: Client) -> None:
    factories.agent()
    member.post("/plans/add/", FORM | {"initdb": "--data-checksums '--encoding=UTF8'"})
    plan = models.Plan.objects.get()
    assert list(stored_plans.load_plan(plan, kinds()).initdb) == ["--data-checksums", "--encoding=UTF8"]
    one = page_text(member.post("/plans/preview/", FORM | {"initdb": "'--icu-rules=a b'"}))
    assert ["'--icu-rules=a b' is not" in problem["what"] for problem in problems(one)] == [True]
    answer = member.post("/plans/add/", FORM | {"name": "another", "initdb": "--encoding='UTF8"})
    quoting_problems = [problem for problem in problems(page_text(answer)) if "quot" in problem["what"]]
    assert [problem["field"] for problem in quoting_problems] == ["initdb"]
    assert 'value="--encoding=&#x27;UTF8"' in page_text(answer)
