"""The comparison's page."""

from __future__ import annotations

import json
import re
from typing import Any

from django.test import Client

from results import models
from results.queries.comparison import Selection, compare
from tests import factories


def text_of(client: Client, path: str, **headers: str) -> str:
    answer = client.get(path, **headers)
    assert answer.status_code == 200
    return answer.content.decode()


def test_it_shows_medians_ratios_and_every_replicate(done: models.Run, stranger: Client) -> None:
    text = text_of(stranger, f"/compare/?run={done.pk}")
    assert "Transactions per second by clients" in text
    assert "×1.125" in text
    figure = json.loads(re.findall(r'<script id="figure" type="application/json">(.*?)</script>', text)[0])
    assert sum(len(trace.get("customdata", ())) for trace in figure["data"]) == 8
    for trial in done.trials.all():
        assert f"/trials/{trial.pk}/" in text


def test_it_takes_at_most_ten_queries_whatever_the_number_of_trials(
    db: None, member: Client, django_assert_max_num_queries: Any
) -> None:
    small = factories.finished_run()
    large = factories.finished_run(replicates=12)
    for run in (small, large):
        with django_assert_max_num_queries(10):
            text_of(member, f"/compare/?run={run.pk}")


def test_without_runs_it_offers_them(done: models.Run, stranger: Client, django_assert_max_num_queries: Any) -> None:
    with django_assert_max_num_queries(1):
        text = text_of(stranger, "/compare/")
    assert f'value="{done.pk}"' in text
    assert "Choose the runs" in text


def test_without_any_run_it_says_what_to_do(db: None, stranger: Client) -> None:
    assert "There is no run yet." in text_of(stranger, "/compare/")


def test_the_long_address_of_a_form_becomes_the_short_one(done: models.Run, stranger: Client) -> None:
    answer = stranger.get(f"/compare/?run={done.pk}&x=&series=&metric=tps&filter.clients=1&filter.clients=4")
    assert answer.status_code == 302
    assert answer["Location"] == f"/compare/?run={done.pk}&metric=tps&filter.clients=1,4"


def test_a_fragment_says_its_address(done: models.Run, stranger: Client) -> None:
    answer = stranger.get(f"/compare/?run={done.pk}&x=&series=none", headers={"HX-Request": "true"})
    assert answer["HX-Push-Url"] == f"/compare/?run={done.pk}&series=none"
    assert "<html" not in answer.content.decode()


def test_going_back_restores_a_whole_page(done: models.Run, stranger: Client) -> None:
    headers = {"HX-Request": "true", "HX-History-Restore-Request": "true"}
    assert "<html" in stranger.get(f"/compare/?run={done.pk}", headers=headers).content.decode()


def test_cells_that_mix_configurations_are_warned_of(done: models.Run, stranger: Client) -> None:
    text = text_of(stranger, f"/compare/?run={done.pk}&series=none")
    assert "Some cells mix different configurations" in text
    assert "only postgresql-16.9" in text
    assert 'class="lead"' not in text


def test_another_baseline_turns_the_ratio(done: models.Run, stranger: Client) -> None:
    text = text_of(stranger, f"/compare/?run={done.pk}&baseline=postgresql-18.1")
    assert "×0.889" in text


def test_failed_trials_are_counted_and_in_no_number(going: models.Run, stranger: Client) -> None:
    text = text_of(stranger, f"/compare/?run={going.pk}")
    assert "1 failed" in text
    assert text.count("<circle") == 1


def test_a_run_without_results_says_so(db: None, stranger: Client) -> None:
    run = factories.run()
    text = text_of(stranger, f"/compare/?run={run.pk}")
    assert "Nothing to draw yet." in text
    assert "8 are waiting" in text


def test_an_unknown_name_is_an_error_that_names_it(done: models.Run, stranger: Client) -> None:
    for query in ("x=nonsense", "series=nonsense", "metric=nonsense", "baseline=nonsense", "filter.nonsense=1"):
        answer = stranger.get(f"/compare/?run={done.pk}&{query}")
        assert answer.status_code == 400
        assert "nonsense" in answer.content.decode()
    assert stranger.get("/compare/?run=x").status_code == 400


def test_the_same_as_json_stands_at_the_same_query(done: models.Run, stranger: Client) -> None:
    text = text_of(stranger, f"/compare/?run={done.pk}&filter.clients=4")
    address = re.findall(r'href="(/api/v1/comparison/[^"]+)"', text)[0].replace("&amp;", "&")
    assert address == f"/api/v1/comparison/?run={done.pk}&filter.clients=4"
    assert stranger.get(address).status_code == 200


def test_a_first_look_chooses_one_level_of_what_would_be_mixed(db: None, stranger: Client) -> None:
    factors = {"script": ["select-only", "tpcb-like"], "clients": [1, 4], "installation": ["16", "18"]}
    run = factories.finished_run(factors=factors)
    answer = stranger.get(f"/compare/?run={run.pk}", follow=True)
    assert answer.redirect_chain == [(f"/compare/?run={run.pk}&filter.script=select-only", 302)]
    assert "mix different configurations" not in answer.content.decode()


def test_the_sentence_counts_only_levels_that_have_a_ratio(done: models.Run, stranger: Client) -> None:
    lacking = done.trials.filter(configuration__dimensions__clients=4, configuration__dimensions__major="16")
    models.Measurement.objects.filter(attempt__trial__in=lacking).delete()
    assert "above it at 1 of 1 level of clients" in text_of(stranger, f"/compare/?run={done.pk}")


def test_a_ratio_of_zero_is_a_ratio(done: models.Run, stranger: Client) -> None:
    newer = done.trials.filter(configuration__dimensions__major="18")
    models.Measurement.objects.filter(attempt__trial__in=newer, metric="tps").update(value=0)
    assert "×0.000 of postgresql-16.9; above it at 0 of 2 levels" in text_of(stranger, f"/compare/?run={done.pk}")


def test_initdb_options_and_collectors_are_no_first_choice(db: None, stranger: Client) -> None:
    one = factories.finished_run(collectors=["sar"])
    two = factories.finished_run(collectors=["pg_stat"], initdb=["--data-checksums"])
    alone = text_of(stranger, f"/compare/?run={one.pk}")
    assert 'name="filter.collectors"' not in alone
    assert 'name="filter.initdb"' not in alone
    found = compare(Selection((one.pk, two.pk)))
    assert (found.selection.x, found.selection.series) == ("clients", "installation")
    models.Configuration.objects.update(levels={}, dimensions={"initdb": "", "collectors": "sar"})
    models.Configuration.objects.filter(run=two).update(dimensions={"initdb": "-k", "collectors": "pg_stat"})
    assert compare(Selection((one.pk, two.pk))).selection.series == ""
