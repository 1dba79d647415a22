"""Ingest: store a ParsedTrial in one idempotent transaction, or compare it with what is stored."""

from __future__ import annotations

import hashlib
import json
import math
import re
import struct
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from dataclasses import replace as replace_fields
from datetime import datetime, timedelta
from typing import Any

from django.db import transaction
from django.db.models import Max
from django.utils import timezone
from psycopg.types.json import Jsonb

from results import command_texts, models, sql
from results.agents import store_layers
from results.checked_builds import CAPABILITY, store_checked_builds
from results.domain.environment.layers import environment_hash
from results.domain.errors import IngestError
from results.domain.measurement.metrics import Metric
from results.domain.measurement.packed_numbers import packed, packed_ascending
from results.domain.measurement.parsed_trial import ParsedTrial
from results.domain.measurement.plausible import require_plausible
from results.domain.measurement.record_texts import to_json, without_messages
from results.domain.measurement.series import Series
from results.domain.measurement.series_groups import SeriesGroup, series_groups
from results.domain.messages import gettext_lazy as _
from results.domain.states import AttemptState, RunState, TrialState
from results.environments import store_environments
from results.measured_values import store_values
from results.models.runs import end_state


@dataclass(frozen=True)
class Archive:
    """The archived bundle of an attempt.

    path: relative to the bundle folder
    """

    path: str
    sha256: str
    size_bytes: int


@transaction.atomic
def store(parsed: ParsedTrial, attempt_id: int, archive: Archive, *, elsewhere: bool = False) -> bool:
    """Store the measurements of one attempt. Return False, and change nothing, when this bundle is stored already.

    elsewhere: whether the trial was not measured by this Teiten: then its output cannot change what a metric means here
    Raises IngestError when the bundle belongs to another attempt, or another bundle of this attempt is stored.
    """
    attempt = models.Attempt.objects.select_for_update(of=("self",)).select_related("trial__run").get(pk=attempt_id)
    expected = attempt.trial.bundle_key or f"{attempt.run_id}/{attempt.trial_id}"
    if (parsed.trial_key, parsed.attempt) != (expected, attempt.number):
        raise IngestError(
            _(
                "The bundle is of trial {trial}, attempt {attempt}.",
                trial=parsed.trial_key,
                attempt=parsed.attempt,
            ),
            where=_("attempt {attempt}", attempt=attempt_id),
            why=_("The attempt is {attempt} of trial {trial}.", attempt=attempt.number, trial=expected),
        )
    if attempt.ingested_at is not None:
        if attempt.bundle_sha256 == archive.sha256:
            return False
        raise IngestError(
            _("Another bundle of this attempt is stored."),
            where=_("attempt {attempt}", attempt=attempt_id),
            todo=_("Keep both; look at the audit log."),
        )
    _store_tables(parsed, attempt, elsewhere=elsewhere)
    _store_record(parsed, attempt, archive, timezone.now())
    return True


def file_archive(attempt_id: int, archive: Archive) -> None:
    """Store the path of an attempt's bundle before it is parsed: one that cannot be parsed today is kept."""
    models.Attempt.objects.filter(pk=attempt_id, ingested_at=None).update(
        bundle=archive.path, bundle_sha256=archive.sha256, bundle_bytes=archive.size_bytes
    )


@transaction.atomic
def replace(parsed: ParsedTrial, attempt_id: int) -> None:
    """Store an attempt's measurements anew from its own archived bundle, as with a better parser.

    Where the parser now judges otherwise whether the attempt succeeded, attempt, trial and run change their states.
    """
    # first the run, as those do who delete it: what is stored here refers to the attempt, and not to the run itself
    models.Run.objects.select_for_update(no_key=True, of=("self",)).get(trials__attempts=attempt_id)
    attempt = (
        models.Attempt.objects.select_for_update(of=("self", "trial")).select_related("trial__run").get(pk=attempt_id)
    )
    for model in _OF_AN_ATTEMPT:
        model.objects.filter(attempt=attempt).delete()
    _store_tables(parsed, attempt)
    archive = Archive(attempt.bundle, attempt.bundle_sha256, attempt.bundle_bytes or 0)
    # later than all that is stored of the run, also by another machine's clock: the latest tells that something changed
    latest = models.Attempt.objects.filter(run_id=attempt.run_id).aggregate(at=Max("ingested_at"))["at"]
    now = timezone.now()
    _store_record(parsed, attempt, archive, max(now, latest + timedelta(microseconds=1)) if latest else now)
    _update_states(parsed, attempt)


