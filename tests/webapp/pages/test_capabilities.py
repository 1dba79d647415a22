"""The page of capabilities."""

from __future__ import annotations

import re
from datetime import UTC, datetime
from typing import Any

import pytest
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext

from results import models
from tests import factories
from tests.page_text import page_text
from tests.query_plans import nodes, plan_of

pytestmark = pytest.mark.django_db


def text_of(client: Client, path: str = "/capabilities/", **headers: str) -> str:
    answer = client.get(path, **headers)
    assert answer.status_code == 200
    return page_text(answer)


def words(text: str) -> list[str]:
    """Every cell's word, from left to right, row by row."""
    matches = re.findall(r"</span>\s*([\w ]+?)\s*</summary>|(– not checked)", text)
    return ["".join(one) for one in matches]


def test_each_cell_has_a_word_what_was_said_and_its_trial(stranger: Client) -> None:
    message = "ERROR:  only heap AM is supported <here>"
    trial = factories.capability_run({"vacuum": "yes", "toast": "no"}, access_method="zheap", message=message)
    text = text_of(stranger)
    assert words(text) == ["yes", "no"]
    assert "only heap AM is supported &lt;here&gt;" in text
    assert f'href="/trials/{trial.pk}/"' in text
    assert "1 of 2 capabilities hold on this build." in text
    assert "Not everywhere, or not known everywhere: TOAST." in text


def test_three_answers_are_no_longer_one_and_each_has_the_statement_that_decided(stranger: Client) -> None:
    outcomes = {"index": "chose-not-to", "vacuum": "fails-differently", "toast": "cannot", "copy": "no"}
    message = {"message": "ERROR:  unexpected", "statement": "INSERT INTO items VALUES (1 < 2);", "sqlstate": "XX000"}
    trial = factories.capability_run(outcomes, access_method="zheap", **message)
    for path in ("/capabilities/", f"/trials/{trial.pk}/"):
        text = text_of(stranger, path)
        assert set(words(text)) == {"chose not to", "fails differently", "cannot", "no"}, path
        assert text.count("Decided by this statement, SQLSTATE XX000:") == 4
        assert text.count('<pre class="statement">INSERT INTO items VALUES (1 &lt; 2);</pre>') == 4
    assert "<span>1 fails differently</span>" in text_of(stranger)
    assert "0 of 4 capabilities hold on this build." in text_of(stranger)


def test_an_answer_without_a_statement_says_none(stranger: Client) -> None:
    factories.capability_run({"vacuum": "no"})
    assert "Decided by" not in text_of(stranger)


def test_builds_stand_side_by_side_heap_first(stranger: Client) -> None:
    factories.capability_run({"vacuum": "yes", "toast": "partly"}, access_method="zheap")
    factories.capability_run({"vacuum": "yes"})
    factories.capability_run({"vacuum": "yes", "toast": "unknown"}, installation="18")
    text = text_of(stranger)
    assert re.findall(r'<th scope="col"><b>(\w+)</b> ([\w.-]+)', text) == [
        ("heap", "postgresql-16.9"),
        ("zheap", "postgresql-16.9"),
        ("heap", "postgresql-18.1"),
    ]
    assert words(text) == ["yes", "yes", "yes", "– not checked", "partly", "unknown"]


