"""What people make of results: published figures, citations, references, annotations, watches and alerts."""

from __future__ import annotations

from django.conf import settings
from django.contrib.postgres.fields import ArrayField
from django.db import models

from results.domain.messages import gettext_lazy as _
from results.domain.messages import pgettext_lazy
from results.models.visible import OfVisibleRuns


class Publication(models.Model):
    """Where the figures of a run come from that Teiten did not measure: a table of a report that others published, or
    files of another program that a user imported. Figures of a report have no raw files.

    program: whose files were imported; '' of a table of a report
    title, publisher, year, licence: of the report; of an import its name, the program, and the year of the measurement
    place: the table or section
    file: its name under results/published/
    sha256: of the file
    derived: what the report computed of its figures, as `results.published.tables.Derived`
    remarks: where it is in doubt, as `results.published.tables.Remark`
    fingerprint: hash of all of it
    note: what the user wrote of an import: machine, settings, who measured
    measured_on: when the user says it was measured
    """

    slug = models.CharField(max_length=80, unique=True)
    title = models.CharField(max_length=200)
    publisher = models.CharField(max_length=200)
    year = models.PositiveIntegerField()
    place = models.CharField(max_length=200)
    caption = models.CharField(max_length=200)
    licence = models.CharField(max_length=100)
    file = models.CharField(max_length=200)
    sha256 = models.CharField(max_length=64)
    derived = models.JSONField(default=list)
    remarks = models.JSONField(default=list)
    fingerprint = models.CharField(max_length=64)
    loaded_at = models.DateTimeField(auto_now=True)
    program = models.CharField(max_length=40, blank=True, default="", db_default="")
    note = models.TextField(blank=True, default="", db_default="")
    measured_on = models.DateField(null=True)

    class Meta:
        ordering = ["slug"]


class ImportedFile(models.Model):
    """A file of another program that was imported. Its content is in the archive of the attempts that were read of it.

    name: without folders
    sha256: of the content; no file is imported twice
    """

    publication = models.ForeignKey(Publication, on_delete=models.CASCADE, related_name="files")
    name = models.CharField(max_length=255)
    sha256 = models.CharField(max_length=64, unique=True)
    size_bytes = models.BigIntegerField()

    class Meta:
        ordering = ["publication", "name"]


class Snapshot(models.Model):
    """A comparison as it was cited, never changed.

    hash: of query, attempts, rule and content
    query: as in the URL, complete
    attempts: ids of the attempts whose measurements it holds, in order
    rule: version of the verdict rule
    content: the comparison as JSON
    """

    hash = models.CharField(max_length=16, primary_key=True)
    query = models.TextField()
    attempts = ArrayField(models.BigIntegerField())
    rule = models.PositiveIntegerField()
    content = models.JSONField()
    created_by = models.ForeignKey(settings.AUTH_USER_MODEL, null=True, on_delete=models.SET_NULL, related_name="+")
    created_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        ordering = ["-created_at"]


class Reference(models.Model):
    """A series of a citation under a name, to compare others with (`baseline=@name`)."""

    name = models.CharField(max_length=63, unique=True)
    snapshot = models.ForeignKey(Snapshot, on_delete=models.PROTECT, related_name="references")
    series = models.CharField(max_length=500)
    created_by = models.ForeignKey(settings.AUTH_USER_MODEL, null=True, on_delete=models.SET_NULL, related_name="+")
    created_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        ordering = ["name"]


class Noise(models.Model):
    """How much a metric spreads where nothing differs: between two equal configurations of an A/A run.

    configuration, twin: the two configurations
    spread: standard deviation of single values, as a share of them (0.02 = 2 %)
    replicates: pairs of values that it was computed from
    """

    run = models.ForeignKey(
        "results.Run", on_delete=models.CASCADE, related_name="noise", db_index=False, db_constraint=False
    )
    configuration = models.ForeignKey(
        "results.Configuration", on_delete=models.CASCADE, related_name="+", db_index=False, db_constraint=False
    )
    twin = models.ForeignKey("results.Configuration", on_delete=models.CASCADE, related_name="+", db_constraint=False)
    metric = models.ForeignKey("results.Metric", on_delete=models.PROTECT, related_name="+")
    node = models.CharField(max_length=63)
    label = models.CharField(max_length=500)
    spread = models.FloatField()
    replicates = models.PositiveIntegerField()

    objects = OfVisibleRuns["Noise"]()

    class Meta:
        ordering = ["-run", "configuration", "metric", "node", "label"]
        constraints = [
            models.UniqueConstraint(
                fields=["configuration", "metric", "node", "label", "run"], name="one_noise_a_metric"
            )
        ]
        indexes = [models.Index(fields=["id"], name="noise_by_id")]


class Annotation(models.Model):
    """A note on a moment, shown on trends.

    plan: shown on trends of this plan only; null for all trends
    """

    at = models.DateTimeField()
    text = models.CharField(max_length=500)
    plan = models.ForeignKey("results.Plan", null=True, on_delete=models.CASCADE, related_name="annotations")
    created_by = models.ForeignKey(settings.AUTH_USER_MODEL, null=True, on_delete=models.SET_NULL, related_name="+")
    created_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        ordering = ["at"]


class Watch(models.Model):
    """Whom to notify when a plan's newest run is worse than the one before it.

    target: an e-mail address or a webhook's URL
    language: of the texts; '' for TEITEN_LANGUAGE
    """

    plan = models.ForeignKey("results.Plan", on_delete=models.CASCADE, related_name="watches")
    channel = models.CharField(max_length=10, choices=[("email", _("e-mail")), ("webhook", _("webhook"))])
    target = models.CharField(max_length=500)
    language = models.CharField(max_length=10, blank=True, default="")
    created_by = models.ForeignKey(settings.AUTH_USER_MODEL, null=True, on_delete=models.SET_NULL, related_name="+")
    created_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        ordering = ["id"]
        constraints = [models.UniqueConstraint(fields=["plan", "channel", "target"], name="one_watch_a_target")]


class AlertState(models.TextChoices):
    """What became of an alert."""

    QUIET = "quiet", pgettext_lazy("state of an alert", "nothing worse")
    UNJUDGED = "unjudged", pgettext_lazy("state of an alert", "could not be judged")
    DUE = "due", pgettext_lazy("state of an alert", "being sent")  # to be sent at next_at
    SENT = "sent", pgettext_lazy("state of an alert", "sent")
    FAILED = "failed", pgettext_lazy("state of an alert", "could not be sent")  # given up


class Alert(models.Model):
    """The judgement of one run for a watch, and how it was sent.

    content: `results.queries.trends.progress.Progress` as JSON; empty where the run could not be judged
    decided_at: when the run was judged
    tries: how often sending it failed
    error: why sending it failed last, or why the run could not be judged
    """

    watch = models.ForeignKey(Watch, on_delete=models.CASCADE, related_name="alerts")
    run = models.ForeignKey("results.Run", on_delete=models.CASCADE, related_name="alerts")
    state = models.CharField(max_length=10, choices=AlertState.choices)
    content = models.JSONField()
    decided_at = models.DateTimeField()
    next_at = models.DateTimeField(null=True)
    sent_at = models.DateTimeField(null=True)
    tries = models.PositiveIntegerField(default=0)
    error = models.TextField(blank=True)

    objects = OfVisibleRuns["Alert"]()

    class Meta:
        ordering = ["-id"]
        constraints = [models.UniqueConstraint(fields=["watch", "run"], name="one_alert_a_run")]
        indexes = [models.Index(fields=["state", "next_at"], name="alert_by_state")]
