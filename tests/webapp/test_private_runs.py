"""A private run is there for its author and for administrators, and for nobody else at any address."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from django.contrib.auth.models import User
from django.test import Client
from django.urls import URLPattern, URLResolver, get_resolver

from results import models, runs, snapshots, standing
from results.domain.errors import PlanError, StateError
from results.domain.measurement.metrics import Better, Metric
from results.domain.measurement.parsed_trial import Measurement
from results.domain.states import Standing
from results.models.audit import Role, Scope
from results.queries.comparison.compare import compare
from results.queries.shared.selection import Selection
from results.viewer import EVERYTHING, read_as
from tests import factories
from tests.imported import imported
from tests.page_text import page_text
from webapp.access import new_token
from workers.registry import kinds

pytestmark = pytest.mark.django_db

CANARIES = ("zqx-run-name", "zqxtag", "zqxfactor", "zqxlevel", "zqxmetric", "98765", "98,765")
OWN = Metric("own.zqxmetric", "rows", Better.HIGHER, "zqxmetric of the author's own")
FACTORS = {
    "installation": ["16"],
    "clients": [1, 4],
    "zqxfactor": [{"label": "zqxlevel", "values": {}}, {"label": "zqxlevel-2", "values": {}}],
}
# What pages and endpoints take besides the address; {run}, {trial}, … are those of the private run.
QUERIES = (
    "",
    "run={run}",
    "run={public},{run}",
    "runs={run}",
    "trial={trial}",
    "configuration={configuration}",
    "a={trial}&b={trial}",
    "a=c{configuration}&b=c{configuration}",
    "left=run:{run}&right=run:{public}",
    "left=trial:{trial}&right=trial:{trial}",
    "aa-run={run}",
    "plan_id={plan}",
    "plan=16+against+18",
    "workload=pgbench",
    "archived=any",
    "metric=tps&run={run}",
    "metric=latency.p99.5&run={run}",
    "metric=own.zqxmetrik",
    "format=csv",
    "format=csv&run={run}",
    "run={run}&x=clients&series=run",
    "run={run}&at=1&of=postgresql-16.9",
)
SLOW = ("docs", "schema")  # which describe the API alone


@pytest.fixture(autouse=True)
def _plain_static(settings: Any, tmp_path: Path) -> None:
    settings.STORAGES = settings.STORAGES | {
        "staticfiles": {"BACKEND": "django.contrib.staticfiles.storage.StaticFilesStorage"}
    }
    settings.TEITEN_OPEN_READING = True
    settings.TEITEN_BUNDLE_DIR = tmp_path
    settings.TEITEN_API_LIMIT = settings.TEITEN_API_LIMIT_ANONYMOUS = 0


@pytest.fixture
def ada(db: None) -> User:
    return factories.member("ada", Role.OPERATOR)


def finish(trial: models.Trial, value: float, **rest: Any) -> None:
    """The trial done, with a metric that no other run has."""
    whole = factories.parsed(trial, 1, value)
    measured = (*whole.measurements, Measurement(OWN.name, value))
    factories.finish(trial, value, metrics=(*whole.metrics, OWN), measurements=measured, **rest)


@pytest.fixture
def world(ada: User, tmp_path: Path) -> dict[str, Any]:
    """A kept run and, of the same plan, a private one that is done and one that runs; ids by word."""
    stored = factories.stored_plan()
    public = factories.finished_run(stored=stored, bundles=tmp_path)
    private = factories.run(ada, stored, private=True, name="zqx-run-name", factors=FACTORS, replicates=4)
    for number, measured in enumerate(private.trials.select_related("configuration")):
        finish(measured, 98765 + number / 7, bundles=tmp_path)
    runs.close_finished(private.pk)
    standing.set_tags(private.pk, ["zqxtag"], "tests")
    going = factories.run(ada, stored, private=True, name="zqx-run-name", factors=FACTORS)
    begun = going.trials.first()
    trial = private.trials.select_related("configuration").first()
    assert begun is not None and trial is not None
    factories.begin(begun, "measure", 60)
    factories.not_back("db1", trial, "permission denied")
    factories.define_host_factor()
    return {
        "public": public.pk,
        "plan": stored.pk,
        "run": private.pk,
        "trial": trial.pk,
        "configuration": trial.configuration_id,
        "going": going.pk,
        "begun": begun.pk,
        "citation": factories.citation(public).pk,
    }


MISSING = {"run": factories.NO_ID, "trial": factories.NO_ID + 1, "configuration": factories.NO_ID + 2}


def patterns(of: list[Any], prefix: str = "") -> Iterator[str]:
    for one in of:
        if isinstance(one, URLResolver):
            yield from patterns(one.url_patterns, prefix + str(one.pattern))
        elif isinstance(one, URLPattern):
            yield prefix + str(one.pattern)


def addresses(world: dict[str, Any]) -> list[str]:
    """Every address, of the private run where it names one."""
    values = {
        "run_id": world["run"],
        "trial_id": world["trial"],
        "attempt_number": 1,
        "plan_id": world["plan"],
        "label": "q1",
        "hash_": world["citation"],
        "form": "csv",
        "factor": "cpu_governor",
        "path": "workload/stdout.txt",
        "rest": "nothing",
    }
    found = []
    for pattern in patterns(get_resolver().url_patterns):
        kind = (
            "trial" if "trials/" in pattern else "run" if "runs/" in pattern else "plan" if "plans/" in pattern else ""
        )
        own = {"pk": world.get(kind, 1), "name": "db1" if "agents/" in pattern else "workload/stdout.txt"}

        def fill(match: re.Match[str], own: dict[str, Any] = values | own) -> str:
            return str(own.get(match[1], 1))

        found.append("/" + re.sub(r"<(?:\w+:)?(\w+)>", fill, pattern))
    return [path for path in found if not path.endswith(SLOW) and "sign-out" not in path]


def text_of(answer: Any) -> str:
    if answer.streaming:
        return b"".join(answer.streaming_content).decode("latin-1")
    return (
        str(page_text(answer)) if "html" in answer.headers.get("Content-Type", "") else answer.content.decode("latin-1")
    )


def visitor(kind: str) -> Client:
    client = Client()
    if kind == "publisher":
        client.force_login(factories.member("grace", Role.PUBLISHER))
    if kind == "token":
        _, secret = new_token(factories.member("eve", Role.PUBLISHER), "ci", Scope.PUBLISH)
        client.defaults["HTTP_AUTHORIZATION"] = f"Bearer {secret}"
    return client


def canaries_in(text: str) -> set[str]:
    return {canary for canary in CANARIES if canary in text}


def still(text: str) -> str:
    """The text without what differs from one request to the next."""
    text = re.sub(r"\b[A-Za-z0-9]{64}\b", "CSRF", text)
    text = re.sub(r"(?<=free_bytes )[\d.e+]+", "FREE", text)  # of a disk on which others write too
    return re.sub(r"\d\d:\d\d(:\d\d(\.\d+)?)?", "TIME", text)


@pytest.mark.parametrize(
    "query",
    [
        "run={public}",
        *(pytest.param(query, marks=pytest.mark.slow) for query in ("", "archived=any", "plan=16+against+18")),
        pytest.param("workload=pgbench", marks=pytest.mark.slow),
    ],
)
def test_lists_and_counts_are_as_if_it_were_not_there(query: str, ada: User, client: Client) -> None:
    stored = factories.stored_plan()
    public = factories.finished_run(stored=stored)
    named = addresses({"run": public.pk, "trial": public.trials.all()[0].pk, "plan": stored.pk, "citation": "0" * 64})
    urls = [f"{path}?{query}".format(public=public.pk) for path in named]
    before = {url: still(text_of(client.get(url))) for url in urls}
    read_as(lambda: EVERYTHING)
    private = factories.run(ada, stored, private=True, name="zqx-run-name", factors=FACTORS, replicates=4)
    for trial in private.trials.select_related("configuration"):
        finish(trial, 98765)
    runs.close_finished(private.pk)
    after = {url: still(text_of(client.get(url))) for url in urls}
    changed = [url for url in urls if before[url] != after[url]]
    assert [(url, *_first_difference(before[url], after[url])) for url in changed] == []


def _first_difference(before: str, after: str) -> tuple[str, str]:
    place = next((i for i, pair in enumerate(zip(before, after, strict=False)) if pair[0] != pair[1]), 0)
    return before[place - 60 : place + 40], after[place - 60 : place + 40]


@pytest.mark.parametrize(
    "kind",
    ["token", pytest.param("anonymous", marks=pytest.mark.slow), pytest.param("publisher", marks=pytest.mark.slow)],
)
def test_nobody_else_reads_anything_of_a_private_run(kind: str, world: dict[str, Any]) -> None:
    client = visitor(kind)
    both = zip(addresses(world), addresses(world | MISSING), strict=True)
    paths = [pair for pair in both if pair[0].startswith("/api/") == (kind == "token") or kind == "anonymous"]
    assert len(paths) > 50
    leaks, told, answered = [], [], 0
    for path, missing_path in paths:
        for query in QUERIES if path == missing_path else ("", "format=csv"):
            answer = client.get(f"{path}?{query}".format(**world))
            text = text_of(answer)
            answered += answer.status_code == 200
            if found := canaries_in(text):
                leaks.append((path, query, answer.status_code, found))
            if "{" in query or path != missing_path:
                missing = client.get(f"{missing_path}?{query}".format(**world | MISSING))
                text_of(missing)
                if missing.status_code != answer.status_code:
                    told.append((path, query, answer.status_code, missing.status_code))
    assert leaks == []
    assert told == []
    assert answered > 80


@pytest.mark.slow
def test_its_author_and_administrators_read_all_of_it(world: dict[str, Any], ada: User) -> None:
    for user in (ada, factories.member("root", staff=True)):
        client, found, there = Client(), set(), 0
        client.force_login(user)
        for path in addresses(world):
            for query in QUERIES[:3]:
                answer = client.get(f"{path}?{query}".format(**world))
                there += answer.status_code == 200
                found |= canaries_in(text_of(answer))
        assert found == set(CANARIES)
        assert client.get(f"/runs/{world['run']}/").status_code == 200
        assert "zqx-run-name" in page_text(client.get("/runs/"))


@pytest.mark.parametrize("kind", ["publisher", "token"])
def test_nobody_else_does_anything_to_a_private_run(kind: str, world: dict[str, Any]) -> None:
    client = visitor(kind)
    entries = models.AuditEntry.objects.count()
    posts = [
        *(f"/runs/{{run}}/{verb}/" for verb in ("cancel", "retry", "retry-cancelled", "repeat")),
        *(f"/trials/{{trial}}/{verb}/" for verb in ("cancel", "retry")),
    ]
    api = [
        f"/api/v1/runs/{{run}}/{verb}/" for verb in ("cancel", "retry-failed", "retry-cancelled", "repeat", "blocks")
    ]
    api += [f"/api/v1/trials/{{trial}}/{verb}/" for verb in ("cancel", "retry")]
    for path in api if kind == "token" else [*posts, *api]:
        body = {"blocks": 1} if "blocks" in path else {}
        for ids in (world, world | MISSING):
            assert client.post(path.format(**ids), body, content_type="application/json").status_code == 404, path
    run = f"/api/v1/runs/{world['run']}/"
    for change in ({"tags": ["mine"]}, {"standing": "excluded"}, {"archived": True}, {"private": False}):
        assert client.patch(run, change, content_type="application/json").status_code == 404
    if kind == "publisher":
        assert client.delete(run).status_code == 404
        for do in ("kept", "excluded", "tag", "public", "remove"):
            answer = client.post("/runs/change/", {"run": world["run"], "do": do, "tags": "mine"})
            assert answer.status_code == 404 or do == "remove", do
        for do in ("archive", "restore", "delete"):
            assert client.post("/runs/remove/", {"run": world["run"], "do": do}).status_code == 404
        assert client.post("/runs/blocks/", {"run": world["run"], "blocks": 1}).status_code == 404
    read_as(lambda: EVERYTHING)
    assert models.AuditEntry.objects.count() == entries
    stored = models.Run.objects.get(pk=world["run"])
    assert (stored.private, stored.tags, stored.standing) == (True, ["zqxtag"], "exploratory")


def test_numbers_of_others_are_the_same_with_and_without_a_private_run(ada: User, tmp_path: Path) -> None:
    stored = factories.stored_plan()
    public = factories.finished_run(stored=stored)
    newer = factories.finished_run(stored=stored)
    selection = Selection((public.pk, newer.pk), x="clients", series="run")
    before, alone = compare(selection), compare(Selection((newer.pk,)))
    private = factories.run(ada, stored, private=True)
    factories.finish_noisily(private, 0.5)
    assert compare(selection).points == before.points
    assert compare(Selection((newer.pk,))).points == alone.points
    assert private.pk not in (*compare(selection).other_runs, *compare(selection).earlier_runs)


def test_a_private_run_does_not_change_what_metrics_of_others_mean(ada: User) -> None:
    factories.finished_run()
    private = factories.run(ada, private=True)
    first, second = private.trials.select_related("configuration")[:2]
    whole = factories.parsed(first, 1, 5.0)
    turned = [replace(metric, better=Better.LOWER, label="turned round") for metric in whole.metrics]
    factories.finish(first, 5.0, metrics=turned)
    tps = models.Metric.objects.get(name="tps")
    assert (tps.better, tps.private) == ("higher", False) and tps.label != "turned round"
    finish(second, 6.0)
    assert models.Metric.objects.get(name=OWN.name).private
    standing.set_private([private.pk], False, "tests")
    assert not models.Metric.objects.get(name=OWN.name).private


def test_a_metric_of_a_private_run_is_everybodys_once_another_run_has_measured_it(ada: User, client: Client) -> None:
    for private in (True, False):
        trial = factories.run(ada, private=private).trials.select_related("configuration").first()
        assert trial is not None
        read_as(lambda: EVERYTHING)
        finish(trial, 6.0)
        listed = client.get("/api/v1/metrics/").content.decode()
        assert ("zqxmetric" in listed) == (not private)


def test_a_busy_agent_says_that_a_private_run_uses_it(world: dict[str, Any], client: Client) -> None:
    for path in ("/agents/", "/agents/db1/"):
        text = page_text(client.get(path))
        assert "a private run" in text
        assert f"/trials/{world['begun']}/" not in text and f"/runs/{world['going']}/" not in text
    busy = client.get("/api/v1/agents/db1/").json()["agent"]["busy"]
    assert (busy["run_id"], busy["trial_id"], busy["phase"]) == (None, None, "measure")


def test_nothing_rests_on_a_private_run(world: dict[str, Any], ada: User) -> None:
    private = models.Run.objects.get(pk=world["run"])
    with pytest.raises(StateError, match="is private, and cannot be kept"):
        standing.set_standing([private.pk], Standing.KEPT, "tests")
    with pytest.raises(StateError, match="is private, and cannot be cited"):
        factories.citation(private)
    beside = Selection((world["public"], world["going"]))  # of which no value is there to compare
    with pytest.raises(StateError, match="is private, and cannot be cited"):
        snapshots.cite("run=beside", compare(beside), user=None, actor="tests")
    with pytest.raises(PlanError, match="cannot be kept"):
        runs.create_run(factories.a_plan(standing="kept"), kinds(), actor="tests", private=True)
    models.Member.objects.filter(user=ada).update(role=Role.PUBLISHER)
    client = Client()
    client.force_login(ada)
    answer = client.post("/api/v1/citations/", {"query": f"run={private.pk}"}, content_type="application/json")
    assert answer.status_code == 409
    assert answer.json()["error"]["todo"] == "Make it public first."
    assert client.post("/compare/cite/", {"query": f"run={private.pk}"}).status_code == 409
    new = {"kind": "observation", "language": "en", "title": "x", "runs": str(private.pk)}
    assert client.post("/reports/new/", new).status_code == 409
    assert not models.Report.objects.exists()
    assert models.Snapshot.objects.count() == 1
    kept = client.patch(f"/api/v1/runs/{private.pk}/", {"standing": "kept"}, content_type="application/json")
    assert kept.status_code == 409


def test_a_run_is_made_public_by_its_author_and_private_only_while_nothing_rests_on_it(
    world: dict[str, Any], ada: User, client: Client
) -> None:
    client.force_login(ada)
    run = f"/runs/{world['run']}/"
    assert "Make public" in page_text(client.get(run))
    assert client.post("/runs/change/", {"run": world["run"], "do": "public"}).status_code == 302
    other = Client()
    other.force_login(factories.member("grace", Role.PUBLISHER))
    assert "zqx-run-name" in page_text(other.get(run))
    assert "Make private" not in page_text(other.get(run))
    assert other.post("/runs/change/", {"run": world["run"], "do": "private"}).status_code == 403
    api = f"/api/v1/runs/{world['run']}/"
    assert client.patch(api, {"private": True}, content_type="application/json").json()["private"] is True
    assert other.get(run).status_code == 404
    assert client.patch(api, {"private": False}, content_type="application/json").status_code == 200
    verbs = models.AuditEntry.objects.filter(object=f"run {world['run']}", verb__startswith="make ").order_by("pk")
    assert list(verbs.values_list("actor", "verb")) == [
        ("ada", "make public"),
        ("ada", "make private"),
        ("ada", "make public"),
    ]
    read_as(lambda: EVERYTHING)
    factories.citation(models.Run.objects.get(pk=world["run"]))
    answer = client.patch(api, {"private": True}, content_type="application/json")
    assert (answer.status_code, "cited" in answer.json()["error"]["why"]) == (409, True)


def test_a_run_that_a_citation_only_names_stays_public(ada: User) -> None:
    named = factories.run(ada)
    standing.set_standing([named.pk], Standing.EXPLORATORY, "tests")
    snapshots.cite("run=both", compare(Selection((factories.finished_run().pk, named.pk))), user=None, actor="tests")
    with pytest.raises(StateError, match="cannot be made private") as refused:
        standing.set_private([named.pk], True, "tests")
    assert "It is named in" in refused.value.why


@pytest.mark.parametrize(
    ("owner", "scope", "status"),
    [
        ("ada", "read", 200),
        ("ada", "run", 200),
        ("root", "read", 404),
        ("root", "publish", 404),
        ("root", "admin", 200),
    ],
)
def test_a_token_sees_what_its_scope_lets_its_owner_see(
    owner: str, scope: str, status: int, world: dict[str, Any], ada: User, client: Client
) -> None:
    user = ada if owner == "ada" else factories.member(owner, staff=True)
    headers = {"Authorization": f"Bearer {new_token(user, 'ci', Scope(scope))[1]}"}
    assert client.get(f"/api/v1/runs/{world['run']}/", headers=headers).status_code == status
    assert client.get(f"/api/v1/trials/{world['trial']}/", headers=headers).status_code == status


def test_imported_results_are_not_made_private(ada: User) -> None:
    imported_run = imported().runs.get()
    with pytest.raises(StateError, match="cannot be made private"):
        standing.set_private([imported_run.pk], True, "tests")
    assert not models.Run.objects.get(pk=imported_run.pk).private


def test_a_run_is_private_from_its_start_where_one_says_so(ada: User, client: Client) -> None:
    factories.agent()
    plan = factories.stored_plan()
    client.force_login(ada)
    client.post(f"/plans/{plan.pk}/run/", {"private": "1"})
    created = client.post("/api/v1/runs/", {"plan": plan.pk, "private": True}, content_type="application/json").json()
    assert created["private"] is True
    again = client.post(f"/api/v1/runs/{created['id']}/repeat/", content_type="application/json").json()
    assert again["private"] is True
    read_as(lambda: EVERYTHING)
    assert list(models.Run.objects.values_list("private", "created_by__username")) == [(True, "ada")] * 3
    odd = client.post("/api/v1/runs/", {"plan": plan.pk, "private": "yes"}, content_type="application/json")
    assert odd.status_code == 400