def _update_states(parsed: ParsedTrial, attempt: models.Attempt) -> None:
    trial = models.Trial.objects.filter(pk=attempt.trial_id)
    error = dict(parsed.error) if parsed.error else None
    if attempt.state == AttemptState.DONE and not parsed.succeeded:
        models.Attempt.objects.filter(pk=attempt.pk).update(state=AttemptState.FAILED, error=error)
        trial.filter(state=TrialState.DONE).update(state=TrialState.FAILED, attempt=None, error=error)
    elif _succeeds_now(parsed, attempt):
        models.Attempt.objects.filter(pk=attempt.pk).update(state=AttemptState.DONE, error=None)
        trial.filter(state=TrialState.FAILED).update(state=TrialState.DONE, attempt=attempt, error=None)
    ended = models.Run.objects.filter(pk=attempt.run_id, state__in=(RunState.FINISHED, RunState.FAILED))
    ended.update(state=end_state())


def _succeeds_now(parsed: ParsedTrial, attempt: models.Attempt) -> bool:
    """Return whether a failed trial's last bundle now reads as a success."""
    last = not models.Attempt.objects.filter(trial_id=attempt.trial_id, number__gt=attempt.number).exists()
    return (
        parsed.succeeded and last and (attempt.state, attempt.trial.state) == (AttemptState.FAILED, TrialState.FAILED)
    )


_MEANING = (
    "unit",
    "better",
    "label",
    "help",
    "minimum_effect",
    "parts",
    "whole",
    "client_overhead",
    "label_noun",
    "signed",
)


def _store_tables(parsed: ParsedTrial, attempt: models.Attempt, *, elsewhere: bool = False) -> None:
    require_plausible(parsed)
    stored = models.Metric.objects.in_bulk([metric.name for metric in parsed.metrics])
    _require_units(parsed, stored)
    if elsewhere or attempt.trial.bundle_key:
        _require_same_meaning(parsed, stored)
    private = attempt.trial.run.private
    store_metrics([one for one in parsed.metrics if not _is_stored(one, stored, private=private)], private=private)
    store_layers([use.layer for use in parsed.layers])
    store_environments([_layer_uses(parsed)])
    copy_tables([(attempt.run_id, attempt.pk, parsed)])


def copy_tables(trials: Sequence[tuple[int, int, ParsedTrial]]) -> None:
    """COPY the rows of attempts, (run, attempt, what its bundle says), whose metrics are stored."""
    for table in ("histogram", "document"):
        records = (
            (run_id, attempt_id, *record)
            for run_id, attempt_id, parsed in trials
            for record in _stored_records(table, parsed)
        )
        sql.copy(_MODELS[table]._meta.db_table, ("run_id", "attempt_id", *_COLUMNS[table]), records)
    store_values(
        (run_id, attempt_id, {one[:3]: one[3] for one in _measurements(parsed)})
        for run_id, attempt_id, parsed in trials
    )
    store_series([(run_id, attempt_id, parsed.series) for run_id, attempt_id, parsed in trials])


def store_series(attempts: Iterable[tuple[int, int, Iterable[Series]]]) -> None:
    """Store series of attempts, (run, attempt, its series), those that share their times together. Who reads
    `results_series` has each alone."""
    records = (
        (run_id, attempt_id, place, *_group(group))
        for run_id, attempt_id, series in attempts
        for place, group in enumerate(series_groups(replace_fields(one, label=one.label[:200]) for one in series), 1)
    )
    sql.copy("results_seriesgroup", ("run_id", "attempt_id", "place", *_GROUP_COLUMNS), records)


