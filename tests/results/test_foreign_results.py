"""Imported results in the warehouse: marked, with their files, compared with nothing silently, and never half there."""

from __future__ import annotations

import tarfile
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from django.conf import settings as django_settings
from django.db import OperationalError, connection

from results import models, removal, runs
from results.domain.environment.rules import IMPORTED_APART
from results.domain.errors import ImportedFileError, IngestError, StateError
from results.domain.imports.values import SourceFile
from results.domain.measurement.metrics import Better, Metric
from results.domain.measurement.parsed_trial import Measurement
from results.domain.states import Standing
from results.foreign_results import Draft, arrange, store
from results.queries.comparison.compare import Comparison, compare
from results.queries.runs.imports import import_of, imported_trials, list_imports
from results.queries.shared.run_filter import kept_runs
from results.queries.shared.selection import Selection
from results.standing import set_standing
from tests import factories
from tests.imported import recorded, text_file
from workers.imports.reading import read_files
from workers.registry import kinds
from workers.reingest import reread

NAMES = ("pgbench-15-c2.txt", "pgbench-15-c2b.txt", "pgbench-15-c4.txt")


@pytest.fixture(autouse=True)
def _bundles(db: None, settings: Any, tmp_path: Path) -> None:
    settings.TEITEN_BUNDLE_DIR = tmp_path


def draft(*files: SourceFile, **fields: Any) -> Draft:
    chosen, trials = read_files(files)
    values = {"name": "pgbench on db9", "program": chosen.title, "headline": chosen.headline}
    return Draft(files=tuple(files), trials=tuple(trials), **(values | fields))


def stored(*files: SourceFile, **fields: Any) -> models.Run:
    return store(draft(*(files or recorded(*NAMES)), **fields), user=None, actor="tests")


def counts() -> list[int]:
    tables = (models.Publication, models.ImportedFile, models.Run, models.Trial, models.Measurement, models.AuditEntry)
    return [table.objects.count() for table in tables]


def archives() -> list[Path]:
    return sorted(Path(django_settings.TEITEN_BUNDLE_DIR).rglob("*.tar.gz"))


def test_files_that_state_the_same_are_replicates_and_what_they_state_otherwise_is_a_factor() -> None:
    arranged = arrange(draft(*recorded(*NAMES)))
    assert arranged.factors == {"clients": (2, 4), "threads": (2, 1), "transactions": (50, 25)}
    assert [(one.name, len(one.trials)) for one in arranged.configurations] == [
        ("clients=2, threads=2, transactions=50", 1),
        ("clients=2, threads=1, transactions=50", 1),
        ("clients=4, threads=1, transactions=25", 1),
    ]


def test_typed_levels_are_factors_and_never_contradict_the_file() -> None:
    files = recorded("pgbench-15-c2.txt", "pgbench-15-c4.txt")
    levels = {"pgbench-15-c2.txt": {"shared_buffers": "8GB"}, "pgbench-15-c4.txt": {"shared_buffers": "1GB"}}
    assert arrange(draft(*files, levels=levels)).factors["shared_buffers"] == ("8GB", "1GB")
    with pytest.raises(ImportedFileError, match="The file says clients 2, not 8"):
        arrange(draft(*files, levels={"pgbench-15-c2.txt": {"clients": "8"}}))
    with pytest.raises(ImportedFileError, match="no name of a factor"):
        arrange(draft(*files, levels={"pgbench-15-c2.txt": {"imported": "no"}}))
    with pytest.raises(ImportedFileError, match="a file that is not there"):
        arrange(draft(*files, levels={"other.txt": {"a": "1"}}))


def changed(one: Draft, **fields: Any) -> Draft:
    """Return the draft with its first trial changed."""
    return replace(one, trials=(replace(one.trials[0], **fields), *one.trials[1:]))


@pytest.mark.parametrize("text", ["x" * 501, "a\0b", "\ud800"])
def test_what_the_warehouse_cannot_hold_is_refused_before_it_is_asked(text: str) -> None:
    good = draft(*recorded(NAMES[0]))
    part = good.trials[0].part
    tps = next(metric for metric in part.metrics if metric.name == "tps")
    wrong = [
        changed(good, workload=text),
        changed(good, facts={**good.trials[0].facts, "dbms": text}),
        changed(good, part=replace(part, measurements=(Measurement("tps", 1.0, label=text),))),
        changed(good, part=replace(part, metrics=(replace(tps, unit=text),))),
        replace(good, levels={NAMES[0]: {"a": text}}),
    ]
    for one in wrong:
        with pytest.raises(ImportedFileError) as caught:
            arrange(one)
        assert caught.value.todo


