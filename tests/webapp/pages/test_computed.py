"""What a process computes once for all who ask for the same: never what another may not see, never what has changed."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from typing import Any

import pytest
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext

from results import ingest, models, removal, runs, snapshots
from results.models.audit import Role
from results.queries.comparison.compare import compare
from results.queries.comparison.freshness import freshness
from results.viewer import EVERYTHING, Viewer, read_as
from tests import factories, histories
from webapp import computed, urlstate

TOKEN = re.compile(rb"\b[A-Za-z0-9]{64}\b")  # of forms, which each page has another of
COMPARED = (
    "/compare/?run={run}",
    "/compare/cell/?run={run}&at=4&of=postgresql-16.9",
    "/compare/why/?run={run}",
    "/compare/why/metrics/?run={run}",
    "/api/v1/comparison/?run={run}",
    "/api/v1/comparison/why/?run={run}",
    "/api/v1/comparison.csv?run={run}",
)
FOLLOWED = ("/trends/?plan=nightly", "/api/v1/trends/?plan=nightly")
NEW = {"Cache-Control": "no-cache"}


@pytest.fixture(autouse=True)
def _computed_once(monkeypatch: pytest.MonkeyPatch, db: None) -> None:
    monkeypatch.setattr(computed, "kept", computed.cache(20_000))


@pytest.fixture
def run() -> models.Run:
    done = factories.finished_run()
    histories.months(histories.nightly(), [8000.0, 8010.0, 8020.0])
    return done


def shown(path: str, client: Client | None = None, **headers: str) -> tuple[int, bytes]:
    answer = (client or Client()).get(path, headers=headers)
    return answer.status_code, TOKEN.sub(b"", answer.content)


def queries(path: str, client: Client | None = None, **headers: str) -> int:
    with CaptureQueriesContext(connection) as captured:
        assert shown(path, client, **headers)[0] == 200
    return len(captured)


@pytest.mark.parametrize("path", [*COMPARED, *FOLLOWED])
def test_another_visitor_is_shown_what_was_computed_for_the_first(run: models.Run, path: str) -> None:
    path = path.format(run=run.pk)
    first = queries(path)
    assert queries(path) <= first - 3
    assert shown(path) == shown(path, **NEW)


def test_all_addresses_of_a_comparison_compute_it_once(run: models.Run, monkeypatch: pytest.MonkeyPatch) -> None:
    calls = counted_comparisons(monkeypatch)
    for path in COMPARED:
        assert shown(path.format(run=run.pk))[0] == 200
    assert len(calls) == 1


def counted_comparisons(monkeypatch: pytest.MonkeyPatch) -> list[Any]:
    """A list that grows with each that is computed."""
    calls = []

    def counted(*of: Any) -> object:
        calls.append(of)
        return compare(*of)

    monkeypatch.setattr(computed, "compare", counted)
    return calls


def read_again(run: models.Run, error: Mapping[str, Any] | None = None) -> None:
    for trial in run.trials.filter(block=1):
        assert trial.attempt is not None
        ingest.replace(factories.parsed(trial, trial.attempt.number, 777_777.0, error), trial.attempt.pk)


def judged_otherwise(run: models.Run) -> None:
    error = {"kind": "trial", "what": "aborted", "where": "measure", "why": "", "todo": "", "retryable": False}
    read_again(run, error)


def measured_once_more(run: models.Run) -> None:
    runs.add_blocks(run.pk, 1, "someone")
    for trial in run.trials.filter(state="waiting"):
        factories.finish(trial, 777_777.0)


def removed(run: models.Run) -> None:
    removal.archive_runs([run.pk], "someone")
    removal.delete_runs([run.pk], "someone")


CHANGES: Mapping[str, Callable[[models.Run], object]] = {
    "numbers are read again": read_again,
    "an attempt is judged otherwise": judged_otherwise,
    "a trial more is done": measured_once_more,
    "the metric has another meaning": lambda _run: models.Metric.objects.update(label="turns", better="lower"),
    "the run is removed": removed,
}
UNSEEN = [("the metric has another meaning", "/api/v1/comparison.csv")]  # it has names of metrics, not what they mean


@pytest.mark.parametrize("path", COMPARED)
@pytest.mark.parametrize("what", CHANGES)
def test_what_has_changed_is_computed_anew(run: models.Run, path: str, what: str) -> None:
    path = path.format(run=run.pk)
    before = shown(path)
    CHANGES[what](run)
    after = shown(path)
    assert after == shown(path, **NEW)
    assert after != before or (what, path.partition("?")[0]) in UNSEEN


def test_a_run_that_is_measured_beside_changes_no_comparison_that_was_computed(run: models.Run) -> None:
    path = f"/compare/?run={run.pk}"
    first = Client().get(path)
    factories.run(name="listed beside", factors={}, installation="18", parameters={"scale": 7})
    kept = list(computed.kept)
    after = Client().get(path)
    assert b"listed beside" in after.content and after["ETag"] != first["ETag"]
    assert list(computed.kept) == kept != []


def test_a_private_run_that_its_author_has_seen_is_not_there_for_others() -> None:
    ada = factories.member("ada", Role.OPERATOR)
    author = Client()
    author.force_login(ada)
    run = factories.finished_run(ada)
    models.Run.objects.filter(pk=run.pk).update(private=True, standing="exploratory")
    nobody = {path: shown(path.format(run=run.pk)) for path in COMPARED}
    own = {path: shown(path.format(run=run.pk), author) for path in COMPARED}
    assert all(own[path] != nobody[path] and own[path][0] == 200 for path in own)
    assert {path: shown(path.format(run=run.pk)) for path in nobody} == nobody
    assert {path: shown(path.format(run=run.pk), author) for path in own} == own


@pytest.mark.parametrize("path", ["/compare/?run={run}", "/compare/why/?run={run}", "/trends/?plan=nightly"])
def test_everyone_reads_it_in_their_own_language(run: models.Run, path: str) -> None:
    path = path.format(run=run.pk)
    english = shown(path)
    japanese = shown(path, **{"Accept-Language": "ja"})
    assert japanese == shown(path, **NEW, **{"Accept-Language": "ja"}) != english
    assert shown(path) == english


@pytest.mark.parametrize("path", [*COMPARED, *FOLLOWED])
def test_a_reload_without_the_browsers_cache_computes_it_anew(run: models.Run, path: str) -> None:
    path = path.format(run=run.pk)
    first = queries(path)
    assert queries(path, **NEW) == first > queries(path)


def test_nobody_is_given_what_another_may_see_of_the_same_state(
    run: models.Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    calls = counted_comparisons(monkeypatch)
    selection, known = urlstate.read(f"run={run.pk}"), freshness([run.pk])
    try:
        for viewer in (Viewer(), Viewer(), Viewer(user_id=7), EVERYTHING):
            read_as(lambda viewer=viewer: viewer)
            computed.compared(selection, known)
    finally:
        read_as(lambda: EVERYTHING)
    assert len(calls) == 3


def test_what_changed_while_it_was_computed_is_not_kept(run: models.Run, monkeypatch: pytest.MonkeyPatch) -> None:
    path = f"/compare/cell/?run={run.pk}&at=4&of=postgresql-16.9"
    right = shown(path)
    computed.kept.clear()

    def interrupted(*of: Any) -> object:
        models.Run.objects.filter(pk=run.pk).update(archived=True, name="other")
        return compare(*of)

    with monkeypatch.context() as meanwhile:
        meanwhile.setattr(computed, "compare", interrupted)
        shown(path)
    assert not computed.kept
    models.Run.objects.filter(pk=run.pk).update(archived=False, name=run.name)
    assert shown(path) == right


def test_what_was_asked_wrongly_is_an_error_each_time(run: models.Run) -> None:
    path = f"/api/v1/comparison/?run={run.pk}&metric=unknown"
    assert shown(path) == shown(path)
    assert shown(path)[0] == 400


def test_a_large_comparison_is_not_kept_and_the_oldest_goes_first(
    run: models.Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    small = computed.cache(0).getsizeof(compare(urlstate.read(f"run={run.pk}")))
    assert small > len(run.trials.all())
    for most, kept in ((small - 1, []), (small, ["tps"]), (2 * small, ["tps", "latency.p99"])):
        monkeypatch.setattr(computed, "kept", computed.cache(most))
        for metric in ("tps", "latency.p99", "tps"):
            computed.compared(urlstate.read(f"run={run.pk}&metric={metric}"))
        assert len(computed.kept) == len(kept)
        assert all(f"metric='{metric}'" in key for metric, key in zip(kept, computed.kept, strict=True))


def test_of_a_comparison_no_table_is_read_whose_changes_would_not_be_seen(run: models.Run) -> None:
    """Those that its state is made of, and those of which nothing changes unless one of these does: configurations are
    made with the run; values, histograms and layers are stored with an attempt's numbers."""
    state = {"run", "trial", "attempt", "metric", "noise", "reference", "snapshot", "detachedrange"}
    fixed = {
        "configuration",
        "attemptvalues",
        "measurement",
        "measure",
        "packedhistogram",
        "layeruse",
        "environmentlayer",
        "layer",
    }
    snapshots.save_reference("before", factories.citation(run), "postgresql-16.9", user=None, actor="tests")
    with CaptureQueriesContext(connection) as captured:
        for query in ("", "&baseline=@before", "&metric=latency.p99.5"):
            compare(urlstate.read(f"run={run.pk}{query}"), freshness([run.pk]))
    text = " ".join(one["sql"] for one in captured.captured_queries)
    assert set(re.findall(r'(?:FROM|JOIN) "?results_(\w+)', text)) - state <= fixed
