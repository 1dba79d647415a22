"""An agent's clusters: what its page says of them, and who may have some removed. Their removal is tested where there
is an sshd; here nobody listens on the port."""

from __future__ import annotations

import re
from datetime import timedelta
from typing import Any

import pytest
from django.test import Client
from django.utils import timezone
from django.utils.html import strip_tags

from results import models
from results.domain.matrix import TrialSpec
from results.domain.matrix.clusters import ClusterState, folder_names
from results.pruning import record_no_inventory, record_removal
from tests import factories
from tests.factories import clusters, lies
from tests.page_text import page_text
from workers.registry import kinds

PAGE = "/agents/db1/"
REMOVAL = "/agents/db1/clusters/"
SRV = "/srv/data/clusters"


def words(client: Client, path: str = PAGE) -> str:
    """What is read there, in one line."""
    text = client.get(path).content.decode()
    return re.sub(r"\s+", " ", strip_tags(text.partition('id="clusters"')[2] or text))


def needed_by(trial: models.Trial) -> str:
    """The directory of the cluster that the trial will use on db1."""
    spec = TrialSpec.from_json(trial.configuration.spec)
    [name] = folder_names(spec, "db1", kinds(), {})
    return f"{SRV}/{name}"


@pytest.fixture
def agent(db: None) -> models.Agent:
    return factories.agent()


def test_an_agent_that_was_never_looked_at_says_so(agent: models.Agent, stranger: Client) -> None:
    text = words(stranger)
    assert "Not known yet: this agent has not been searched for clusters." in text
    assert "removed 7 days after its last use" in text
    assert "Together they may take 100 GB" in text


def test_the_page_says_what_lies_there_and_when_each_is_removed(
    agent: models.Agent, stranger: Client, django_assert_max_num_queries: Any
) -> None:
    run = factories.run(factors={"installation": ["16"], "clients": [1, 4]})
    firsts = [run.trials.filter(configuration=one).order_by("pk").first() for one in run.configurations.all()]
    first, second = sorted(firsts, key=lambda trial: trial.pk)
    clusters(
        lies(needed_by(first), 2, days=30),
        lies(f"{SRV}/16-runs-0123abcd", 3, days=30, running=True),
        lies(f"{SRV}/16-old-0123abcd", 4, days=6, parts=("/ssd/wal/16-old-0123abcd-89abcdef",)),
        lies(f"{SRV}/12-0123abcd", 5, bin_dir="/opt/12/bin", days=2),
        lies(f"{SRV}/mine-0123abcd", 6, days=99, state=ClusterState.FOREIGN),
    )
    with django_assert_max_num_queries(12):
        text = words(stranger)
    assert "5 clusters with 14 GB on disk" in text
    for row in (
        f"kept: A trial that waits or runs could use it. trial {first.pk} of run {run.pk}, trial {second.pk} of run",
        "kept: Its server runs.",
        f"{timezone.now() + timedelta(days=1):%Y-%m-%d}",
        "with /ssd/wal/16-old-0123abcd-89abcdef",
        "7 days after its last use.",
        "as soon as no trial runs here: Its installation is gone: 1 day after its last use.",
        "/opt/12/bin, no longer on this agent",
        "not created by Teiten",
        "kept: Teiten did not make it.",
    ):
        assert row in text, row
    assert "Remove clusters" not in text


def test_over_the_budget_the_page_says_by_how_much_and_which_go(agent: models.Agent, stranger: Client) -> None:
    trial = factories.run(factors={"installation": ["16"]}).trials.first()
    clusters(lies(needed_by(trial), 99, days=3), lies(f"{SRV}/16-b-0123abcd", 3, days=1))
    text = words(stranger)
    assert "They take 2 GB more than that." in text
    assert "All clusters together are over the budget of 100 GB." in text
    assert text.count("as soon as no trial runs here") == 1


def test_an_agent_without_limits_says_that_everything_stays(agent: models.Agent, stranger: Client) -> None:
    models.Agent.objects.update(keep_days=None, disk_budget_gb=None)
    clusters(lies(f"{SRV}/16-b-0123abcd", 200, days=999))
    text = words(stranger)
    assert "All are kept: this agent has neither an age limit nor a disk budget." in text
    assert "only by hand: No limit of age is set." in text


