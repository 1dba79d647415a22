"""What trials measured. Every large table carries the run id (docs/adr/0012).

Failed attempts are stored too: aggregates must join through `Trial.attempt`, which only a done attempt sets. A foreign
key that is the first column of another index has none of its own."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Self

from django.contrib.postgres.fields import ArrayField
from django.db import models
from django.db.models import Lookup

from results.domain.measurement import packed_numbers
from results.models.visible import OfVisibleRuns


class RealField(models.FloatField):
    """PostgreSQL's 4-byte float: no sampled quantity has more than its seven digits."""

    def db_type(self, connection: object) -> str:
        return "real"


class WholeNumbersField(models.Field[Sequence[int], list[int]]):
    """Whole numbers that are not negative, packed; see `measurement.packed_numbers`."""

    _pack: Callable[[Sequence[int]], bytes] = staticmethod(packed_numbers.packed)
    _unpack: Callable[[bytes], list[int]] = staticmethod(packed_numbers.whole_numbers)

    def db_type(self, connection: object) -> str:
        return "bytea"

    def get_db_prep_value(self, value: Any, connection: Any, prepared: bool = False) -> bytes:
        return self._pack(value)

    def from_db_value(self, value: bytes, expression: object, connection: object) -> list[int]:
        return self._unpack(value)


class AscendingField(WholeNumbersField):
    """Whole numbers, packed as differences."""

    _pack = staticmethod(packed_numbers.packed_ascending)
    _unpack = staticmethod(packed_numbers.ascending)


class Metric(models.Model):
    """What a metric's name means, copied from the registry at ingest, so that the warehouse explains itself.

    private: only private runs have measured it."""

    name = models.CharField(max_length=63, primary_key=True)
    unit = models.CharField(max_length=20)
    better = models.CharField(max_length=10)
    label = models.CharField(max_length=100)
    help = models.TextField(blank=True)
    minimum_effect = models.FloatField()
    parts = models.CharField(max_length=63, blank=True, default="", db_default="")
    whole = models.CharField(max_length=63, blank=True, default="", db_default="")
    client_overhead = models.BooleanField(default=False, db_default=False)
    label_noun = models.CharField(max_length=63, blank=True, default="", db_default="")
    signed = models.BooleanField(default=False, db_default=False)
    private = models.BooleanField(default=False, db_default=False)

    class Meta:
        ordering = ["name"]


class Measure(models.Model):
    """What a value can be a value of; each stands here once, and `AttemptValues` name it by its id.

    node: role of the node, or ''
    label: which of several values (script, phase, table), or ''
    """

    id = models.AutoField(primary_key=True)
    metric = models.ForeignKey(Metric, on_delete=models.PROTECT, related_name="+", db_index=False)
    node = models.CharField(max_length=63)
    label = models.CharField(max_length=500)

    class Meta:
        ordering = ["metric", "node", "label"]
        constraints = [models.UniqueConstraint(fields=["metric", "node", "label"], name="one_measure")]


PLACES = 1_000_000  # the id of a measurement has room for so many values of an attempt, less one


class AttemptValues(models.Model):
    """All values of one attempt, in the order in which it reported them. What `Measurement` reads, one by one.

    measures: id of the `Measure` of each value
    """

    pk = models.CompositePrimaryKey("run_id", "attempt_id")
    run = models.ForeignKey(
        "results.Run", on_delete=models.CASCADE, related_name="+", db_index=False, db_constraint=False
    )
    attempt = models.ForeignKey("results.Attempt", on_delete=models.CASCADE, related_name="+", db_constraint=False)
    measures = ArrayField(models.IntegerField())
    values = ArrayField(models.FloatField())

    objects = OfVisibleRuns["AttemptValues"]()

    class Meta:
        ordering = ["attempt"]
        constraints = [
            models.CheckConstraint(
                condition=models.Q(measures__len=models.F("values__len"), measures__len__lt=PLACES),
                name="one_measure_a_value",
            )
        ]


