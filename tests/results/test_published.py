"""Published figures: read, recomputed, loaded, and reproduced by the comparison."""

from __future__ import annotations

import hashlib
from statistics import fmean, median

import pytest

from results import models, runs
from results.domain.errors import StateError, TeitenError
from results.published.catalogue import TABLES
from results.published.load import load, remove
from results.published.tables import FOLDER, Derived, rows
from results.queries.comparison.compare import Comparison, compare
from results.queries.shared.selection import Selection
from tests.newest_answers import newest_answers
from workers.registry import kinds, known_metrics

BY_SLUG = {table.slug: table for table in TABLES}


@pytest.fixture
def loaded(db: None) -> None:
    load(TABLES, known_metrics(), "tests")


def run_of(slug: str) -> models.Run:
    return models.Run.objects.get(publication__slug=slug)


def compared(*slugs: str, **choices: object) -> Comparison:
    return compare(Selection(tuple(run_of(slug).pk for slug in slugs), **choices))


def ratios(comparison: Comparison) -> dict[tuple[str, str], float]:
    return {(p.x, p.series): p.ratio for p in comparison.points if p.ratio is not None}


def test_every_file_is_a_table_and_every_number_in_it_a_figure_or_a_place() -> None:
    assert {f"{slug}.csv" for slug in BY_SLUG} == {path.name for path in FOLDER.glob("*.csv")}
    for table in TABLES:
        lines = {f.line for trial in table.trials for f in trial.figures}
        lines |= {answer.line for trial in table.trials for answer in trial.answers}
        assert lines == {row.line for row in rows(table.slug)}, table.slug


def test_one_derived_figure_disagrees_and_all_others_are_recomputed() -> None:
    derived = [(table.slug, one) for table in TABLES for one in table.derived]
    assert len(derived) == 87
    wrong = [(slug, one.line, one.column, one.published, one.recomputed) for slug, one in derived if not one.agrees]
    assert wrong == [("wg1-2012-table-3.13", 6, "mean_tps_per_node", "430.2", pytest.approx(589.845))]
    text = BY_SLUG["wg1-2012-table-3.13"].remarks[0].text
    assert text.endswith("nodes / nodes: mean_tps_per_node is published as 430.2, recomputed 589.845.")


@pytest.mark.parametrize(
    ("published", "recomputed", "agrees"),
    [("1.0393", 1.03934, True), ("1.0393", 1.03936, False), ("812", 812.4, True), ("812", 812.6, False)],
)
def test_a_figure_agrees_as_far_as_it_was_printed(published: str, recomputed: float, agrees: bool) -> None:
    assert Derived(1, "x", "", published, recomputed).agrees is agrees


def test_loading_again_changes_nothing_and_removing_leaves_nothing(loaded: None) -> None:
    before = list(models.Attempt.objects.values_list("pk", flat=True))
    assert {one.done for one in load(TABLES, known_metrics(), "tests")} == {"unchanged"}
    assert list(models.Attempt.objects.values_list("pk", flat=True)) == before
    assert models.Measurement.objects.count() == sum(len(t.figures) for table in TABLES for t in table.trials)
    assert remove("tests") == len(TABLES)
    assert not models.Publication.objects.exists() and not models.Run.objects.exists()


def test_another_form_of_a_table_replaces_it(loaded: None) -> None:
    models.Publication.objects.filter(slug="zfs-arc-2019").update(fingerprint="old")
    done = {one.slug: one.done for one in load(TABLES, known_metrics(), "tests")}
    assert done.pop("zfs-arc-2019") == "replaced" and set(done.values()) == {"unchanged"}
    assert models.Run.objects.filter(publication__slug="zfs-arc-2019").count() == 1


def test_an_unknown_metric_is_named(db: None) -> None:
    with pytest.raises(TeitenError, match="There is no metric"):
        load(TABLES, [], "tests")


def test_provenance_is_kept(loaded: None) -> None:
    publication = models.Publication.objects.get(slug="wg1-2019-table-6.14")
    assert (publication.year, publication.place) == (2020, "Table 6.14")
    assert publication.sha256 == hashlib.sha256((FOLDER / publication.file).read_bytes()).hexdigest()
    trial = run_of("wg1-2019-table-6.14").trials.select_related("attempt").first()
    assert trial.state == "done" and trial.attempt.bundle == "" and trial.attempt.files == []
    first = trial.attempt.notes["published"][0]
    assert (first["label"], first["line"], first["column"]) == ("q1.1", 2, "v11_seconds")


def test_a_fill_factor_that_is_accepted_and_ignored_holds_partly(loaded: None) -> None:
    published = {(row.access_method, row.capability): row.outcome for row in newest_answers()}
    assert published["zheap", "fillfactor"] == "yes"
    assert published["zedstore", "fillfactor"] == "partly"
    assert {published[method, "pgstattuple"] for method in ("zheap", "zedstore")} == {"cannot"}
    remarks = models.Publication.objects.get(slug="wg1-2019-section-5-capabilities").remarks
    assert {
        "text": "A fill factor that zedstore accepts and ignores is a yes in the report, and partly here.",
        "lines": [8],
    } in remarks


