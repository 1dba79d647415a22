"""The comparison's page."""

from __future__ import annotations

import json
import re
from dataclasses import replace
from typing import Any
from unittest.mock import patch

from django.test import Client

from results import models
from results.domain.plan import to_toml
from results.domain.statistics.verdict import Kind
from results.queries.comparison.compare import compare
from results.queries.comparison.more_replicates import by_noise
from results.queries.shared.selection import Selection
from tests import environments, factories
from tests.page_text import page_text
from tests.results.queries.environment.test_environments import KERNEL
from webapp import urlstate
from webapp.compare.table import extensible_runs, lacking, place_of, runs_lacking_replicates, table
from webapp.compare.words import lead
from webapp.pages import comparison as comparison_page


def text_of(client: Client, path: str, **headers: str) -> str:
    answer = client.get(path, **headers)
    assert answer.status_code == 200
    return page_text(answer)


def figures_of(text: str) -> list[Any]:
    matches = re.findall(r'<script id="figure-\d+" type="application/json">(.*?)</script>', text)
    return [json.loads(figure) for figure in matches]


def test_it_shows_values_ratios_and_every_replicate(done: models.Run, stranger: Client) -> None:
    text = text_of(stranger, f"/compare/?run={done.pk}")
    assert "PostgreSQL 18.1 against 16.9" in text
    assert "Transactions per second by clients" in text
    assert "×1.125" in text
    traces = [trial for trace in figures_of(text)[0]["data"] for trial in trace.get("customdata", ())]
    assert sorted(traces) == sorted(done.trials.values_list("pk", flat=True))


def spread(run: models.Run, factor: float = 1.0) -> models.Run:
    """Every trial done: 1000 × clients with a little noise, in 18 times the factor."""
    for trial in run.trials.select_related("configuration"):
        its = trial.configuration.dimensions
        noise = 1 + 0.002 * ((trial.block * 7 + its["clients"]) % 5)
        factories.finish(trial, 1000 * its["clients"] * noise * (factor if its["major"] == "18" else 1))
    return run


def test_the_lead_says_what_the_verdicts_say(db: None, stranger: Client) -> None:
    run = spread(factories.run(replicates=6), 0.8)
    text = text_of(stranger, f"/compare/?run={run.pk}")
    assert '<b class="worse">18.1 is slower at both client counts</b> <span class="basis' in text
    assert "</span>: Transactions per second ×0.800" in text
    assert text.count('class="verdict worse"') == 2
    assert "Verdicts by rule" in text
    other = text_of(stranger, f"/compare/?run={run.pk}&baseline=postgresql-18.1")
    assert '<b class="better">16.9 is faster at both client counts</b>' in other


def test_what_cannot_be_told_is_not_claimed(db: None, stranger: Client) -> None:
    run = factories.finished_run(replicates=1)
    text = text_of(stranger, f"/compare/?run={run.pk}")
    assert "18.1 is undecided against 16.9 at both client counts" in text
    assert "faster" not in text


def test_equal_values_are_the_same_within_the_margin(db: None, stranger: Client) -> None:
    run = spread(factories.run(replicates=10))
    text = text_of(stranger, f"/compare/?run={run.pk}")
    assert '<b class="same">18.1 is the same as 16.9, within ±2 %, at both client counts</b>' in text


def test_where_no_direction_is_better_the_words_are_higher_and_lower(db: None, stranger: Client) -> None:
    run = spread(factories.run(replicates=6), 0.8)
    models.Metric.objects.filter(pk="tps").update(better="neither")
    text = text_of(stranger, f"/compare/?run={run.pk}")
    assert '<b class="lower">18.1 is lower at both client counts</b>' in text


def test_a_row_that_is_unticked_is_left_out_of_the_summary(done: models.Run, stranger: Client) -> None:
    whole = text_of(stranger, f"/compare/?run={done.pk}")
    part = text_of(stranger, f"/compare/?run={done.pk}&without=4")
    assert "of 2" in whole.split("geometric mean</th>")[1]
    assert "of 1<" in part.split("geometric mean</th>")[1]
    assert '<input type="hidden" name="without" value="4">' in part