def test_what_the_warehouse_refuses_is_an_error_in_words() -> None:
    good = draft(*recorded(NAMES[0]))
    long = Metric("m" * 64, "1", Better.HIGHER, "Long")
    part = replace(good.trials[0].part, measurements=(Measurement(long.name, 1.0),), metrics=(long,))
    with pytest.raises(ImportedFileError, match="The warehouse cannot hold what the files say"):
        store(changed(good, part=part), user=None, actor="tests")
    assert archives() == []


def test_a_level_that_is_known_of_some_files_only_is_asked_for() -> None:
    files = recorded("pgbench-15-c2.txt", "pgbench-15-c4.txt")
    with pytest.raises(ImportedFileError) as caught:
        arrange(draft(*files, levels={"pgbench-15-c4.txt": {"shared_buffers": "8GB"}}))
    assert caught.value.where == "pgbench-15-c2.txt"
    assert caught.value.todo.endswith("shared_buffers=…")


def test_what_some_files_do_not_state_is_told_apart_from_what_others_do() -> None:
    arranged = arrange(draft(*recorded("pgbench-15.txt", "pgbench-15-c4.txt")))
    assert arranged.factors["duration_s"] == (4, "not stated")
    assert arranged.factors["transactions"] == ("not stated", 25)
    old = recorded("pgbench-15-c4.txt")[0].content.decode().replace("pgbench (15.18 (Debian 15.18-0+deb12u1))", "")
    with pytest.raises(ImportedFileError, match="Its version is not known"):
        arrange(draft(*recorded("pgbench-15-c2.txt"), text_file("old.txt", old)))


def test_an_import_is_a_run_with_its_files_and_says_whose_they_are() -> None:
    run = stored(note="db9, 8 cores")
    row = list_imports()[0]
    assert (row.run_id, row.name, row.program, row.note) == (run.pk, "pgbench on db9", "pgbench", "db9, 8 cores")
    assert [(f["name"], f["sha256"], f["size_bytes"]) for f in row.files] == [
        (file.name, file.sha256, file.size_bytes) for file in recorded(*NAMES)
    ]
    trials = imported_trials(run.pk)
    first = trials[0]
    assert (first.source, first.unit, first.value) == ("pgbench-15-c2.txt", "tps", 1972.347685)
    assert import_of(row.slug) == row
    assert run.standing == Standing.EXPLORATORY
    assert models.AuditEntry.objects.get(verb="import results").object == f"run {run.pk}"


def test_the_archived_file_gives_the_same_numbers_again() -> None:
    run = stored()
    for trial in models.Trial.objects.filter(run=run).select_related("attempt"):
        with tarfile.open(Path(django_settings.TEITEN_BUNDLE_DIR) / trial.attempt.bundle) as archive:
            files = [SourceFile(one.name, archive.extractfile(one).read()) for one in archive]
        assert [(file.name, file.sha256) for file in files] == [(f["path"], f["sha256"]) for f in trial.attempt.files]
        again = {(m.metric, m.label): m.value for m in read_files(files)[1][0].part.measurements}
        rows = models.Measurement.objects.filter(attempt=trial.attempt).values_list("metric_id", "label", "value")
        assert {(metric, label): value for metric, label, value in rows} == again


def test_the_same_file_twice_names_the_run_that_has_it() -> None:
    run = stored()
    before, files = counts(), archives()
    with pytest.raises(StateError, match=f"imported before, in run {run.pk}") as caught:
        stored(*recorded("pgbench-15.txt", "pgbench-15-c4.txt"))
    assert caught.value.where == "pgbench-15-c4.txt"
    assert (counts(), archives()) == (before, files)


def test_what_fails_in_the_middle_leaves_nothing() -> None:
    before = counts()
    good = draft(*recorded(*NAMES))
    last = good.trials[-1]
    wrong = replace(
        last.part,
        measurements=(*last.part.measurements, Measurement("tps.wrong", 1.0)),
        metrics=(*last.part.metrics, Metric("tps.wrong", "s", Better.LOWER, "Wrong")),
    )
    models.Metric.objects.create(name="tps.wrong", unit="B", better="lower", label="w", minimum_effect=0.1)
    bad = replace(good, trials=(*good.trials[:-1], replace(last, part=wrong)))
    with pytest.raises(IngestError, match=r"tps\.wrong is in s here"):
        store(bad, user=None, actor="tests")
    assert (counts(), archives()) == (before, [])