class MeasurementIdField(models.BigIntegerField):
    """A million times the id of the attempt, and the place of the value among the attempt's. The view makes it."""

    db_returning = True


class _Beyond(Lookup[int]):
    """Compares ids of measurements by their attempts first, which there is an index of."""

    operator: str

    def as_sql(self, compiler: Any, connection: Any) -> tuple[str, tuple[Any, ...]]:
        left, left_params = self.process_lhs(compiler, connection)
        right, right_params = self.process_rhs(compiler, connection)
        attempt = f"{connection.ops.quote_name(self.lhs.alias)}.attempt_id"
        text = f"({attempt} {self.operator}= {right} / {PLACES} AND {left} {self.operator} {right})"
        return text, (*right_params, *left_params, *right_params)


@MeasurementIdField.register_lookup
class _After(_Beyond):
    lookup_name, operator = "gt", ">"


@MeasurementIdField.register_lookup
class _Before(_Beyond):
    lookup_name, operator = "lt", "<"


class _MeasurementQuerySet(models.QuerySet["Measurement"]):
    def order_by(self, *names: Any) -> Self:
        """Order by ids means by attempts first, for the same reason."""
        by_id = {"id": "attempt_id", "pk": "attempt_id", "-id": "-attempt_id", "-pk": "-attempt_id"}
        return super().order_by(*(by_id[name] for name in names[:1] if name in by_id), *names)


class Measurements(OfVisibleRuns["Measurement"]):
    _queryset_class = _MeasurementQuerySet


class Measurement(models.Model):
    """One value of a metric in one attempt. A view of `AttemptValues` and `Measure`."""

    id = MeasurementIdField(primary_key=True)
    run = models.ForeignKey("results.Run", on_delete=models.DO_NOTHING, related_name="+")
    attempt = models.ForeignKey("results.Attempt", on_delete=models.DO_NOTHING, related_name="measurements")
    metric = models.ForeignKey(Metric, on_delete=models.DO_NOTHING, related_name="+")
    node = models.CharField(max_length=63)
    label = models.CharField(max_length=500)
    value = models.FloatField()

    objects = Measurements()

    class Meta:
        managed = False
        ordering = ["attempt", "metric", "node", "label"]


class SeriesGroup(models.Model):
    """The series of one node that share their times; see `results.domain.measurement.series_groups.SeriesGroup`. What
    `Series` reads, one by one. Partitioned by ranges of runs (`results.ranges`).

    place: which of the attempt's, from 1
    times_s: time of each value; null where they are step_s apart
    """

    pk = models.CompositePrimaryKey("run_id", "attempt_id", "place")
    run = models.ForeignKey(
        "results.Run", on_delete=models.CASCADE, related_name="+", db_index=False, db_constraint=False
    )
    attempt = models.ForeignKey(
        "results.Attempt", on_delete=models.CASCADE, related_name="series_groups", db_constraint=False
    )
    place = models.IntegerField()
    node = models.CharField(max_length=63)
    start_s = models.FloatField()
    step_s = models.FloatField()
    length = models.IntegerField()
    times_s = ArrayField(RealField(), null=True)
    names = ArrayField(models.CharField(max_length=63))
    labels = ArrayField(models.CharField(max_length=200))
    units = ArrayField(models.CharField(max_length=20))
    values = ArrayField(RealField())

    objects = OfVisibleRuns["SeriesGroup"]()

    class Meta:
        ordering = ["attempt", "place"]