def test_of_many_builds_those_that_were_checked_last_are_shown(
    stranger: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("webapp.pages.capabilities.MOST_BUILDS", 2)
    oldest = factories.capability_run({"vacuum": "partly", "analyze": "yes"})
    models.CheckedBuild.objects.filter(attempt=oldest.attempt).update(measured_at=datetime(2020, 1, 1, tzinfo=UTC))
    factories.capability_run({"vacuum": "yes"}, access_method="zheap")
    factories.capability_run({"vacuum": "unknown"}, installation="18")
    text = text_of(stranger)
    assert words(text) == ["yes", "unknown"]
    assert "ANALYZE" not in text
    assert "Shown are the 2 builds that were checked last; 1 more is shown where you choose" in text
    chosen = text_of(stranger, "/capabilities/?installation=postgresql-16.9&access_method=heap")
    assert words(chosen) == ["partly", "yes"]
    assert "Shown are" not in chosen


def test_answers_of_builds_that_are_not_shown_are_not_read(stranger: Client, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("webapp.pages.capabilities.MOST_BUILDS", 1)
    for method in ("heap", "zheap"):
        factories.capability_run({"vacuum": "yes", "toast": "no"}, access_method=method)
    with CaptureQueriesContext(connection) as captured:
        text_of(stranger)
    [read] = [one["sql"] for one in captured.captured_queries if "AS capability" in one["sql"]]
    assert [node["Actual Loops"] for node in nodes(plan_of(read)) if node.get("Alias") == "results_document"] == [1]


def test_of_builds_checked_at_one_time_the_first_are_shown_and_a_capability_chooses_among_those_that_have_it(
    stranger: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("webapp.pages.capabilities.MOST_BUILDS", 1)
    factories.capability_run({"vacuum": "yes", "toast": "no"})
    factories.capability_run({"vacuum": "partly"}, installation="18")
    models.CheckedBuild.objects.update(measured_at=datetime(2020, 1, 1, tzinfo=UTC))
    models.Attempt.objects.update(measured_from=datetime(2020, 1, 1, tzinfo=UTC))
    assert words(text_of(stranger)) == ["yes", "no"]
    text = text_of(stranger, "/capabilities/?capability=toast")
    assert words(text) == ["no"]
    assert "Shown are" not in text


def test_the_newest_counted_answer_stands(stranger: Client) -> None:
    factories.capability_run({"vacuum": "no", "toast": "no"})
    newer = factories.capability_run({"vacuum": "yes"})
    newer.attempt.measured_from = newer.attempt.measured_from.replace(year=2027)
    newer.attempt.save()
    failed = factories.capability_run({"vacuum": "partly"})
    failed.attempt.measured_from = failed.attempt.measured_from.replace(year=2028)
    failed.attempt.save()
    failed.__class__.objects.filter(pk=failed.pk).update(state="failed", attempt=None)
    assert words(text_of(stranger)) == ["yes", "no"]


def test_what_is_not_yes_everywhere_can_be_shown_alone(stranger: Client) -> None:
    factories.capability_run({"vacuum": "yes", "analyze": "yes", "toast": "partly"})
    text = text_of(stranger, "/capabilities/?only=differing")
    assert words(text) == ["partly"]
    assert "ANALYZE" not in text
    assert "2 of 3 capabilities hold" in text


@pytest.mark.parametrize(
    ("query", "shown"),
    [
        ("installation=postgresql-18.1", ["yes"]),
        ("access_method=zheap", ["no", "yes"]),
        ("access_method=zheap&access_method=heap&capability=toast", ["no", "yes"]),
        ("agent=db1&capability=vacuum", ["yes"]),
        ("installation=&capability=", ["yes", "yes", "no"]),
    ],
)
def test_filters_stand_in_the_address(query: str, shown: list[str], stranger: Client) -> None:
    factories.capability_run({"toast": "no", "vacuum": "yes"}, access_method="zheap")
    factories.capability_run({"toast": "yes"}, installation="18")
    shown_words = [word for word in words(text_of(stranger, f"/capabilities/?{query}")) if word != "– not checked"]
    assert sorted(shown_words) == sorted(shown)


def test_values_that_no_answer_has_say_so(stranger: Client) -> None:
    factories.capability_run({"toast": "yes"})
    text = text_of(stranger, "/capabilities/?access_method=gone")
    assert "No answer matches the chosen values." in text
    assert 'value="gone"' in text


def test_without_any_answer_it_says_what_to_do(stranger: Client) -> None:
    text = text_of(stranger)
    assert "Nothing has been checked yet." in text
    (ready,) = re.findall(r'href="(/plans/ready/[^"]+)"', text)
    assert "What each access method can do" in text_of(stranger, ready)


def test_answers_that_are_all_yes_say_so_where_only_others_are_asked_for(stranger: Client) -> None:
    factories.capability_run({"toast": "yes"})
    assert "Every answer is yes." in text_of(stranger, "/capabilities/?only=differing")


def test_a_fragment_says_its_address(stranger: Client) -> None:
    factories.capability_run({"toast": "yes"})
    answer = stranger.get("/capabilities/?agent=db1&installation=&only=differing", headers={"HX-Request": "true"})
    assert answer["HX-Push-Url"] == "/capabilities/?agent=db1&only=differing"
    assert "<html" not in page_text(answer)


def test_it_takes_three_queries_whatever_the_number_of_answers(
    stranger: Client, django_assert_num_queries: Any
) -> None:
    for installation in ("16", "18"):
        for method in ("heap", "zheap"):
            factories.capability_run({"toast": "yes", "vacuum": "no"}, access_method=method, installation=installation)
            with django_assert_num_queries(3):
                text_of(stranger)


def test_a_trials_page_has_its_own_answers_whatever_is_newest(stranger: Client) -> None:
    older = factories.capability_run({"vacuum": "partly", "toast": "no"}, message="ERROR:  not yet")
    factories.capability_run({"vacuum": "yes", "toast": "yes"})
    text = text_of(stranger, f"/trials/{older.pk}/")
    assert words(text) == ["partly", "no"]
    assert "ERROR: not yet" in text


def test_answers_are_taken_from_the_runs_that_are_chosen(stranger: Client) -> None:
    older = factories.capability_run({"vacuum": "no"})
    models.Run.objects.filter(pk=older.run_id).update(tags=["paper"], started_at=datetime(2020, 5, 1, tzinfo=UTC))
    factories.capability_run({"vacuum": "yes"})
    assert words(text_of(stranger)) == ["yes"]
    for query in ("tag=paper", "until=2020-05-01", "since=2020-05-01&until=2020-05-01&agent=db1"):
        assert words(text_of(stranger, f"/capabilities/?{query}")) == ["no"], query
        answers = stranger.get(f"/api/v1/capabilities/?{query}").json()["results"]
        assert [answer["outcome"] for answer in answers] == ["no"], query
    text = text_of(stranger, "/capabilities/?tag=paper")
    assert "Of which runs" in text and "(tag paper)" in text
    assert "No answer matches the chosen values." in text_of(stranger, "/capabilities/?tag=gone")
    assert stranger.get("/capabilities/?since=yesterday").status_code == 400


def test_an_excluded_run_is_not_offered_to_be_chosen(stranger: Client) -> None:
    factories.capability_run({"vacuum": "yes"})
    excluded = factories.capability_run({"vacuum": "no"})
    models.Run.objects.filter(pk=excluded.run_id).update(tags=["paper"], standing="excluded")
    assert 'value="paper"' not in text_of(stranger)
    models.Run.objects.update(standing="exploratory")
    assert 'value="paper"' in text_of(stranger)