_ENDED_AT_COMMIT = """
CREATE FUNCTION end_session() RETURNS trigger LANGUAGE plpgsql AS
    $$ BEGIN PERFORM pg_terminate_backend(pg_backend_pid()); RETURN NULL; END $$;
CREATE CONSTRAINT TRIGGER end_session AFTER INSERT ON results_run
    DEFERRABLE INITIALLY DEFERRED FOR EACH ROW EXECUTE FUNCTION end_session();
"""


@pytest.mark.django_db(transaction=True)
def test_files_stay_where_the_warehouse_goes_away_at_the_commit() -> None:
    """Nobody knows then if the rows are there, which name the files."""
    with connection.cursor() as cursor:
        cursor.execute(_ENDED_AT_COMMIT)
    try:
        with pytest.raises(OperationalError, match="terminating connection"):
            stored(*recorded("pgbench-15-c4.txt"))
    finally:
        connection.close()
        with connection.cursor() as cursor:
            cursor.execute("DROP FUNCTION end_session CASCADE")
    assert [path.name for path in archives()] == ["import-1.tar.gz"]
    assert stored(*recorded("pgbench-15-c4.txt")).pk


def test_a_deleted_import_may_be_imported_again() -> None:
    run = stored()
    assert removal.delete_runs([run.pk], "tests").left == ()
    assert (models.Publication.objects.count(), archives()) == (0, [])
    assert stored().pk != run.pk


def test_an_import_has_a_standing_and_is_in_no_view_of_measured_results() -> None:
    run = stored()
    assert set_standing([run.pk], Standing.KEPT, "tests") == 1
    assert run.pk not in kept_runs().ids
    assert set_standing([run.pk], Standing.EXCLUDED, "tests") == 1
    assert removal.archive_runs([run.pk], "tests") == 1


def test_reingest_leaves_imports_alone() -> None:
    stored()
    assert list(reread(None, replace=False)) == []


def test_verbs_that_need_a_plan_refuse_it_in_words() -> None:
    run = stored()
    with pytest.raises(StateError, match=f"Run {run.pk} holds imported results"):
        runs.plan_of_run(run.pk, kinds())


def with_rate(name: str, clients: int, tps: float) -> SourceFile:
    text = recorded("pgbench-15-c2.txt")[0].content.decode()
    return text_file(name, text.replace("clients: 2", f"clients: {clients}").replace("1972.347685", f"{tps}"))


def replicated(more: float = 0.0) -> models.Run:
    """Four replicates of either number of clients, far apart.

    more: tps in all of them."""
    rates = {2: (1000.0, 1001.0, 1002.0, 1003.0), 4: (2000.0, 2001.0, 2002.0, 2003.0)}
    files = [with_rate(f"{c}-{n}.txt", c, tps + more) for c, of in rates.items() for n, tps in enumerate(of)]
    return stored(*files)


def verdicts(comparison: Comparison) -> list[tuple[str, str]]:
    return [(point.series, point.verdict.kind) for point in comparison.points if point.verdict]


def test_imported_against_measured_never_has_a_verdict_and_says_why() -> None:
    imported, measured = replicated(), factories.finished_run()
    for series in ("run", "imported"):
        filters = {"clients": ("4",), "installation": ("postgresql-16.9", "default")}
        choice = Selection((measured.pk, imported.pk), x="clients", series=series, metric="tps", filters=filters)
        comparison = compare(choice)
        assert [kind for _, kind in verdicts(comparison)] == ["not-comparable"], series
        assert IMPORTED_APART in str(comparison.environment)


@pytest.mark.parametrize("series", ["run", "imported"])
def test_two_imports_of_the_same_are_not_judged_against_each_other(series: str) -> None:
    one, other = replicated(), replicated(more=500.0)
    comparison = compare(Selection((one.pk, other.pk), x="clients", series=series, metric="tps"))
    assert [kind for _, kind in verdicts(comparison)] == ["not-comparable"] * 2
    assert IMPORTED_APART in str(comparison.environment)


def test_configurations_of_one_import_are_compared() -> None:
    run = replicated()
    comparison = compare(Selection((run.pk,), x="workload", series="clients", metric="tps"))
    assert verdicts(comparison) == [("4", "better")]