def test_verbs_refuse_published_figures_in_words(loaded: None) -> None:
    run = run_of("zfs-arc-2019")
    trial = run.trials.first()
    verbs = [
        lambda: runs.cancel_run(run.pk, "tests"),
        lambda: runs.add_blocks(run.pk, 1, "tests"),
        lambda: runs.repeat_run(run.pk, kinds(), user=None, actor="tests"),
        lambda: runs.retry_failed(run.pk, "tests"),
        lambda: runs.retry_cancelled(run.pk, "tests"),
        lambda: runs.plan_of_run(run.pk, kinds()),
        lambda: runs.cancel_trial(trial.pk, "tests"),
        lambda: runs.retry_trial(trial.pk, "tests"),
    ]
    for verb in verbs:
        with pytest.raises(StateError, match="published figures"):
            verb()
    run.refresh_from_db()
    assert (run.state, run.blocks) == ("finished", 5)


def test_the_ratios_of_table_6_14_to_four_digits(loaded: None) -> None:
    comparison = compared(
        "wg1-2019-table-6.14", metric="ssb.query.seconds", x="label", series="version", baseline="12.2"
    )
    published = {row["query"]: row["published_ratio_v11_over_v12"] for row in rows("wg1-2019-table-6.14")}
    assert len(published) == 13
    ours = {x: ratio for (x, series), ratio in ratios(comparison).items() if series == "11.7"}
    assert {x: f"{ratio:.4f}" for x, ratio in ours.items()} == {x: f"{float(r):.4f}" for x, r in published.items()}


def test_the_differences_of_section_4_5(loaded: None) -> None:
    for metric, message in (("tps", "-7.15"), ("latency.mean", "+7.5")):
        comparison = compared("wg1-2019-section-4.5", metric=metric, x="scale", series="version", baseline="11.6")
        ratio = ratios(comparison)["2000", "12.1"]
        assert f"{100 * (ratio - 1):+.{len(message.partition('.')[2])}f}" == message


def test_means_and_medians_of_the_zfs_article(loaded: None) -> None:
    expected = {
        "mean": {"128K": (577, 627, 812, 804), "8K": (679, 661, 664, 684), "16K": (639, 627, 667, 684)},
        "median": {"128K": (586, 656, 788, 794), "8K": (686, 674, 678, 689), "16K": (667, 612, 682, 683)},
    }
    for statistic, table in expected.items():
        comparison = compared("zfs-arc-2019", x="pattern", series="zfs.recordsize", statistic=statistic)
        for size, values in table.items():
            cells = {p.x: p for p in comparison.points if p.series == size}
            assert tuple(round(cells[str(pattern)].value) for pattern in (1, 2, 3, 4)) == values
            assert {p.n for p in cells.values()} == {5}
    first = next(p for p in comparison.points if (p.x, p.series) == ("1", "128K"))
    replicates = [one.value for one in first.values]
    assert (fmean(replicates), median(replicates)) == (576.6, 586)


def test_totals_and_means_per_node_of_postgres_xc(loaded: None) -> None:
    comparison = compared("wg1-2012-table-3.13", x="nodes", series="topology", node="")
    totals = {int(p.x): p.value for p in comparison.points if p.series == "Postgres-XC"}
    assert totals == {1: 1032.08, 2: 1419.08, 3: 2246.97, 4: 2359.38}
    each = compared("wg1-2012-table-3.13", x="nodes", series="node", filters={"topology": ("Postgres-XC",)})
    for nodes, total in totals.items():
        parts = [p.value for p in each.points if p.x == str(nodes) and p.series.startswith("node")]
        assert len(parts) == nodes
        assert sum(parts) == pytest.approx(total, abs=0.011)
    assert totals[4] / 4 == pytest.approx(589.845)


@pytest.mark.parametrize(("which", "column"), [("min", "published_min_ratio"), ("max", "published_max_ratio")])
def test_the_ratios_without_and_with_jit(loaded: None, which: str, column: str) -> None:
    comparison = compared(
        "wg1-2019-tables-6.20-6.23",
        metric=f"ssb.query.seconds.{which}",
        label="q2.1",
        x="version,setting.max_parallel_workers,clients",
        series="setting.jit",
        baseline="on",
    )
    minors = {"11": "11.7", "12": "12.2"}
    ours = ratios(comparison)
    for row in rows("wg1-2019-tables-6.20-6.23"):
        x = f"{minors[row['version']]} · {row['max_parallel_workers']} · {row['clients']}"
        assert f"{ours[x, 'off']:.4f}" == f"{float(row[column]):.4f}"


def test_no_published_trial_is_ever_dispatched(loaded: None) -> None:
    assert not models.Trial.objects.exclude(state="done").exists()
    assert not models.Run.objects.exclude(state="finished").exists()


def test_published_replicates_are_no_pairs_and_their_order_says_nothing(loaded: None) -> None:
    comparison = compared("zfs-arc-2019", x="pattern", series="zfs.recordsize")
    verdicts = [point.verdict for point in comparison.points if point.verdict]
    assert {(verdict.n, verdict.pairs) for verdict in verdicts} == {(5, 0)}
    assert {summary.source for summary in comparison.summaries if summary.estimate} == {"replicates"}
    assert (run_of("zfs-arc-2019").blocks, comparison.warnings) == (5, ())