def test_what_went_wrong_and_what_was_removed_stand_on_the_page(agent: models.Agent, stranger: Client) -> None:
    clusters(lies(f"{SRV}/16-a-0123abcd", 2), lies(f"{SRV}/16-b-0123abcd", 3))
    record_no_inventory(agent.pk, {"what": "The agent did not answer.", "where": "agent db1"})
    one, other = models.Cluster.objects.select_related("agent")
    models.Cluster.objects.filter(pk=one.pk).update(
        error={"what": "It could not be removed.", "why": "rm: Permission denied"}, tried_at=timezone.now()
    )
    record_removal(other, "7 days after its last use.", "ada", finished=True)
    text = words(stranger)
    assert "What is there now is not known, because the last search failed: The agent did not answer." in text
    assert "rm: Permission denied" in text
    assert f"{other.directory} 3 GB 7 days after its last use. By ada." in text
    assert "1 cluster with 2 GB on disk" in text


@pytest.mark.parametrize("visitor", ["stranger", "member"])
def test_only_an_administrator_chooses_what_is_removed(
    agent: models.Agent, visitor: str, request: pytest.FixtureRequest
) -> None:
    client: Client = request.getfixturevalue(visitor)
    clusters(lies(f"{SRV}/16-a-0123abcd"))
    assert REMOVAL not in page_text(client.get(PAGE))
    answer = client.post(REMOVAL, {"directory": f"{SRV}/16-a-0123abcd"})
    assert answer.status_code == (302 if visitor == "stranger" else 403)
    assert models.Cluster.objects.count() == 1


def test_the_preview_has_chosen_what_is_due_and_lets_nothing_be_chosen_that_stays(
    agent: models.Agent, admin: Client
) -> None:
    trial = factories.run(factors={"installation": ["16"]}).trials.first()
    due, later, needed = f"{SRV}/16-due-0123abcd", f"{SRV}/16-later-0123abcd", needed_by(trial)
    clusters(lies(due, days=8), lies(later, days=1), lies(needed, days=30))
    assert f'href="{REMOVAL}"' in page_text(admin.get(PAGE))
    text = page_text(admin.get(REMOVAL))
    assert f'value="{due}" checked' in text
    assert f'value="{later}">' in text
    assert needed not in re.findall(r'value="([^"]*)"', text)
    assert f"trial {trial.pk}" in text


def test_choosing_nothing_or_what_an_agent_out_of_reach_has_is_answered(agent: models.Agent, admin: Client) -> None:
    clusters(lies(f"{SRV}/16-a-0123abcd"))
    nothing = admin.post(REMOVAL)
    assert (nothing.status_code, "No cluster was chosen." in page_text(nothing)) == (409, True)
    models.Agent.objects.update(port=1)
    away = admin.post(REMOVAL, {"directory": f"{SRV}/16-a-0123abcd"})
    assert away.status_code == 502
    assert "What is there now is not known" in words(admin)
    assert not models.Lease.objects.exists()


def test_an_agent_that_is_busy_keeps_its_clusters_and_the_choice(agent: models.Agent, admin: Client) -> None:
    clusters(lies(f"{SRV}/16-a-0123abcd"), lies(f"{SRV}/16-b-0123abcd", days=9))
    factories.begin(factories.run().trials.first())
    answer = admin.post(REMOVAL, {"directory": f"{SRV}/16-a-0123abcd"})
    text = page_text(answer)
    assert answer.status_code == 409
    assert "The agent is busy with trial" in text
    assert "Removing files there now would disturb what is measured." in text
    assert f'value="{SRV}/16-a-0123abcd" checked' in text
    assert f'value="{SRV}/16-b-0123abcd">' in text


def test_limits_are_fields_of_the_agent(agent: models.Agent, admin: Client) -> None:
    fields = {"name": "db1", "host": "127.0.0.1", "port": 1, "data_dir": "/d", "work_dir": "/w", "enabled": "on"}
    form = page_text(admin.get("/agents/db1/edit/"))
    assert "Keep clusters, days" in form and "Disk for clusters, GB" in form
    for given, stored in ((("30", "500"), (30, 500)), (("", ""), (None, None))):
        admin.post("/agents/db1/edit/", fields | dict(zip(("keep_days", "disk_budget_gb"), given, strict=True)))
        agent.refresh_from_db()
        assert (agent.keep_days, agent.disk_budget_gb) == stored
    for wrong in ({"keep_days": "0"}, {"disk_budget_gb": "-1"}, {"keep_days": "a week"}):
        assert admin.post("/agents/db1/edit/", fields | wrong).status_code == 422
