"""Setting what runs count for, and their tags: on a run's page, in the list, and in the API."""

from __future__ import annotations

import pytest
from django.test import Client
from rest_framework.test import APIClient

from results import models
from results.queries.shared.run_filter import kept_runs
from tests import factories

pytestmark = pytest.mark.django_db


def test_a_member_keeps_the_ticked_runs_and_stays_in_the_list(member: Client) -> None:
    runs = [factories.run(standing="exploratory") for _ in range(2)]
    ids = [run.pk for run in runs]
    answer = member.post("/runs/change/", {"run": ids, "do": "kept", "query": "standing=exploratory"})
    assert answer["Location"] == "/runs/?standing=exploratory"
    assert kept_runs().ids == (ids[1], ids[0])
    entry = models.AuditEntry.objects.filter(verb="set standing", object=f"run {ids[0]}").get()
    assert entry.detail == {"standing": "kept", "before": "exploratory"}
    assert b"No run is" in member.get("/runs/?standing=exploratory").content
    assert f'value="{ids[0]}"' in member.get("/runs/?standing=kept").content.decode()


def test_tags_are_added_and_removed(member: Client) -> None:
    run = factories.run()
    member.post("/runs/change/", {"run": run.pk, "do": "tag", "tags": "Paper, 2026-talk"})
    run.refresh_from_db()
    assert run.tags == ["2026-talk", "paper"]
    member.post("/runs/change/", {"run": run.pk, "do": "untag", "tags": "paper"})
    run.refresh_from_db()
    assert run.tags == ["2026-talk"]
    assert "2026-talk" in member.get(f"/runs/{run.pk}/").content.decode()


def test_a_stranger_changes_nothing_and_is_offered_nothing(stranger: Client) -> None:
    run = factories.run()
    assert "/account/sign-in/" in stranger.post("/runs/change/", {"run": run.pk, "do": "excluded"})["Location"]
    run.refresh_from_db()
    assert run.standing == "kept"
    assert 'value="excluded"' not in stranger.get(f"/runs/{run.pk}/").content.decode()
    assert 'action="/compare/"' in stranger.get("/runs/").content.decode()


@pytest.mark.parametrize(
    ("fields", "words"),
    [({"do": "kept"}, "No run is ticked"), ({"do": "good", "run": 1}, "good"), ({"do": "tag", "tags": "a/b"}, "a/b")],
)
def test_what_cannot_be_is_refused_in_words(fields: dict[str, str], words: str, member: Client) -> None:
    run = factories.run()
    sent = fields | ({"run": str(run.pk)} if fields["do"] != "kept" else {})
    answer = member.post("/runs/change/", sent)
    assert answer.status_code == 400
    assert words in answer.content.decode()


def test_ticked_runs_are_compared(member: Client) -> None:
    ids = [factories.run().pk for _ in range(2)]
    answer = member.post("/runs/change/", {"run": ids, "do": "compare"})
    assert answer["Location"] == f"/compare/?run={ids[0]},{ids[1]}"


def test_the_api_sets_standing_and_all_tags(member: Client) -> None:
    run = factories.run()
    client = APIClient()
    secret = factories.tokens(factories.member("ada"))["publish"]
    client.credentials(HTTP_AUTHORIZATION=f"Bearer {secret}")
    answer = client.patch(f"/api/v1/runs/{run.pk}/", {"standing": "excluded", "tags": ["b", "a"]}, format="json").json()
    assert (answer["standing"], answer["tags"]) == ("excluded", ["a", "b"])
    assert client.patch(f"/api/v1/runs/{run.pk}/", {"standing": "good", "tags": []}, format="json").status_code == 400
    run.refresh_from_db()
    assert run.tags == ["a", "b"]