def test_each_panel_has_its_figure_on_one_scale_and_its_rows(db: None, stranger: Client) -> None:
    factors = {"installation": ["16", "18"], "clients": [1, 4], "script": ["select-only", "tpcb-like"]}
    run = factories.finished_run(factors=factors)
    text = text_of(stranger, f"/compare/?run={run.pk}&panel=script")
    figures = figures_of(text)
    assert len(figures) == 2
    assert figures[0]["layout"]["yaxis"]["range"] == figures[1]["layout"]["yaxis"]["range"]
    assert text.count('<tr class="panel">') == text.count('<tr class="total">') == 2


def test_two_dimensions_make_one_series(db: None, stranger: Client) -> None:
    factors = {"installation": ["16", "18"], "clients": [1, 4], "script": ["select-only", "tpcb-like"]}
    run = factories.finished_run(factors=factors)
    text = text_of(stranger, f"/compare/?run={run.pk}&series=installation,script&baseline=select-only")
    assert "postgresql-18.1 · tpcb-like" in text
    assert '<select name="series" id="series-2">' in text
    assert '<optgroup label="else the same">' in text


def test_speed_up_is_offered_over_clients_against_an_ideal_line(done: models.Run, stranger: Client) -> None:
    text = text_of(stranger, f"/compare/?run={done.pk}&view=speedup")
    ideal = figures_of(text)[0]["data"][-1]
    assert (ideal["name"], ideal["y"]) == ("ideal", [1, 4])
    assert "speed-up" not in text_of(stranger, f"/compare/?run={done.pk}&series=none&x=installation&filter.clients=4")


def test_the_ratios_view_draws_intervals_and_no_baseline(done: models.Run, stranger: Client) -> None:
    traces = figures_of(text_of(stranger, f"/compare/?run={done.pk}&view=ratio"))[0]["data"]
    with_interval = [trace for trace in traces if trace.get("error_y")]
    assert [trace["name"] for trace in with_interval] == ["postgresql-18.1"]
    assert [round(y, 3) for y in with_interval[0]["y"]] == [1.125, 1.125]


def test_a_change_of_one_axis_gives_its_dimension_to_the_other(done: models.Run, stranger: Client) -> None:
    was = "was.x=clients&was.series=installation&was.panel=&was.metric=tps"
    query = f"run={done.pk}&x=installation&series=installation&baseline=postgresql-18.1&{was}"
    answer = stranger.get(f"/compare/?{query}", headers={"HX-Request": "true"})
    assert answer["HX-Push-Url"] == f"/compare/?run={done.pk}&series=clients&x=installation"


def test_a_baseline_that_a_filter_takes_away_becomes_the_first(done: models.Run, stranger: Client) -> None:
    was = "was.x=clients&was.series=installation&was.panel=&was.metric=tps"
    query = f"run={done.pk}&baseline=postgresql-18.1&filter.installation=postgresql-16.9&{was}"
    answer = stranger.get(f"/compare/?{query}", headers={"HX-Request": "true"})
    assert answer.status_code == 200


def test_the_trials_behind_a_cell(
    done: models.Run, stranger: Client, member: Client, django_assert_max_num_queries: Any
) -> None:
    address = f"/compare/cell/?run={done.pk}&at=4&of=postgresql-18.1"
    with django_assert_max_num_queries(8):
        text = text_of(stranger, address)
    behind = done.trials.filter(configuration__dimensions__clients=4)
    assert behind.count() == 4
    for trial in behind:
        assert f"/trials/{trial.pk}/" in text
    assert "4,501 tps" in text
    assert "<html" not in text_of(member, address, headers={"HX-Request": "true"})
    assert stranger.get(f"/compare/cell/?run={done.pk}&at=5&of=postgresql-18.1").status_code == 404


def wavering(seed: int) -> models.Run:
    """So noisy that three blocks tell nothing."""
    run = factories.run(replicates=3, seed=seed)
    factories.finish_noisily(run, 0.06)
    return run