def store_metrics(metrics: Iterable[Metric], *, private: bool) -> None:
    """Store what the metrics of a trial mean. What those mean that others have measured too, a private run does not
    change: numbers are the same whoever looks."""
    by_name = {metric.name: metric for metric in metrics}
    if private:
        for name in models.Metric.objects.filter(name__in=by_name, private=False).values_list("name", flat=True):
            del by_name[name]
    models.Metric.objects.bulk_create(
        [models.Metric(name=name, private=private, **_meaning(metric)) for name, metric in by_name.items()],
        update_conflicts=True,
        unique_fields=["name"],
        update_fields=_MEANING if private else (*_MEANING, "private"),
    )


def _is_stored(metric: Metric, stored: Mapping[str, models.Metric], *, private: bool) -> bool:
    """Return whether what a metric means stands in the warehouse already, for whoever may read the trial."""
    row = stored.get(metric.name)
    return row is not None and (private or not row.private) and _meaning(row) == _meaning(metric)


def _meaning(metric: Metric | models.Metric) -> dict[str, Any]:
    return {name: getattr(metric, name) for name in _MEANING}


def _require_same_meaning(parsed: ParsedTrial, stored: Mapping[str, models.Metric]) -> None:
    """Raise IngestError where the output of a trial that was measured elsewhere says of a metric of this warehouse what
    this warehouse does not say of it: the metric's name is its only tie to other trials."""
    declared = {metric.name: metric for metric in parsed.metrics if metric.name in parsed.named_by_output}
    for row in (stored[name] for name in declared if name in stored):
        meaning = _meaning(declared[row.name])
        if other := [name for name in ("label", "better", "help") if meaning[name] != getattr(row, name)]:
            raise IngestError(
                _("{metric} has another {field} in this warehouse.", metric=row.name, field=other[0]),
                where=f"{parsed.trial_key}: {row.name}, {other[0]}",
                why=_(
                    "Here it is {here!r}, in the bundle {other!r}.",
                    here=str(getattr(row, other[0])),
                    other=str(meaning[other[0]])[:200],
                ),
                todo=_("Rename the metric where it is measured, or the one here."),
            )


def _require_units(parsed: ParsedTrial, stored: Mapping[str, models.Metric]) -> None:
    """Raise IngestError for a metric with another unit than in the warehouse: stored values would be misread."""
    units = {metric.name: metric.unit for metric in parsed.metrics}
    for name, row in stored.items():
        if row.unit != units[name]:
            raise IngestError(
                _(
                    "{metric} is in {unit} here, and in {before} in all trials before.",
                    metric=name,
                    unit=units[name],
                    before=row.unit,
                ),
                where=parsed.trial_key,
                todo=_("Give the metric another name, or the unit that it had."),
            )


_COLUMNS: dict[str, tuple[str, ...]] = {
    "measurement": ("metric_id", "node", "label", "value"),
    "series": ("name", "node", "label", "unit", "start_s", "step_s", "values", "times_s"),
    "histogram": ("node", "label", "latencies_us", "counts", "heat_seconds", "heat_buckets", "heat_counts"),
    "document": ("kind", "node", "label", "content"),
    "layeruse": ("node", "layer_id"),
}
# of the rows that the view `results_series` is of
_GROUP_COLUMNS = ("node", "start_s", "step_s", "length", "times_s", "names", "labels", "units", "values")


_ROUNDED_TO_ZERO = 2.0**-150  # half the least float of 4 bytes
_NUL = re.compile(r"(?<!\\)((?:\\\\)*)\\u0000")  # PostgreSQL's text holds every character but this one


def _measurements(parsed: ParsedTrial) -> Iterator[tuple[str, str, str, float]]:
    for measurement in parsed.measurements:
        yield measurement.metric, measurement.node, measurement.label[:500], measurement.value


