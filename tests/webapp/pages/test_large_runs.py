"""The page of a run with thousands of trials shows a part of its matrix, and sends no more."""

from __future__ import annotations

import json
import re

import pytest
from django.db.models import OuterRef, Subquery
from django.test import Client
from django.utils import timezone

from results import models, runs, sql
from results.domain.states import AttemptState, TrialState
from results.queries.runs.runs import run_detail
from tests import factories
from tests.page_text import page_text
from webapp.pages.run_matrix import MOST_CELLS, run_matrix, shown_part

MOST_BYTES = 300_000
CLIENTS, SCALES, REPLICATES = 15, 8, 25


@pytest.fixture
def wide(db: None) -> models.Run:
    """1,500 trials in 60 configurations, which all wait: two parts by two."""
    run = factories.run(factors={"clients": list(range(1, 31)), "scale": [1, 2]}, installation="16", replicates=25)
    runs.make_trials(run.pk)
    runs.analyze_trials()
    return run


@pytest.fixture
def large(db: None) -> models.Run:
    """3,000 trials in 120 configurations, of which those of 24 replicates are done."""
    factories.finished_run()  # metrics
    run = factories.run(
        factors={"clients": list(range(1, CLIENTS + 1)), "scale": list(range(1, SCALES + 1))},
        installation="16",
        replicates=REPLICATES,
    )
    while runs.make_trials(run.pk):
        pass
    _measure(run, done=24)
    runs.analyze_trials()
    sql.execute("ANALYZE results_attempt, results_attemptvalues")
    return run


def _measure(run: models.Run, done: int) -> None:
    trials = list(run.trials.filter(block__lte=done))
    attempts = models.Attempt.objects.bulk_create(
        models.Attempt(run=run, trial=trial, number=1, state=AttemptState.DONE) for trial in trials
    )
    models.Measurement.objects.bulk_create(
        models.Measurement(run=run, attempt=attempt, metric_id="tps", node="", label="", value=1000 + trial.position)
        for trial, attempt in zip(trials, attempts, strict=True)
    )
    attempt_of = models.Attempt.objects.filter(trial=OuterRef("pk")).values("pk")
    run.trials.filter(block__lte=done).update(state=TrialState.DONE, attempt=Subquery(attempt_of))


def test_what_a_large_run_sends_again_and_again_is_bounded(large: models.Run, client: Client) -> None:
    client.force_login(factories.member())
    answer = client.get(f"/runs/{large.pk}/live/")
    assert len(answer.content) < MOST_BYTES, len(answer.content)
    text = page_text(answer)
    assert "2880 of 3000 trials" in text and 'hx-trigger="every 10s"' in text
    assert text.count('<td class="t ') == 50 * 5  # the last replicates, of the first configurations
    assert "Configurations 1 to 50 of 120" in text and "Replicates 21 to 25 of 25" in text
    [figure] = [json.loads(text) for text in re.findall(r'id="panel-\d+" type="application/json">(.*?)</script>', text)]
    drawn = [value for trace in figure["data"] for value in trace["y"] if value is not None]
    assert len(drawn) < 120 * 10 and max(drawn) > 0
    whole_page = page_text(client.get(f"/runs/{large.pk}/"))
    assert "only the smallest and the largest of each configuration have a mark" in whole_page


def test_every_trial_of_a_large_run_is_in_one_part_of_the_matrix(wide: models.Run, client: Client) -> None:
    client.force_login(factories.member())
    found: list[str] = []
    row: int | None = 1
    while row:
        block: int | None = 1
        while block:
            text = page_text(client.get(f"/runs/{wide.pk}/?row={row}&replicate={block}"))
            assert f'hx-get="/runs/{wide.pk}/live/?row={row}&amp;replicate={block}"' in text
            found += re.findall(r'data-trial="(\d+)"', text)
            block = _next(text, rf"\?row={row}&amp;replicate=(\d+)#matrix\">Later")
        row = _next(text, r"\?row=(\d+)&amp;replicate=\d+#matrix\">Those after")
    assert sorted(map(int, found)) == sorted(wide.trials.values_list("pk", flat=True)) and len(found) == 1500


def test_the_page_of_a_large_run_says_of_which_failures_it_tells(
    wide: models.Run, client: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    for trial in wide.trials.order_by("position")[:4]:
        factories.fail(trial, f"No server {trial.position}.")
    client.force_login(factories.member())
    monkeypatch.setattr("webapp.pages.runs.MANY_TRIALS", 1)
    for module in ("runs", "run_failures"):
        monkeypatch.setattr(f"webapp.pages.{module}.MOST_FAILED", 3)
    text = page_text(client.get(f"/runs/{wide.pk}/live/"))
    assert "4 trials failed" in text and "3 trials:" in text and "the causes of the first 3" in text


def _next(text: str, link: str) -> int | None:
    match = re.search(link, text)
    return int(match.group(1)) if match else None


@pytest.mark.parametrize("place", ["row=0&replicate=0", "row=x&replicate=-1", "row=999999999&replicate=999999999"])
def test_a_place_that_is_none_shows_a_part_that_there_is(place: str, wide: models.Run, client: Client) -> None:
    client.force_login(factories.member())
    text = page_text(client.get(f"/runs/{wide.pk}/live/?{place}"))
    assert 0 < text.count('<td class="t ') <= MOST_CELLS


def test_headings_of_a_part_span_its_own_rows(wide: models.Run) -> None:
    detail = run_detail(wide.pk, timezone.now())
    matrix = run_matrix(detail, shown_part(detail, row=16))
    assert [[(head.text, head.span) for head in row.heads] for row in matrix.rows[:2]] == [
        [("8", 1), ("2", 1)],
        [("9", 2), ("1", 1)],
    ]
    assert all(row.opens_group for row in matrix.rows[:2])