def test_only_a_member_is_offered_more_blocks_and_nothing_is_queued_by_a_click(
    db: None, stranger: Client, member: Client
) -> None:
    run = wavering(1)
    wanting = [p.verdict for p in compare(Selection((run.pk,))).points if p.verdict and p.verdict.more]
    text, own = (text_of(client, f"/compare/?run={run.pk}") for client in (stranger, member))
    for page in (text, own):
        assert page.count('<span class="verdict too-few"') == page.count(">undecided<") == len(wanting) > 0
        for verdict in wanting:
            assert f"<small>{lacking(verdict)}</small>" in page
        assert "Added" not in page and 'method="post" action="/runs/' not in page
    assert 'action="/runs/blocks/"' not in text
    form = own[own.index('<form class="tools" method="get" action="/runs/blocks/"') :].partition("</form>")[0]
    assert f'name="run" value="{run.pk}"' in form
    assert min(verdict.more or 0 for verdict in wanting) > 10  # which nobody gets by two clicks
    assert 'name="blocks" id="more-blocks" value="10" min="1" max="1000"' in form


def test_more_blocks_go_by_the_noise_of_an_aa_run_and_say_so(db: None, member: Client) -> None:
    aa_run, run = factories.aa_run(0.02), wavering(1)
    comparison, _ = by_noise(compare(Selection((run.pk,))))
    point = next(p for p in comparison.points if p.verdict and p.verdict.more)
    assert point.verdict
    message = f'from the noise of <a href="/runs/{aa_run.pk}/">A/A run {aa_run.pk}</a> on the same agents'
    text = text_of(member, f"/compare/?run={run.pk}")
    assert f"{lacking(point.verdict)}<" in text and message in text
    behind = text_of(member, f"/compare/cell/?run={run.pk}&{place_of(point)}")
    assert f"{lacking(point.verdict).capitalize()}, in four of five cases." in behind and message in behind
    assert "<button" not in behind[behind.index("<main") : behind.index("</main>")]
    aa_run.delete()
    assert "from the noise of" not in text_of(member, f"/compare/?run={run.pk}")


def skewed() -> models.Run:
    """At one level of clients: medians are equal, geometric means are not."""
    run = factories.run(replicates=5, factors={"installation": ["16", "18"], "clients": [1]})
    values = {"16": [1000, 1001, 1002, 1003, 1004], "18": [700, 701, 1002, 1003, 1004]}
    for trial in run.trials.select_related("configuration"):
        factories.finish(trial, values[trial.configuration.dimensions["major"]][trial.block - 1])
    return run


def test_an_interval_stands_beside_the_ratio_that_it_is_around(db: None, stranger: Client) -> None:
    run = skewed()
    query = f"run={run.pk}"
    newer = next(p for p in compare(urlstate.read(query)).points if p.verdict)
    verdict = newer.verdict
    assert verdict and verdict.ratio and verdict.low and verdict.high and newer.ratio == verdict.ratio
    assert newer.median == next(p for p in compare(urlstate.read(query)).points if not p.verdict).median
    text = text_of(stranger, f"/compare/?{query}")
    message = f"×{verdict.ratio:.3f} (95 % interval {verdict.low:.3f} … {verdict.high:.3f}, ratio of geometric means)"
    assert message in text
    assert f"ratio of geometric means ×{verdict.ratio:.4g}" in text
    total = text.split("geometric mean</th>")[1]
    assert f"×{verdict.ratio:.3f}</b>" in total and "×1.000</b>" in total  # the baseline's own
    (trace,) = [
        trace
        for trace in figures_of(text_of(stranger, f"/compare/?{query}&view=ratio"))[0]["data"]
        if trace.get("error_y")
    ]
    middle, reach = trace["y"][0], trace["error_y"]
    assert round(middle, 4) == round(verdict.ratio, 4)
    assert round(middle + reach["array"][0], 4) == round(verdict.high, 4)
    assert round(middle - reach["arrayminus"][0], 4) == round(verdict.low, 4)


def test_a_mean_within_the_margin_has_no_colour(db: None, stranger: Client) -> None:
    run = spread(factories.run(replicates=10), 0.996)
    for one in models.Measurement.objects.filter(metric="tps").select_related("attempt__trial"):
        models.Measurement.objects.filter(pk=one.pk).update(value=one.value * (1 + one.pk % 3 * 1e-5))
    text = text_of(stranger, f"/compare/?run={run.pk}")
    total = text.split("geometric mean</th>")[1]
    assert '<b class="">×0.996</b> <span class="soft">0.996' in total