def _series(parsed: ParsedTrial) -> Iterator[tuple[Any, ...]]:
    for series in parsed.series:
        times = [float(time) for time in series.times_s] or None
        columns = (series.name, series.node, series.label[:200], series.unit, series.start_s, series.step_s)
        yield *columns, _reals(series.values), times


def _group(group: SeriesGroup) -> tuple[Any, ...]:
    times = [float(time) for time in group.times_s] or None
    lists = (list(texts) for texts in (group.names, group.labels, group.units))
    return group.node, group.start_s, group.step_s, group.length, times, *lists, _reals(group.values)


def _reals(values: Iterable[float]) -> list[float]:
    # psycopg refuses an array of integers and floats together, PostgreSQL a number below its least 4-byte float
    return [0.0 if abs(value) <= _ROUNDED_TO_ZERO else float(value) for value in values]


def _histograms(parsed: ParsedTrial) -> Iterator[tuple[Any, ...]]:
    for item in parsed.latencies:
        histogram, heat = item.histogram, item.heat
        columns = (histogram.latencies_us, histogram.counts, heat.seconds, heat.buckets, heat.counts)
        yield item.node, item.label[:200], *(list(column) for column in columns)


def _documents(parsed: ParsedTrial) -> Iterator[tuple[Any, ...]]:
    for document in parsed.documents:
        where = f"{parsed.trial_key} {document.kind} {document.label}"
        try:
            text = json.dumps(document.content, allow_nan=False)
        except (TypeError, ValueError) as error:
            raise IngestError(_("A document is no JSON."), where=where, why=str(error)) from error
        content = json.loads(_NUL.sub(r"\1\\ufffd", text))
        yield document.kind, document.node, document.label[:200], Jsonb(content)


def _layer_uses(parsed: ParsedTrial) -> Collection[tuple[str, str]]:
    return dict.fromkeys((use.node, use.layer.hash) for use in parsed.layers)


_RECORDS = {
    "measurement": _measurements,
    "series": _series,
    "histogram": _histograms,
    "document": _documents,
    "layeruse": _layer_uses,
}


def _stored_records(table: str, parsed: ParsedTrial) -> Iterable[tuple[Any, ...]]:
    """Return the rows of a table as COPY takes them."""
    return map(_packed_histogram, _histograms(parsed)) if table == "histogram" else _RECORDS[table](parsed)


def _packed_histogram(record: tuple[Any, ...]) -> tuple[Any, ...]:
    node, label, latencies_us, counts, seconds, buckets, cells = record
    heat = packed_ascending(seconds), packed(buckets), packed(cells)
    return node, label, packed_ascending(latencies_us), packed(counts), *heat


def _store_record(parsed: ParsedTrial, attempt: models.Attempt, archive: Archive, now: datetime) -> None:
    models.Attempt.objects.filter(pk=attempt.pk).update(
        measured_from=parsed.measured_from,
        measured_to=parsed.measured_to,
        bundle=archive.path,
        bundle_sha256=archive.sha256,
        bundle_bytes=archive.size_bytes,
        ingested_at=now,
        environment=environment_hash(_layer_uses(parsed)),
        notes=dict(parsed.notes),
        **_records(parsed) | {"commands": command_texts.shared(to_json("commands", parsed.commands), _own(parsed))},
    )
    if any(document.kind == CAPABILITY for document in parsed.documents):
        store_checked_builds([attempt.pk])


def _records(parsed: ParsedTrial) -> dict[str, Any]:
    return {name: to_json(name, getattr(parsed, name)) for name in _RECORD_COLUMNS}


def _own(parsed: ParsedTrial) -> tuple[str, ...]:
    """Return the name of the attempt's own folders on its agents, and its key."""
    return f"{parsed.trial_key.replace('/', '-')}-{parsed.attempt}", parsed.trial_key


_RECORD_COLUMNS = ("phases", "commands", "checks", "files", "events", "gaps")


