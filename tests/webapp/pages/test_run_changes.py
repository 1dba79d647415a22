"""What the page of a run that goes on asks for again and again: what has changed since it was read, and nothing of that
is missed."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

import psycopg
import pytest
from django.db import connection, transaction
from django.test import Client
from django.utils import timezone

from results import models
from results.runs import close_finished
from tests import factories, restarting
from tests.page_text import as_read
from tests.restarting import Warehouse
from webapp.pages.run_live import HEADER, Mark

MARK = re.compile(r'<span id="live-mark" data-mark="([^"]*)"')
CELL = re.compile(r'<td (?=[^>]*\bid="((?:c|median-|spread-)\d+)")(.*?)</td>', re.S)
FIGURE = re.compile(r'<script id="(panel-\d+)" type="application/json">(.*?)</script>', re.S)
HEADING = re.compile(r"(<h1)>(.*?)</h1>", re.S)


class Page:
    """The page of a run as a browser keeps it."""

    def __init__(self, client: Client, run: models.Run, place: str = "") -> None:
        self.client, self.address = client, f"/runs/{run.pk}/live/{place}"
        self.mark, self.elements = "", dict[str, str]()
        self.ask()

    def ask(self) -> set[str]:
        """Take in what has changed; return the ids of the elements that came, of all with a whole page."""
        response = self.client.get(self.address, headers={HEADER: self.mark} if self.mark else {})
        assert response.status_code == 200
        text = as_read(response.content.decode())
        whole = response.headers.get("HX-Reswap") == "outerHTML"
        assert whole == ('id="live"' in text)
        mark = MARK.search(text)
        self.mark = mark.group(1) if mark else ""
        elements = _elements(text)
        assert whole or elements.keys() <= self.elements.keys()
        self.elements = elements if whole else self.elements | elements
        return {"whole"} if whole else set(elements)


def _elements(text: str) -> dict[str, str]:
    text = text.replace(' hx-swap-oob="true"', "")
    elements = [*CELL.findall(text), *FIGURE.findall(text), *HEADING.findall(text)]
    return dict(elements)


def cells(*trials: models.Trial) -> set[str]:
    return {f"c{trial.pk}" for trial in trials}


@pytest.fixture(scope="module")
def server(django_db_setup: None, django_db_blocker: Any) -> Iterator[Warehouse]:
    """One without the transactions of other tests: what has changed since a mark is known up to the oldest open one."""
    with django_db_blocker.unblock(), restarting.in_place() as warehouse:
        yield warehouse


@pytest.fixture(autouse=True)
def db(server: Warehouse) -> Iterator[None]:
    with server.emptied():
        yield


@pytest.fixture
def trials(client: Client) -> list[models.Trial]:
    """Of one run, all waiting; its metrics are known."""
    factories.finished_run()
    run = factories.run()
    return list(run.trials.order_by("position").select_related("configuration", "run"))


def test_a_page_gets_the_cells_that_changed_and_no_others(trials: list[models.Trial], client: Client) -> None:
    factories.finish(trials[0])
    page = Page(client, trials[0].run)
    assert not page.ask()
    factories.begin(trials[1], "measure", expected_s=60)
    assert page.ask() == cells(trials[1]) | {"<h1"} | _summary(trials[1])
    factories.finish(trials[1])
    assert page.ask() >= cells(trials[1]) | _summary(trials[1]) | {"panel-1"}
    assert not page.ask()
    factories.fail(trials[2])
    assert page.ask() & {name for name in page.elements if name.startswith("c")} == cells(trials[2])


def _summary(trial: models.Trial) -> set[str]:
    index = trial.configuration.index
    return {f"median-{index}", f"spread-{index}"}


@pytest.mark.parametrize("many_from", [1, 2000])
def test_a_page_that_takes_every_change_is_the_page_that_one_opens_then(
    many_from: int, trials: list[models.Trial], client: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("webapp.pages.runs.MANY_TRIALS", many_from)
    monkeypatch.setattr("webapp.pages.run_live.FIGURE_BYTES", 1)  # one figure at a time
    page = Page(client, trials[0].run)
    for place, trial in enumerate(trials):
        factories.begin(trial, "load", expected_s=600)
        page.ask()
        if place % 3 == 2:
            factories.fail(trial)
        else:
            factories.finish(trial, 900.0 * (place + 1))
        if place % 2:
            page.ask()
            page.ask()
            assert page.elements == Page(client, trials[0].run).elements
    close_finished(trials[0].run_id)
    assert page.ask() == {"whole"} and not page.mark
    assert page.elements == Page(client, trials[0].run).elements


def test_figures_that_do_not_fit_come_with_the_next_answers(client: Client, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("webapp.pages.run_live.FIGURE_BYTES", 1)
    factories.finished_run()  # metrics
    factors = {"installation": ["16", "18"], "clients": [1, 2, 4], "scale": [1, 2, 3]}
    run = factories.run(factors=factors, replicates=1)
    page = Page(client, run)
    for trial in run.trials.select_related("configuration"):
        factories.finish(trial, 500.0)
    came = [{name for name in page.ask() if name.startswith("panel")} for _ in range(4)]
    assert came == [{"panel-1"}, {"panel-2"}, {"panel-3"}, set()]
    assert page.elements == Page(client, run).elements


def test_a_change_that_is_committed_late_is_not_missed(trials: list[models.Trial], client: Client) -> None:
    run, late = trials[0].run, trials[0]
    with psycopg.connect(**connection.get_connection_params() | {"cursor_factory": psycopg.Cursor}) as other:
        changed = "UPDATE results_trial SET state = 'cancelled', state_at = now() - interval '1 hour' WHERE id = %s"
        other.execute(changed, [late.pk])
        page = Page(client, run)
        factories.finish(trials[1])
        page.ask()
        factories.finish(trials[2])
        page.ask()
        assert "cancelled" not in page.elements[f"c{late.pk}"]
        other.commit()
        page.ask()
    assert "cancelled" in page.elements[f"c{late.pk}"]
    assert page.elements == Page(client, run).elements


def test_a_change_within_a_savepoint_of_a_long_transaction_is_not_missed(
    trials: list[models.Trial], client: Client
) -> None:
    with psycopg.connect(**connection.get_connection_params() | {"cursor_factory": psycopg.Cursor}) as other:
        other.execute("SELECT pg_current_xact_id()")
        page = Page(client, trials[0].run)
        with other.transaction():
            other.execute("UPDATE results_trial SET state = 'cancelled' WHERE id = %s", [trials[0].pk])
        page.ask()
        other.commit()
        assert page.ask() >= cells(trials[0])
    assert "cancelled" in page.elements[f"c{trials[0].pk}"]


def test_numbers_that_are_parsed_again_come_too(trials: list[models.Trial], client: Client) -> None:
    attempt = factories.finish(trials[0], 4000.0)
    page = Page(client, trials[0].run)
    with transaction.atomic():
        models.Measurement.objects.filter(attempt=attempt, metric="tps").update(value=4400.0)
        models.Attempt.objects.filter(pk=attempt.pk).update(ingested_at=timezone.now())
    assert page.ask() >= cells(trials[0]) | _summary(trials[0])
    assert page.elements == Page(client, trials[0].run).elements


def test_all_is_sent_where_the_numbers_get_another_unit_or_there_are_more_cells(
    trials: list[models.Trial], client: Client
) -> None:
    run = trials[0].run
    models.Run.objects.filter(pk=run.pk).update(headline="latency.p99")
    page = Page(client, run)
    factories.finish(trials[0], 4000.0)  # 250 µs
    assert page.ask() > cells(trials[0])
    factories.finish(trials[1], 0.5, series=())
    assert page.ask() == {"whole"}
    assert not page.ask()
    trials[0].pk, trials[0].block, trials[0].position = None, 9, 99
    trials[0].attempt, trials[0].state = None, "waiting"
    trials[0].save(force_insert=True)
    assert page.ask() == {"whole"}
    assert page.elements == Page(client, run).elements


@pytest.mark.parametrize("mark", ["x", " ", "1,2,3 a b c", "1,1, a b,b,b c", f"{'9' * 30},1, a b,b,b c", "-1,-1, a , "])
def test_all_is_sent_for_a_mark_that_is_none(mark: str, trials: list[models.Trial], client: Client) -> None:
    answer = client.get(f"/runs/{trials[0].run_id}/live/", headers={HEADER: mark})
    assert answer.status_code == 200 and answer.headers["HX-Reswap"] == "outerHTML"
    assert HEADER in answer.headers["Vary"]


def test_all_is_sent_for_a_mark_of_another_warehouse(trials: list[models.Trial], client: Client) -> None:
    page = Page(client, trials[0].run)
    mark = Mark.parse(page.mark)
    assert mark and Mark.parse(mark.write()) == mark
    page.mark = page.mark.replace(f"{mark.read},", f"{mark.read + 10_000},", 1)
    assert page.ask() == {"whole"}


def test_another_language_gets_all_of_the_page(trials: list[models.Trial], client: Client) -> None:
    page = Page(client, trials[0].run)
    page.client.cookies["teiten_language"] = "ja"
    assert page.ask() == {"whole"}


def test_a_change_takes_as_few_queries_as_a_page(
    trials: list[models.Trial], client: Client, django_assert_max_num_queries: Any
) -> None:
    page = Page(client, trials[0].run)
    factories.finish(trials[0])
    with django_assert_max_num_queries(9):
        page.ask()