def test_a_mean_of_what_is_not_comparable_has_no_colour(db: None, stranger: Client) -> None:
    run = spread(factories.run(replicates=6), 0.8)
    assert '<b class="worse">×0.800</b>' in text_of(stranger, f"/compare/?run={run.pk}").split("geometric mean</th>")[1]
    comparison = compare(Selection((run.pk,)))
    points = tuple(
        replace(p, verdict=replace(p.verdict, kind=Kind.NOT_COMPARABLE)) if p.verdict and p.x == "4" else p
        for p in comparison.points
    )
    (section,) = table(replace(comparison, points=points)).sections
    assert [total.kind for total in section.totals if total] == ["", ""]
    assert [message.kind for message in lead(replace(comparison, points=points))] == [""]


def test_more_blocks_are_asked_of_both_sides(db: None, member: Client) -> None:
    one, two = wavering(1), wavering(2)
    query = f"run={one.pk},{two.pk}&series=run&filter.installation=postgresql-16.9"
    requested = extensible_runs(compare(urlstate.read(query)))
    assert requested and set(requested.values()) == {(one.pk, two.pk)}
    text = text_of(member, f"/compare/?{query}")
    form = text[text.index('action="/runs/blocks/"') :].partition("</form>")[0]
    assert re.findall(r'name="run" value="(\d+)"', form) == [str(one.pk), str(two.pk)]


def test_blocks_are_offered_to_whom_the_run_takes_them_from(db: None, member: Client, admin: Client) -> None:
    run = wavering(1)
    assert extensible_runs(compare(Selection((run.pk,))))
    assert 'action="/runs/blocks/"' in text_of(member, f"/compare/?run={run.pk}")
    toml = to_toml(factories.a_plan(settings={"archive_command": "true"}))
    models.Run.objects.filter(pk=run.pk).update(toml=toml)
    assert 'action="/runs/blocks/"' not in text_of(member, f"/compare/?run={run.pk}&view=ratio")
    assert 'action="/runs/blocks/"' in text_of(admin, f"/compare/?run={run.pk}")


def test_a_saved_reference_and_published_figures_get_no_more_blocks(db: None, member: Client) -> None:
    run = wavering(1)
    (first, *_) = [p for p in compare(Selection((run.pk,))).points if p.verdict and p.verdict.more]
    base = next(p for p in compare(Selection((run.pk,))).points if p.key == first.base)
    assert runs_lacking_replicates(first, base) == (run.pk,)
    assert runs_lacking_replicates(first, replace(base, series="@first")) == ()
    publication = models.Publication.objects.create(
        slug="p", title="t", publisher="p", year=2012, place="p", file="p.csv", sha256="0"
    )
    models.Run.objects.filter(pk=run.pk).update(publication=publication)
    assert "/runs/blocks/" not in text_of(member, f"/compare/?run={run.pk}")


def test_what_is_missing_to_judge_is_said_where_it_is_not_known_how_many(done: models.Run) -> None:
    point = next(p for p in compare(Selection((done.pk,))).points if p.verdict)
    assert point.verdict
    undecided = replace(point.verdict, kind=Kind.TOO_FEW, more=None)
    for n, lacks in ((1, "it takes at least 3 replicates a side"), (3, "more than 1000 replicates would be needed")):
        single = replace(point, verdict=replace(undecided, n=n, n_base=n))
        (section,) = table(replace(compare(Selection((done.pk,))), points=(single,))).sections
        reported = [(cell.words, cell.lacks) for row in section.rows for cell in row.cells if cell]
        assert reported == [("undecided", lacks)]
    assert lacking(replace(undecided, more=1)) == "about 1 more replicate would tell"
    unreasonable = "cannot be told with a reasonable number of replicates: some 107 more a side"
    assert lacking(replace(undecided, more=107)) == unreasonable


def test_values_per_client_say_so(done: models.Run, stranger: Client) -> None:
    text = text_of(stranger, f"/compare/?run={done.pk}&per=client")
    assert "<small>tps per client</small>" in text
    assert '<small class="faint">tps per client</small>' in text
    assert "Transactions per second per client" in figures_of(text)[0]["layout"]["yaxis"]["title"]["text"]
    behind = text_of(stranger, f"/compare/cell/?run={done.pk}&per=client&at=4&of=postgresql-18.1")
    assert "all per client" in behind


