"""Citations: what is kept, what has changed since, and references made of them."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime
from typing import Any

import pytest

from results import models, snapshots
from results.domain.errors import StateError, TeitenError
from results.queries.comparison.citations import cited, hash_of, standing
from results.queries.comparison.compare import Comparison, compare
from results.queries.comparison.dataclass_values import from_json, to_json
from results.queries.comparison.freshness import freshness, freshness_of_each
from results.queries.shared.selection import Selection
from tests import factories
from webapp import urlstate
from webapp.compare import words

pytestmark = pytest.mark.django_db
QUERY = "run=1&x=clients"
NO_MORE = "count no more, or lost its metric when read again"


def found_of(run: models.Run) -> Comparison:
    return compare(Selection((run.pk,)))


def test_what_is_kept_reads_back_as_the_same_comparison(django_assert_num_queries: Any) -> None:
    citation = found_of(factories.finished_run())
    snapshot = snapshots.cite(QUERY, citation, user=None, actor="tests")
    with django_assert_num_queries(2):
        again = cited(snapshot.pk)
    assert again.comparison == replace(citation, first=citation.selection, facets=(), metrics=(), references=())
    assert again.comparison.points == citation.points
    assert (again.row.trials, again.row.rule, again.row.metric) == (8, citation.rule, "Transactions per second")


def test_the_same_answer_to_the_same_question_is_one_citation() -> None:
    run = factories.finished_run()
    first = snapshots.cite(QUERY, found_of(run), user=None, actor="tests")
    again = snapshots.cite(QUERY, found_of(run), user=None, actor="tests")
    assert (first.pk, models.Snapshot.objects.count(), models.AuditEntry.objects.filter(verb="cite").count()) == (
        again.pk,
        1,
        1,
    )
    assert len(first.pk) == 16
    assert hash_of(f"{QUERY}&panel=scale", found_of(run)) != first.pk


def test_a_value_read_otherwise_is_another_citation_and_the_old_one_stays() -> None:
    run = factories.finished_run()
    snapshot = snapshots.cite(QUERY, found_of(run), user=None, actor="tests")
    one = models.Measurement.objects.filter(metric="tps").earliest("pk")
    models.Measurement.objects.filter(pk=one.pk).update(value=one.value * 2)
    assert hash_of(QUERY, found_of(run)) != snapshot.pk
    (change,) = standing(cited(snapshot.pk).comparison, found_of(run)).changed
    assert (change.trial_id, change.cited, change.today) == (one.attempt.trial_id, one.value, one.value * 2)


def test_what_is_deleted_or_added_since_is_said() -> None:
    run = factories.finished_run(replicates=2)
    then = found_of(run)
    assert standing(then, found_of(run)).unchanged
    lost = then.points[0].values[0].trial_id
    models.Trial.objects.filter(pk=lost).update(state="failed", attempt=None)
    assert standing(then, found_of(run)).gone == (lost,)
    now = found_of(run)
    models.Trial.objects.filter(pk=lost).update(state="done", attempt=then.points[0].values[0].attempt_id)
    assert standing(now, found_of(run)).added == (lost,)


def test_every_value_of_a_trial_is_watched_where_it_has_several() -> None:
    run = factories.finished_run(factors={}, installation="16")
    selection = Selection((run.pk,), x="node", series="", metric="cpu.user")
    then = compare(selection)
    one = models.Measurement.objects.filter(metric="cpu.user", node="client").earliest("pk")
    models.Measurement.objects.filter(pk=one.pk).update(value=one.value * 2)
    (change,) = standing(then, compare(selection)).changed
    assert (change.trial_id, change.x, change.cited, change.today) == (one.attempt.trial_id, "client", 20.0, 40.0)
    models.Measurement.objects.filter(metric="cpu.user", node="client").delete()
    standing_today = standing(then, compare(selection))
    assert (standing_today.cells, set(standing_today.gone)) == (
        (("", "client", ""),),
        set(run.trials.values_list("pk", flat=True)),
    )
    assert not standing_today.unchanged


def test_a_cited_run_that_is_deleted_leaves_its_numbers() -> None:
    run = factories.finished_run()
    citation = found_of(run)
    snapshot = snapshots.cite(QUERY, citation, user=None, actor="tests")
    run.delete()
    assert cited(snapshot.pk).comparison.points == citation.points


def test_nothing_is_not_cited() -> None:
    with pytest.raises(TeitenError, match="nothing to cite"):
        snapshots.cite("", compare(Selection(())), user=None, actor="tests")


def test_content_of_an_older_version_has_the_defaults_of_what_it_lacks() -> None:
    citation = found_of(factories.finished_run())
    content = to_json(citation)
    del content["warnings"], content["unmatched"]
    content["points"][0]["gone_since"] = 1
    assert from_json(Comparison, content) == citation


def test_a_line_becomes_a_baseline_of_later_runs(django_assert_num_queries: Any) -> None:
    old, new = factories.finished_run(), factories.finished_run(replicates=3)
    snapshot = snapshots.cite(QUERY, found_of(old), user=None, actor="tests")
    snapshots.save_reference("year-2026", snapshot, "postgresql-16.9", user=None, actor="tests")
    with django_assert_num_queries(8):
        comparison = compare(Selection((new.pk,), {"installation": ("postgresql-18.1",)}, baseline="@year-2026"))
    assert (comparison.series, comparison.references) == (("@year-2026", "postgresql-18.1"), ("year-2026",))
    newer = [point for point in comparison.points if point.series != "@year-2026"]
    assert [point.base for point in newer] == [("", "1", "@year-2026"), ("", "4", "@year-2026")]
    assert [point.ratio for point in newer] == pytest.approx([1127 / 1001.5, 4502 / 4001.5], rel=1e-6)
    assert {r.run_id for p in comparison.points if p.series == "@year-2026" for r in p.values} == {old.pk}
    assert comparison.excluded["without"] == 0


def test_a_reference_measures_what_is_asked_now_not_what_was_cited() -> None:
    run = factories.finished_run()
    snapshot = snapshots.cite(QUERY, found_of(run), user=None, actor="tests")
    snapshots.save_reference("old", snapshot, "postgresql-16.9", user=None, actor="tests")
    comparison = compare(Selection((run.pk,), metric="cpu.user", node="primary", baseline="@old"))
    assert {point.value for point in comparison.points if point.series == "@old"} == {40.0}


def test_an_unknown_reference_is_refused_with_those_there_are() -> None:
    run = factories.finished_run()
    snapshot = snapshots.cite(QUERY, found_of(run), user=None, actor="tests")
    snapshots.save_reference("old", snapshot, "postgresql-16.9", user=None, actor="tests")
    with pytest.raises(TeitenError, match="no reference 'young'") as raised:
        compare(Selection((run.pk,), baseline="@young"))
    assert "old" in raised.value.todo


def test_a_name_is_for_one_line_and_a_line_must_be_there() -> None:
    snapshot = snapshots.cite(QUERY, found_of(factories.finished_run()), user=None, actor="tests")
    save = snapshots.save_reference
    assert save("a", snapshot, "postgresql-16.9", user=None, actor="x") == save(
        "a", snapshot, "postgresql-16.9", user=None, actor="x"
    )
    with pytest.raises(StateError, match="Another line"):
        save("a", snapshot, "postgresql-18.1", user=None, actor="x")
    with pytest.raises(TeitenError, match="no line 'nothing'"):
        save("b", snapshot, "nothing", user=None, actor="x")
    with pytest.raises(TeitenError, match="no name"):
        save("b c", snapshot, "postgresql-16.9", user=None, actor="x")


def referred(run: models.Run, **choices: Any) -> Comparison:
    """The comparison of the run with a reference made of its line of 16."""
    snapshot = snapshots.cite(QUERY, found_of(run), user=None, actor="tests")
    snapshots.save_reference("old", snapshot, "postgresql-16.9", user=None, actor="tests")
    return compare(Selection((run.pk,), baseline="@old", **choices))


def line_of(comparison: Comparison) -> list[tuple[str, int]]:
    return [(point.x, point.n) for point in comparison.points if point.series == "@old"]


def test_filters_are_for_a_reference_too_unless_it_is_told_apart_by_them() -> None:
    run = factories.finished_run(factors={"installation": ["16", "18"], "clients": [1, 4], "scale": [5, 10]})
    references = referred(run, filters={"scale": ("5",), "major": ("18",), "run": (str(run.pk),)})
    assert (line_of(references), references.mixed) == ([("1", 2), ("4", 2)], ())


def test_what_is_mixed_in_a_reference_is_said() -> None:
    run = factories.finished_run(factors={"installation": ["16", "18"], "clients": [1, 4], "scale": [5, 10]})
    both = {"scale": ("5", "10")}
    snapshot = snapshots.cite(QUERY, compare(Selection((run.pk,), both)), user=None, actor="tests")
    snapshots.save_reference("old", snapshot, "postgresql-16.9", user=None, actor="tests")
    references = compare(Selection((run.pk,), both, baseline="@old"))
    assert (line_of(references), references.mixed) == ([("1", 4), ("4", 4)], ("scale",))


def test_trials_of_a_reference_that_count_no_more_are_said() -> None:
    run = factories.finished_run()
    references = referred(run)
    assert references.lost == ()
    gone = next(point for point in references.points if point.series == "@old").values[0]
    models.Trial.objects.filter(pk=gone.trial_id).update(state="failed", attempt=None)
    references = compare(references.selection)
    assert (references.lost, line_of(references)) == ((gone.attempt_id,), [("1", 1), ("4", 2)])
    assert words.unmatched(references)[0] == f"1 of the trials that @old was saved with {NO_MORE}"


def test_trials_of_a_reference_that_lost_its_metric_when_read_again_are_said() -> None:
    references = referred(factories.finished_run())
    first, other = next(point for point in references.points if point.series == "@old").values
    models.Measurement.objects.filter(attempt=first.attempt_id, metric="tps").delete()
    models.Measurement.objects.filter(attempt=other.attempt_id, metric="latency.p99").delete()
    references = compare(references.selection)
    assert (references.lost, line_of(references)) == ((first.attempt_id,), [("1", 1), ("4", 2)])
    assert words.unmatched(references)[0] == f"1 of the trials that @old was saved with {NO_MORE}"


def test_a_reference_of_a_percentile_that_is_computed_has_lost_nothing() -> None:
    run = factories.finished_run()
    query = f"run={run.pk}&metric=latency.p99.5"
    snapshot = snapshots.cite(query, compare(urlstate.read(query)), user=None, actor="tests")
    snapshots.save_reference("tail", snapshot, "postgresql-16.9", user=None, actor="tests")
    assert compare(Selection((run.pk,), baseline="@tail")).lost == ()
    models.Histogram.objects.all().delete()
    assert len(compare(Selection((run.pk,), baseline="@tail")).lost) == 4


def test_a_reference_of_a_shown_run_is_no_second_run_to_warn_about() -> None:
    run = factories.run(replicates=5, factors={"installation": ["16", "18"], "clients": [1, 4]})
    for trial in run.trials.all():
        factories.finish(trial, 1000 * 1.01**trial.position)
    references = referred(run)
    assert [(warned.kind, warned.trials) for warned in references.warnings] == [("drift", 20)]


def test_a_reference_of_one_label_stays_at_that_label() -> None:
    run = factories.finished_run(factors={}, installation="16")
    for attempt in models.Attempt.objects.all():
        for label, value in (("q1", 1.0), ("q2", 2.0)):
            models.Measurement.objects.create(
                run=run, attempt=attempt, metric_id="tps", node="", label=label, value=value
            )
    snapshot = snapshots.cite(
        QUERY, compare(Selection((run.pk,), x="clients", series="label")), user=None, actor="tests"
    )
    snapshots.save_reference("old", snapshot, "q2", user=None, actor="tests")
    comparison = compare(Selection((run.pk,), x="clients", series="label", baseline="@old"))
    assert {point.value for point in comparison.points if point.series == "@old"} == {2.0}


def test_a_comparison_is_stale_when_a_references_run_or_name_changes() -> None:
    old, new = factories.finished_run(), factories.finished_run()
    snapshot = snapshots.cite(QUERY, found_of(old), user=None, actor="tests")
    states = [freshness([new.pk]).state]
    for name in ("older", "newer"):
        snapshots.save_reference(name, snapshot, "postgresql-16.9", user=None, actor="tests")
        states.append(freshness([new.pk]).state)
    models.Reference.objects.get(name="older").delete()
    states.append(freshness([new.pk]).state)
    models.Attempt.objects.filter(run=old).update(ingested_at=datetime(2100, 1, 1, tzinfo=UTC))
    states.append(freshness([new.pk]).state)
    assert len(set(states)) == 5


def test_what_several_comparisons_depend_on_is_asked_at_once(django_assert_num_queries: Any) -> None:
    stored = factories.stored_plan()
    runs = [factories.finished_run(stored=stored) for _ in range(3)]
    groups = [[runs[2].pk], [runs[1].pk, runs[0].pk], [], [runs[2].pk, runs[0].pk]]
    with django_assert_num_queries(1):
        several = freshness_of_each(groups, latest=1)
    assert several == [freshness(group, latest=1) for group in groups]
    assert len({one.state for one in several}) == len(groups)
    with django_assert_num_queries(0):
        assert freshness_of_each([]) == []
