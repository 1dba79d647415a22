"""What people make of results: published figures, citations, references, annotations, watches and alerts."""

from __future__ import annotations

from django.conf import settings
from django.contrib.postgres.fields import ArrayField
from django.db import models


class Publication(models.Model):
    """One table of a report that others published. Its figures have no raw files. title: of the report; place: the
    table or section; file: under results/published/, and its SHA-256. derived, remarks: what the report computed,
    and where it is in doubt, as `Derived` and `Remark` of `results.published.tables`. fingerprint: of all of it."""

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

    class Meta:
        ordering = ["slug"]


class Snapshot(models.Model):
    """A comparison as it was cited, never changed. hash: of query, attempts, rule and content. query: as in the URL.
    attempts: those whose numbers it holds, in order. content: what the API said."""

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
    """A line of a citation under a name, to compare others with (`baseline=@name`)."""

    name = models.CharField(max_length=63, unique=True)
    snapshot = models.ForeignKey(Snapshot, on_delete=models.PROTECT, related_name="references")
    series = models.CharField(max_length=500)
    created_by = models.ForeignKey(settings.AUTH_USER_MODEL, null=True, on_delete=models.SET_NULL, related_name="+")
    created_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        ordering = ["name"]


class Noise(models.Model):
    """How much a metric spreads where nothing differs: between two configurations of one run that run the same (an A/A
    run). spread: standard deviation of single values, as a share (0.02 = 2 %), of `replicates` pairs of them."""

    run = models.ForeignKey("results.Run", on_delete=models.CASCADE, related_name="noise")
    configuration = models.ForeignKey("results.Configuration", on_delete=models.CASCADE, related_name="+")
    twin = models.ForeignKey("results.Configuration", on_delete=models.CASCADE, related_name="+")
    metric = models.ForeignKey("results.Metric", on_delete=models.PROTECT, related_name="+")
    node = models.CharField(max_length=63)
    label = models.CharField(max_length=500)
    spread = models.FloatField()
    replicates = models.PositiveIntegerField()

    class Meta:
        ordering = ["-run", "configuration", "metric", "node", "label"]
        constraints = [
            models.UniqueConstraint(fields=["configuration", "metric", "node", "label"], name="one_noise_a_metric")
        ]


class Annotation(models.Model):
    """What a person says of a moment, on the trends that show it. plan: for trends of that plan only."""

    at = models.DateTimeField()
    text = models.CharField(max_length=500)
    plan = models.ForeignKey("results.Plan", null=True, on_delete=models.CASCADE, related_name="annotations")
    created_by = models.ForeignKey(settings.AUTH_USER_MODEL, null=True, on_delete=models.SET_NULL, related_name="+")
    created_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        ordering = ["at"]


class Watch(models.Model):
    """Whom to tell when a plan's newest run is worse than the one before it. target: an address or a URL."""

    plan = models.ForeignKey("results.Plan", on_delete=models.CASCADE, related_name="watches")
    channel = models.CharField(max_length=10, choices=[("email", "e-mail"), ("webhook", "webhook")])
    target = models.CharField(max_length=500)
    created_by = models.ForeignKey(settings.AUTH_USER_MODEL, null=True, on_delete=models.SET_NULL, related_name="+")
    created_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        ordering = ["id"]
        constraints = [models.UniqueConstraint(fields=["plan", "channel", "target"], name="one_watch_a_target")]


class AlertState(models.TextChoices):
    """quiet: there was nothing to say. unjudged: an error kept the run from being judged. due: to be sent at next_at.
    failed: given up."""

    QUIET = "quiet", "nothing worse"
    UNJUDGED = "unjudged", "could not be judged"
    DUE = "due", "being sent"
    SENT = "sent", "sent"
    FAILED = "failed", "could not be sent"


class Alert(models.Model):
    """What a watch made of one run, and how it was sent. content: `results.queries.progress.Progress` as JSON,
    empty where the run could not be judged. decided_at: when the run was judged. tries: how often it was sent in vain.
    error: why, the last time, or why the run could not be judged."""

    watch = models.ForeignKey(Watch, on_delete=models.CASCADE, related_name="alerts")
    run = models.ForeignKey("results.Run", on_delete=models.CASCADE, related_name="alerts")
    state = models.CharField(max_length=10, choices=AlertState.choices)
    content = models.JSONField()
    decided_at = models.DateTimeField()
    next_at = models.DateTimeField(null=True)
    sent_at = models.DateTimeField(null=True)
    tries = models.PositiveIntegerField(default=0)
    error = models.TextField(blank=True)

    class Meta:
        ordering = ["-id"]
        constraints = [models.UniqueConstraint(fields=["watch", "run"], name="one_alert_a_run")]
        indexes = [models.Index(fields=["state", "next_at"], name="alert_by_state")]