def test_what_has_no_counterpart_is_listed(done: models.Run, stranger: Client) -> None:
    lacking = done.trials.filter(configuration__dimensions__clients=4, configuration__dimensions__major="18")
    models.Measurement.objects.filter(attempt__trial__in=lacking).delete()
    assert "18.1 has no result at clients 4." in text_of(stranger, f"/compare/?run={done.pk}")


def test_a_value_that_would_leave_nothing_is_dimmed(db: None, stranger: Client) -> None:
    one = factories.finished_run(parameters={"scale": 5})
    two = factories.finished_run(parameters={}, factors={"installation": ["16", "18"], "scale": [7, 9]})
    text = text_of(stranger, f"/compare/?run={one.pk},{two.pk}&filter.clients=1&filter.run={one.pk}")
    assert re.search(r'class="chip none[^>]*>\s*<input[^>]*value="7"[^>]*aria-disabled="true"', text)


def test_it_takes_at_most_twelve_queries_whatever_the_number_of_trials(
    db: None, member: Client, django_assert_max_num_queries: Any
) -> None:
    small = factories.finished_run()
    large = factories.finished_run(replicates=12)
    for run in (small, large):
        with django_assert_max_num_queries(12):
            text_of(member, f"/compare/?run={run.pk}")


def test_without_runs_it_offers_them(done: models.Run, stranger: Client, django_assert_max_num_queries: Any) -> None:
    with django_assert_max_num_queries(2):
        text = text_of(stranger, "/compare/")
    assert f'value="{done.pk}"' in text
    assert f'href="/compare/?run={done.pk}"' in text


def test_the_list_of_runs_has_the_state_of_each_and_no_name_in_its_place(
    done: models.Run, going: models.Run, stranger: Client
) -> None:
    text = text_of(stranger, f"/compare/?run={done.pk}")
    badges = re.findall(r'<span class="badge (\w+)">\s*(.*?)\s*</span>', text)
    assert badges == [("running", "running"), ("finished", "finished")]
    assert f'aria-label="Run {done.pk}, {done.name}"' in text


def test_without_any_run_it_says_what_to_do(db: None, stranger: Client) -> None:
    assert "There is no run yet." in text_of(stranger, "/compare/")


def test_the_long_address_of_a_form_becomes_the_short_one(done: models.Run, stranger: Client) -> None:
    answer = stranger.get(f"/compare/?run={done.pk}&x=&series=&metric=tps&filter.clients=1&filter.clients=4")
    assert answer.status_code == 302
    assert answer["Location"] == f"/compare/?run={done.pk}&filter.clients=1,4"


def test_a_fragment_says_its_address(done: models.Run, stranger: Client) -> None:
    answer = stranger.get(f"/compare/?run={done.pk}&x=&series=none", headers={"HX-Request": "true"})
    assert answer["HX-Push-Url"] == f"/compare/?run={done.pk}&series=none"
    assert "<html" not in page_text(answer)


def test_going_back_restores_a_whole_page(done: models.Run, stranger: Client) -> None:
    headers = {"HX-Request": "true", "HX-History-Restore-Request": "true"}
    assert "<html" in page_text(stranger.get(f"/compare/?run={done.pk}", headers=headers))


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
    assert sum(len(trace.get("customdata", ())) for trace in figures_of(text)[0]["data"]) == 1


def test_a_run_without_results_says_so(db: None, stranger: Client) -> None:
    run = factories.run()
    text = text_of(stranger, f"/compare/?run={run.pk}")
    assert "Nothing to draw yet." in text
    assert "8 are waiting" in text


def test_an_unknown_name_is_an_error_that_names_it(done: models.Run, stranger: Client) -> None:
    for query in ("x=nonsense", "series=nonsense", "metric=nonsense", "baseline=nonsense", "filter.nonsense=1"):
        answer = stranger.get(f"/compare/?run={done.pk}&{query}")
        assert answer.status_code == 400
        assert "nonsense" in page_text(answer)
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
    assert "mix different configurations" not in page_text(answer)


