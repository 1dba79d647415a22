"""Runs of which every number comes from a bundle, for tests: recorded output of pgbench and collectors, written and
read by the very functions that write and read a trial's; and such runs as exported archives."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

from django.conf import settings
from django.utils import timezone

from results import ingest, models, removal, runs
from results.domain.environment.layers import Layer, LayerKind
from results.domain.errors import TrialError
from results.domain.measurement.parsed_trial import LayerUse, PhaseTiming
from results.exporting import export
from tests import factories
from workers import dispatch
from workers.bundle import reader
from workers.bundle.manifest import Manifest, Node
from workers.bundle.writer import Archived, BundleWriter

_DATA = factories.DATA
_WINDOW = json.loads((_DATA / "pg_stat" / "16" / "window.json").read_text())
_PG_STAT = ("before.json", "after.json", "samples.txt", "sizes.json", "server.log")
_TABLES = (models.Measurement, models.Series, models.Histogram, models.Document, models.LayerUse)
BROKE = TrialError("The server was gone.", where="load", why="It was stopped.", todo="Look at its log.").as_dict()


def measured_run(**changes: Any) -> models.Run:
    """A run of eight trials: one done in its second attempt, after one that was lost and left no bundle; one that
    failed before its window; one cancelled; the others done in their first."""
    run = factories.run(collectors=["pg_stat"], **changes)
    lost, failed, cancelled, *others = run.trials.select_related("configuration").order_by("position")
    _lose(lost)
    for trial in (lost, *others):
        attempt_at(trial)
    attempt_at(failed, BROKE)
    runs.cancel_trial(cancelled.pk, "tests")
    run.refresh_from_db()
    return run


def exported(run: models.Run, folder: Path) -> Path:
    """The run's archive, written into a folder."""
    made = export(run.pk)
    path = folder / made.name
    path.write_bytes(b"".join(made.chunks))
    return path


def forget(run: models.Run) -> None:
    """Leave the warehouse and the bundle folder as those of another Teiten, which has an agent db1 of its own."""
    removal.delete_runs([run.pk], "tests")
    models.EnvironmentLayer.objects.all().delete()


def numbers(run: models.Run) -> dict[str, list[Any]]:
    """All that is stored of a run's attempts, by their place in the run instead of their ids; series bit by bit."""
    place = "attempt__trial__position", "attempt__number"
    known: dict[str, list[Any]] = {}
    for table in _TABLES:
        columns = [
            column.attname
            for column in table._meta.fields
            if column.attname not in ("id", "pk", "run_id", "attempt_id")
        ]
        known[table.__name__] = sorted(map(repr, table.objects.filter(run=run).values_list(*place, *columns)))
    return known


def record(run: models.Run) -> list[Any]:
    """What trials and attempts say beside their numbers."""
    trial_columns = (
        "position",
        "block",
        "state",
        "state_at",
        "attempts_made",
        "attempt__number",
        "configuration__index",
    )
    attempt_columns = ["trial__position", "number", "state", "started_at", "ended_at", "measured_from", "measured_to"]
    attempt_columns += [
        "bundle_sha256",
        "bundle_bytes",
        "environment",
        "phases",
        "commands",
        "checks",
        "files",
        "events",
    ]
    attempt_columns += ["gaps", "notes"]
    configurations = run.configurations.values_list("index", "name", "levels", "spec", "dimensions")
    return [
        list(run.trials.order_by("position").values_list(*trial_columns)),
        list(
            models.Attempt.objects.filter(run=run).order_by("trial__position", "number").values_list(*attempt_columns)
        ),
        list(configurations.order_by("index")),
        run.toml,
        [getattr(run, name) for name in ("name", "workload", "headline", "factors", "plan_hash", "seed", "blocks")],
        [getattr(run, name) for name in ("state", "created_at", "started_at", "ended_at", "cancelled_at", "looks")],
    ]


def attempt_at(trial: models.Trial, error: dict[str, Any] | None = None) -> models.Attempt:
    """An attempt that ends with its bundle, read and stored."""
    attempt = factories.begin(trial)
    archived = write_bundle(trial, attempt.number, error)
    archive = ingest.Archive(archived.path, archived.sha256, archived.size_bytes)
    ingest.file_archive(attempt.pk, archive)
    parsed = reader.read(Path(settings.TEITEN_BUNDLE_DIR) / archived.path)
    ingest.store(parsed, attempt.pk, archive)
    dispatch.finish(attempt.pk, dict(parsed.error) if parsed.error else None, timezone.now())
    attempt.refresh_from_db()
    return attempt


def _lose(trial: models.Trial) -> None:
    """An attempt whose worker vanished; the error names a host."""
    attempt = factories.begin(trial)
    models.Lease.objects.filter(attempt=attempt).delete()
    error = {"kind": "lost", "what": "The worker was not heard of.", "where": "host17 process 3", "why": "", "todo": ""}
    models.Attempt.objects.filter(pk=attempt.pk).update(state="lost", error=error, ended_at=timezone.now())
    models.Trial.objects.filter(pk=trial.pk).update(state="waiting")


def write_bundle(trial: models.Trial, number: int, error: dict[str, Any] | None = None) -> Archived:
    """The bundle of an attempt, in its place below the bundle folder."""
    writer = BundleWriter(Path(settings.TEITEN_BUNDLE_DIR), f"{trial.run_id}/{trial.pk}", number)
    if error is None:
        stem = _DATA / "pgbench" / "16" / "tpcb-progress-per-statement"
        tps = f"tps = {1000 + trial.position + 1 / 3!r}"
        writer.add("workload/stdout", re.sub(r"tps = [\d.]+", tps, stem.with_suffix(".stdout").read_text()))
        writer.add("workload/stderr", stem.with_suffix(".stderr").read_text())
        writer.add("workload/exit", "0\n")
        for name in _PG_STAT:
            writer.add(f"collectors/pg_stat/primary/{name}", (_DATA / "pg_stat" / "16" / name).read_text())
    return writer.finish(
        Manifest(
            trial_key=f"{trial.run_id}/{trial.pk}",
            attempt=number,
            teiten="1.0.0",
            started_s=_WINDOW[0] - 5,
            ended_s=_WINDOW[1] + 1,
            spec=trial.configuration.spec,
            window=None if error else tuple(_WINDOW),
            error=error,
            nodes=(Node("client", "db1"), Node("primary", "db1")),
            collectors=() if error else (("pg_stat", "primary"),),
            phases=(PhaseTiming("prepare", 0, 1),),
            layers=(LayerUse("primary", Layer(LayerKind.SETTINGS, {"shared_buffers": "128MB"})),),
        )
    )