def numbers_hash(attempt_id: int) -> str:
    """Return the SHA-256, hex, of what is stored of an attempt: measurements, series, histograms, documents, and the
    hashes of its layers, all to the last bit. The same in every warehouse that stores the same."""
    digest = hashlib.sha256()
    for table, columns in _COLUMNS.items():
        lines = (json.dumps(row, sort_keys=True, default=bytes.hex) for row in _stored(table, columns, attempt_id))
        digest.update("\n".join((table, *sorted(lines), "")).encode())
    return digest.hexdigest()


@dataclass(frozen=True)
class Difference:
    """One value that differs between bundle and warehouse; None where a side lacks it."""

    table: str
    key: tuple[Any, ...]
    stored: Any
    bundle: Any


def differences(parsed: ParsedTrial, attempt_id: int) -> list[Difference]:
    """Compare every stored value with the bundle's, to the last bit (series: of their 4-byte floats).

    Raises IngestError for a bundle that says what cannot be.
    """
    require_plausible(parsed)
    differences: list[Difference] = []
    for table, columns in _COLUMNS.items():
        stored = _stored(table, columns, attempt_id)
        parsed_records = [_comparable(table, record) for record in _RECORDS[table](parsed)]
        differences += _compare(table, stored, parsed_records)
    return [
        *differences,
        *_record_differences(parsed, models.Attempt.objects.select_related("trial").get(pk=attempt_id)),
    ]


def _record_differences(parsed: ParsedTrial, attempt: models.Attempt) -> Iterator[Difference]:
    commands = command_texts.whole(attempt.pk)
    for name, parsed_records in _records(parsed).items():
        records = commands if name == "commands" else getattr(attempt, name)
        stored, rows = without_messages(records), without_messages(parsed_records)
        if rows != stored:
            yield Difference("attempt", (name,), stored, rows)
    for name in ("measured_from", "measured_to", "notes"):
        if getattr(parsed, name) != getattr(attempt, name):
            yield Difference("attempt", (name,), getattr(attempt, name), getattr(parsed, name))
    counts = attempt.state == AttemptState.DONE
    if (counts and not parsed.succeeded) or _succeeds_now(parsed, attempt):
        yield Difference("attempt", ("counts",), counts, parsed.succeeded)


# how many of the columns identify a record
_KEY_COLUMNS = {"measurement": 3, "series": 3, "histogram": 2, "document": 3, "layeruse": 2}
_MODELS: Mapping[str, Any] = {
    "measurement": models.Measurement,
    "series": models.Series,
    "histogram": models.Histogram,
    "document": models.Document,
    "layeruse": models.LayerUse,
}

# what is stored of each attempt by itself: of layers only the environment, in its own row
_OF_AN_ATTEMPT: Sequence[Any] = (
    models.AttemptValues,
    models.SeriesGroup,
    models.Histogram,
    models.Document,
    models.CheckedBuild,
)


def _stored(table: str, columns: tuple[str, ...], attempt_id: int) -> list[tuple[Any, ...]]:
    rows = _MODELS[table].objects.filter(attempt_id=attempt_id).values_list(*columns)
    return [_comparable(table, row) for row in rows]


def _comparable(table: str, record: Sequence[Any]) -> tuple[Any, ...]:
    four_byte_floats = table == "series"
    values = (value.obj if isinstance(value, Jsonb) else value for value in record)
    return tuple(_bits(value) if four_byte_floats and isinstance(value, (list, tuple)) else value for value in values)


def _bits(values: Sequence[float]) -> bytes:
    """Return the bits of four-byte floats as PostgreSQL stores them, with one NaN."""
    return b"".join(struct.pack("<f", math.nan if value != value else value) for value in values)


def _compare(table: str, stored: list[tuple[Any, ...]], parsed: list[tuple[Any, ...]]) -> Iterator[Difference]:
    count = _KEY_COLUMNS[table]
    left = {record[:count]: record[count:] for record in stored}
    right = {record[:count]: record[count:] for record in parsed}
    for key in sorted(left.keys() | right.keys()):
        if left.get(key) != right.get(key):
            yield Difference(table, key, left.get(key), right.get(key))