def test_the_sentence_counts_only_levels_that_have_a_ratio(done: models.Run, stranger: Client) -> None:
    lacking = done.trials.filter(configuration__dimensions__clients=4, configuration__dimensions__major="16")
    models.Measurement.objects.filter(attempt__trial__in=lacking).delete()
    text = text_of(stranger, f"/compare/?run={done.pk}")
    assert "client count" not in re.findall(r'<p class="lead">(.*?)</p>', text)[0]
    assert "18.1 has nothing of 16.9 to be compared with at clients 4." in text


def test_a_ratio_of_zero_is_a_ratio(done: models.Run, stranger: Client) -> None:
    newer = done.trials.filter(configuration__dimensions__major="18")
    models.Measurement.objects.filter(attempt__trial__in=newer, metric="tps").update(value=0)
    assert text_of(stranger, f"/compare/?run={done.pk}").count("×0.000") == 2


def test_initdb_options_and_collectors_are_no_first_choice(db: None, stranger: Client) -> None:
    one = factories.finished_run(collectors=["sar"])
    two = factories.finished_run(collectors=["pg_stat"], initdb=["--data-checksums"])
    alone = text_of(stranger, f"/compare/?run={one.pk}")
    assert 'name="filter.collectors"' not in alone
    assert 'name="filter.initdb"' not in alone
    comparison = compare(Selection((one.pk, two.pk)))
    assert (comparison.selection.x, comparison.selection.series) == ("clients", "installation")
    models.Configuration.objects.update(levels={}, dimensions={"initdb": "", "collectors": "sar"})
    models.Configuration.objects.filter(run=two).update(dimensions={"initdb": "-k", "collectors": "pg_stat"})
    assert compare(Selection((one.pk, two.pk))).selection.series == ""


def test_a_page_that_the_visitor_has_is_not_made_again(
    done: models.Run, stranger: Client, django_assert_num_queries: Any
) -> None:
    path = f"/compare/?run={done.pk}"
    stranger.get(path)  # now it has the cookie of forms
    first = stranger.get(path)
    with django_assert_num_queries(1):
        assert stranger.get(path, headers={"If-None-Match": first["ETag"]}).status_code == 304
    fragment = stranger.get(path, headers={"If-None-Match": first["ETag"], "HX-Request": "true"})
    assert fragment.status_code == 200
    factories.run()  # is offered besides
    assert stranger.get(path, headers={"If-None-Match": first["ETag"]}).status_code == 200


def test_no_visitor_gets_the_page_of_another(done: models.Run, stranger: Client, member: Client) -> None:
    path = f"/compare/?run={done.pk}"
    assert member.get(path, headers={"If-None-Match": stranger.get(path)["ETag"]}).status_code == 200


def test_a_headline_without_verdict_names_what_withholds_it(done: models.Run, stranger: Client) -> None:
    environments.run_in_versions(done, v18=environments.layers(18, facts=KERNEL))
    text = text_of(stranger, f"/compare/?run={done.pk}")
    assert "18.1 cannot be compared with 16.9: another kernel on the two sides, at both client counts" in text


def test_a_run_that_is_older_than_those_listed_is_named_too(db: None, stranger: Client) -> None:
    old = factories.finished_run(name="The old one")
    factories.run(name="The new one")
    with patch.object(comparison_page, "LISTED", 1):
        text = page_text(stranger.get(f"/compare/?run={old.pk}", follow=True))
    assert "The old one" in text.partition("</h1>")[0]


def test_levels_with_long_names_have_a_row_each_on_the_comparison_and_on_the_run(db: None, stranger: Client) -> None:
    label = "{} of shared buffers, huge pages, NVMe RAID 10"
    levels = [
        {"label": label.format(size), "values": {"setting.shared_buffers": size, "setting.huge_pages": "off"}}
        for size in ("1GB", "8GB")
    ]
    run = factories.finished_run(factors={"installation": ["16", "18"], "memory": levels})
    for path in (f"/compare/?run={run.pk}&x=memory&series=installation", f"/runs/{run.pk}/"):
        text = page_text(stranger.get(path, follow=True))
        figures = map(json.loads, re.findall(r'<script id="[^"]*" type="application/json">(\{.*?)</script>', text))
        [layout] = [figure["layout"] for figure in figures if "layout" in figure]
        names = [name.replace("<br>", " ") for name in layout["yaxis"]["ticktext"]]
        assert names == [level["label"] for level in levels]
