"""Comparisons of many cells and replicates: the page begins with some rows and leads to all others, and figures of too
many replicates draw the outermost."""

from __future__ import annotations

import html
import re
from typing import Any

import pytest
from django.test import Client

from results import models
from tests import factories
from tests.webapp.pages.test_comparison import figures_of, spread, text_of

ROW = re.compile(r"<tr data-x=.*?</tr>", re.S)


def rows_of(text: str) -> list[str]:
    return [row.replace('"/compare/cell/', '"cell/') for row in ROW.findall(text)]


def drawn_trials(text: str) -> list[int]:
    return sorted(trial for trace in figures_of(text)[0]["data"] for trial in trace.get("customdata", ()))


@pytest.fixture
def run(db: None) -> models.Run:
    """Six replicates of each of two versions at two client counts, all different."""
    return spread(factories.run(replicates=6))


def test_a_page_begins_with_some_rows_and_leads_to_all_others(
    run: models.Run, stranger: Client, monkeypatch: pytest.MonkeyPatch, django_assert_max_num_queries: Any
) -> None:
    address = f"/compare/?run={run.pk}"
    whole = text_of(stranger, address)
    assert len(rows_of(whole)) == 2 and "rows are here" not in whole
    monkeypatch.setattr("webapp.compare.rows.AT_ONCE", 2)
    text = text_of(stranger, address)
    assert "1 of 2 rows are here." in text and 'class="total"' not in text
    link = html.unescape(re.findall(r'href="(/compare/rows/[^"]+)"', text)[0])
    with django_assert_max_num_queries(8):
        further = text_of(stranger, link, headers={"HX-Request": "true"})
    assert "<html" not in further and "rows are here" not in further
    assert rows_of(text) + rows_of(further) == rows_of(whole)
    assert further.count('class="total"') == whole.count('class="total"') == 1
    alone = text_of(stranger, link)
    assert "<html" in alone and rows_of(alone) == rows_of(further)
    assert f'href="{address}"' in alone
    assert stranger.get(link.replace("after=1", "after=2")).status_code == 404


def test_further_rows_of_a_private_run_are_not_there_for_others(run: models.Run, stranger: Client) -> None:
    address = f"/compare/rows/?run={run.pk}&after=1"
    assert stranger.get(address).status_code == 200
    models.Run.objects.filter(pk=run.pk).update(private=True, standing="exploratory")
    assert stranger.get(address).status_code == 404


def test_figures_of_too_many_replicates_draw_the_outermost(
    run: models.Run, stranger: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    address = f"/compare/?run={run.pk}"
    text = text_of(stranger, address)
    assert drawn_trials(text) == sorted(run.trials.values_list("pk", flat=True))
    assert "Each mark is a replicate" in text
    monkeypatch.setattr("webapp.charts.many.MOST_REPLICATES", 23)
    text = text_of(stranger, address)
    outermost = []
    for configuration in run.configurations.all():
        values = models.Measurement.objects.filter(attempt__trial__configuration=configuration, metric="tps")
        trials = values.order_by("value").values_list("attempt__trial", flat=True)
        outermost += [trials[0], trials[5]]
    assert drawn_trials(text) == sorted(outermost)
    assert "the smallest and the largest replicate are drawn, and the outliers, as open marks: there are 24" in text
    assert "Each mark is a replicate" not in text


def test_too_many_trials_are_not_drawn_against_their_latency(
    run: models.Run, stranger: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    address = f"/compare/?run={run.pk}&view=latency"
    assert len(drawn_trials(text_of(stranger, address))) == 24
    monkeypatch.setattr("webapp.charts.many.MOST_REPLICATES", 23)
    text = text_of(stranger, address)
    assert drawn_trials(text) == []
    assert "The 24 trials are not drawn one by one." in text