class Series(models.Model):
    """A quantity over the trial's time; see `results.domain.measurement.series.Series`. A view of `SeriesGroup`.

    length: how many values it has; to read it unpacks none
    times_s: time of each value; null where they are step_s apart
    """

    pk = models.CompositePrimaryKey("attempt_id", "name", "node", "label")
    run = models.ForeignKey("results.Run", on_delete=models.DO_NOTHING, related_name="+")
    attempt = models.ForeignKey("results.Attempt", on_delete=models.DO_NOTHING, related_name="series")
    name = models.CharField(max_length=63)
    node = models.CharField(max_length=63)
    label = models.CharField(max_length=200)
    unit = models.CharField(max_length=20)
    start_s = models.FloatField()
    step_s = models.FloatField()
    length = models.IntegerField()
    values = ArrayField(RealField())
    times_s = ArrayField(RealField(), null=True)

    objects = OfVisibleRuns["Series"]()

    class Meta:
        managed = False
        ordering = ["attempt", "name", "node", "label"]


class Document(models.Model):
    """A structured result that is no number; see `results.domain.measurement.parsed_trial.Document`."""

    run = models.ForeignKey(
        "results.Run", on_delete=models.CASCADE, related_name="+", db_index=False, db_constraint=False
    )
    attempt = models.ForeignKey(
        "results.Attempt", on_delete=models.CASCADE, related_name="documents", db_index=False, db_constraint=False
    )
    kind = models.CharField(max_length=63)
    node = models.CharField(max_length=63)
    label = models.CharField(max_length=200)
    content = models.JSONField()

    objects = OfVisibleRuns["Document"]()

    class Meta:
        ordering = ["attempt", "kind", "node", "label"]
        constraints = [
            models.UniqueConstraint(fields=["attempt", "kind", "node", "label", "run"], name="one_document_a_label")
        ]
        indexes = [
            models.Index(fields=["run", "attempt"], condition=models.Q(kind="stacks"), name="document_stacks"),
            models.Index(fields=["id"], name="document_by_id"),
        ]


class CheckedBuild(models.Model):
    """The checks of capabilities that one attempt made of one access method: what its documents say, narrow enough that
    the newest are found without reading the others.

    agent: '' of published figures
    capabilities: MD5 of the names of the checks, sorted; attempts at the same checks replace each other
    measured_at: start of the measured window; 1970 of published figures, which anything measured is newer than
    """

    pk = models.CompositePrimaryKey("attempt_id", "access_method", "run_id")
    run = models.ForeignKey("results.Run", on_delete=models.CASCADE, related_name="+", db_constraint=False)
    attempt = models.ForeignKey(
        "results.Attempt", on_delete=models.CASCADE, related_name="+", db_index=False, db_constraint=False
    )
    installation = models.TextField()
    access_method = models.TextField()
    agent = models.TextField()
    capabilities = models.CharField(max_length=32)
    measured_at = models.DateTimeField()

    objects = OfVisibleRuns["CheckedBuild"]()

    class Meta:
        ordering = ["attempt", "access_method"]
        indexes = [
            models.Index(
                fields=["installation", "access_method", "agent", "capabilities", "measured_at", "attempt"],
                name="checked_build_newest",
            )
        ]


class Histogram(models.Model):
    """Exact latency counts of one script on one client, and its heat map; see `measurement.histogram`. The view
    `results_histogram` has them as arrays. Partitioned by ranges of runs (`results.ranges`)."""

    pk = models.CompositePrimaryKey("run_id", "attempt_id", "node", "label")
    run = models.ForeignKey(
        "results.Run", on_delete=models.CASCADE, related_name="+", db_index=False, db_constraint=False
    )
    attempt = models.ForeignKey(
        "results.Attempt", on_delete=models.CASCADE, related_name="histograms", db_constraint=False
    )
    node = models.CharField(max_length=63)
    label = models.CharField(max_length=200)
    latencies_us = AscendingField()
    counts = WholeNumbersField()
    heat_seconds = AscendingField()
    heat_buckets = WholeNumbersField()
    heat_counts = WholeNumbersField()

    objects = OfVisibleRuns["Histogram"]()

    class Meta:
        db_table = "results_packedhistogram"
        ordering = ["attempt", "node", "label"]
