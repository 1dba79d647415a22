"""Runs, their configurations and trials, the attempts at them, and the leases that let one attempt use its agents."""

from __future__ import annotations

from django.conf import settings
from django.contrib.postgres.fields import ArrayField
from django.contrib.postgres.indexes import GinIndex
from django.db import models
from django.db.models import Case, Exists, OuterRef, Q, Value, When

from results.domain.states import AttemptState, RunState, Standing, TrialState
from results.models.visible import OfVisibleRuns, VisibleManager


class Run(models.Model):
    """One execution of a plan.

    headline: name of the metric that is shown first
    toml: the plan when the run was created
    factors: [{name, levels: [label]}] in the plan's order
    seed: of the random order of the trials
    start_at: when a scheduled run may start
    due_at: the time of its plan's schedule that it was made for; None of a run that a person started
    makes_up_for: how many runs that its schedule missed it stands for
    cancelled_at: when it was cancelled as a whole, though trials may have been retried since
    looks: blocks that there were, each time that some were added after trials had ended
    publication: whose figures these are, where Teiten did not measure them
    standing: what it counts for; published figures are always kept
    tags: short words of the users', sorted
    agents: ids of those that its trials use, sorted
    archived: off the lists, with all that was measured
    making: some of its trials are still to be made (results/trial_making.py)
    operators_code: its plan brings code, and who started it was no administrator
    private: there for its author and for administrators only (`results.viewer`); nothing else rests on it
    """

    plan = models.ForeignKey(
        "results.Plan", null=True, on_delete=models.SET_NULL, related_name="runs", db_index=False
    )  # the index by plan has the runs of each in their order
    name = models.CharField(max_length=120)
    workload = models.CharField(max_length=63)
    headline = models.CharField(max_length=63, default="tps")
    toml = models.TextField()
    factors = models.JSONField(default=list)
    plan_hash = models.CharField(max_length=64)
    seed = models.BigIntegerField()
    blocks = models.PositiveIntegerField()
    looks = models.JSONField(default=list, db_default=[])
    state = models.CharField(max_length=12, default=RunState.SCHEDULED)
    created_by = models.ForeignKey(settings.AUTH_USER_MODEL, null=True, on_delete=models.SET_NULL, related_name="+")
    created_at = models.DateTimeField(auto_now_add=True)
    start_at = models.DateTimeField(null=True, blank=True)
    due_at = models.DateTimeField(null=True)
    makes_up_for = models.PositiveIntegerField(default=0, db_default=0)
    started_at = models.DateTimeField(null=True, blank=True)
    ended_at = models.DateTimeField(null=True, blank=True)
    cancelled_at = models.DateTimeField(null=True, blank=True)
    publication = models.ForeignKey("results.Publication", null=True, on_delete=models.PROTECT, related_name="runs")
    standing = models.CharField(max_length=12, default=Standing.EXPLORATORY, db_default=Standing.EXPLORATORY.value)
    tags = ArrayField(models.CharField(max_length=32), default=list, db_default=[])
    agents = ArrayField(models.BigIntegerField(), default=list, db_default=[])
    archived = models.BooleanField(default=False, db_default=False)
    making = models.BooleanField(default=False, db_default=False)
    operators_code = models.BooleanField(default=False, db_default=False)
    private = models.BooleanField(default=False, db_default=False)

    objects = VisibleManager["Run"]()

    class Meta:
        ordering = ["-id"]
        indexes = [
            models.Index(fields=["state"], name="run_by_state"),
            models.Index(fields=["plan", "id"], name="run_by_plan"),
            models.Index(fields=["plan", "started_at"], name="run_by_start"),
            models.Index(fields=["workload", "id"], name="run_by_workload"),
            models.Index(fields=["id"], name="run_in_making", condition=models.Q(making=True)),
            models.Index(fields=["created_by"], condition=Q(private=True), name="run_private"),
        ]
        constraints = [
            models.CheckConstraint(condition=~Q(private=True, standing=Standing.KEPT), name="no_private_run_kept")
        ]

    def __str__(self) -> str:
        return f"run {self.pk}"


class RunImport(models.Model):
    """Where a run comes from that another Teiten measured.

    archive: name of the file that was imported; '' where nobody said
    teiten: version of the Teiten that measured it
    address: TEITEN_ADDRESS of that one; '' where it has none
    source_run: number of the run there
    exported_by: {teiten, address, run} of the Teiten that wrote the archive, where that is not the same
    agents: names of the agents there. None of them is an agent of this warehouse
    actor: as in the audit log
    """

    run = models.OneToOneField(Run, primary_key=True, on_delete=models.CASCADE, related_name="imported")
    archive = models.CharField(max_length=200, blank=True)
    archive_sha256 = models.CharField(max_length=64, unique=True)
    archive_bytes = models.BigIntegerField()
    teiten = models.CharField(max_length=40)
    address = models.CharField(max_length=300, blank=True)
    source_run = models.BigIntegerField()
    exported_by = models.JSONField(null=True)
    agents = ArrayField(models.CharField(max_length=63), default=list)
    at = models.DateTimeField(auto_now_add=True)
    actor = models.CharField(max_length=300)

    objects = OfVisibleRuns["RunImport"]()

    class Meta:
        ordering = ["run"]

    def __str__(self) -> str:
        return f"import of run {self.run_id}"


class Configuration(models.Model):
    """One level of each factor.

    levels: factor → label of its level
    spec: `results.domain.matrix.TrialSpec.to_json()`
    dimensions: see `results.domain.matrix.dimensions`
    family: hash of what it shares with the configurations that trends join to one line, everything but the run and the
        server's version; the function family_of is in migration 0033
    """

    run = models.ForeignKey(Run, on_delete=models.CASCADE, related_name="configurations", db_index=False)
    index = models.PositiveIntegerField()
    name = models.CharField(max_length=500)
    levels = models.JSONField()
    spec = models.JSONField()
    dimensions = models.JSONField()
    family = models.GeneratedField(
        expression=models.Func("levels", "dimensions", function="family_of"),
        output_field=models.UUIDField(),
        db_persist=True,
    )

    objects = OfVisibleRuns["Configuration"]()

    class Meta:
        ordering = ["run", "index"]
        constraints = [models.UniqueConstraint(fields=["run", "index"], name="one_configuration_an_index")]
        indexes = [
            GinIndex(fields=["dimensions"], name="configuration_dimensions", opclasses=["jsonb_path_ops"]),
            models.Index(fields=["family", "run"], name="configuration_by_family"),
            models.Index(fields=["id"], name="configuration_by_id"),
        ]


class Trial(models.Model):
    """One replicate of one configuration.

    position: in the random order of the run's trials, from 0
    agents: ids of the agents that it uses
    state_at: when the state changed last
    not_before: when a retry may start
    attempts_made: attempts that count towards the limit
    attempt: the attempt whose measurements count; set only when the trial is done
    phase: what the running attempt does now
    phase_at: when the phase began
    expected_s: expected duration of the phase, in seconds
    error: why the last attempt failed, `TeitenError.as_dict()`
    bundle_key: what the manifests of an imported trial's bundles call it, 'run/trial' of the Teiten that measured it;
        '' for a trial of this one
    """

    run = models.ForeignKey(Run, on_delete=models.CASCADE, related_name="trials", db_index=False, db_constraint=False)
    configuration = models.ForeignKey(
        Configuration, on_delete=models.CASCADE, related_name="trials", db_index=False, db_constraint=False
    )
    block = models.PositiveIntegerField()
    position = models.PositiveIntegerField()
    agents = ArrayField(models.BigIntegerField())
    state = models.CharField(max_length=12, default=TrialState.WAITING)
    state_at = models.DateTimeField(auto_now_add=True)
    not_before = models.DateTimeField(null=True)
    attempts_made = models.PositiveIntegerField(default=0)
    attempt = models.ForeignKey(
        "results.Attempt", null=True, on_delete=models.SET_NULL, related_name="+", db_index=False, db_constraint=False
    )
    phase = models.CharField(max_length=20, blank=True)
    phase_at = models.DateTimeField(null=True)
    expected_s = models.FloatField(null=True)
    error = models.JSONField(null=True)
    bundle_key = models.CharField(max_length=41, blank=True, default="", db_default="")

    objects = OfVisibleRuns["Trial"]()

    class Meta:
        ordering = ["run", "position"]
        constraints = [
            models.UniqueConstraint(fields=["run", "position"], name="one_trial_a_position"),
            models.UniqueConstraint(fields=["attempt", "run"], name="one_trial_an_attempt"),
        ]
        indexes = [
            models.Index(fields=["state", "run", "position"], name="trial_by_state"),
            models.Index(fields=["configuration", "block"], name="trial_by_configuration"),
            models.Index(fields=["run", "state_at"], name="trial_by_change"),
            models.Index(fields=["block", "id"], name="trial_by_block"),
            models.Index(fields=["id"], name="trial_by_id"),
            models.Index(fields=["run", "position"], condition=models.Q(state="waiting"), name="trial_waiting"),
            models.Index(
                fields=["agents", "run", "position"], condition=models.Q(state="waiting"), name="trial_by_agents"
            ),
            models.Index(
                fields=["-state_at", "-id"],
                include=["agents"],
                condition=~models.Q(state="waiting"),
                name="trial_by_time",
            ),
        ]

    def __str__(self) -> str:
        return f"trial {self.pk}"


def end_state() -> Case:
    """Return the SQL expression of the state of a run whose trials have all ended."""

    def has_trials(*states: TrialState) -> Exists:
        return Exists(Trial.objects.filter(run=OuterRef("pk"), state__in=states))

    was_cancelled = Q(cancelled_at__isnull=False) | ~Q(has_trials(TrialState.DONE, TrialState.FAILED))
    return Case(
        When(Q(has_trials(TrialState.CANCELLED)) & was_cancelled, then=Value(RunState.CANCELLED)),
        When(Q(has_trials(TrialState.FAILED)) & ~Q(has_trials(TrialState.DONE)), then=Value(RunState.FAILED)),
        default=Value(RunState.FINISHED),
    )


class Attempt(models.Model):
    """One attempt at a trial.

    worker: name of the worker that runs it; '' while none does
    left_at: since when no worker runs it whose measurement goes on, and another is to pick it up
    picked_up: a worker was gone, and another one went on with it
    measured_from, measured_to: the measured window
    error: why it failed, `TeitenError.as_dict()`
    bundle: path of the archive, relative to the bundle folder; '' where there is none
    bundle_sha256, bundle_bytes: of the archive, also of one that was removed
    bundle_removed_at, bundle_removed_by: when the archive was removed though the numbers stayed, and by whom, as in the
        audit log
    environment: hash of all its layers and of the roles that they describe, which `EnvironmentLayer` has
    phases, commands, checks, files, events, gaps: as in `ParsedTrial`, lists of objects with the dataclasses' field
        names; times of events in seconds since measured_from. `results_commands(commands)` in SQL gives the commands
        as they ran: scripts in them are stored once, in `CommandText`
    notes: as in `ParsedTrial`
    """

    run = models.ForeignKey(Run, on_delete=models.CASCADE, related_name="+", db_index=False, db_constraint=False)
    trial = models.ForeignKey(
        Trial, on_delete=models.CASCADE, related_name="attempts", db_index=False, db_constraint=False
    )
    number = models.PositiveIntegerField()
    state = models.CharField(max_length=12, default=AttemptState.RUNNING)
    worker = models.CharField(max_length=200, blank=True)
    left_at = models.DateTimeField(null=True)
    picked_up = models.BooleanField(default=False, db_default=False)
    started_at = models.DateTimeField(auto_now_add=True)
    ended_at = models.DateTimeField(null=True)
    measured_from = models.DateTimeField(null=True)
    measured_to = models.DateTimeField(null=True)
    error = models.JSONField(null=True)
    bundle = models.CharField(max_length=300, blank=True)
    bundle_sha256 = models.CharField(max_length=64, blank=True)
    bundle_bytes = models.BigIntegerField(null=True)
    bundle_removed_at = models.DateTimeField(null=True)
    bundle_removed_by = models.CharField(max_length=300, blank=True, default="", db_default="")
    ingested_at = models.DateTimeField(null=True)
    environment = models.CharField(max_length=64, blank=True)
    phases = models.JSONField(default=list)
    commands = models.JSONField(default=list)
    checks = models.JSONField(default=list)
    files = models.JSONField(default=list)
    events = models.JSONField(default=list)
    gaps = models.JSONField(default=list)
    notes = models.JSONField(default=dict)

    objects = OfVisibleRuns["Attempt"]()

    class Meta:
        ordering = ["trial", "number"]
        constraints = [models.UniqueConstraint(fields=["trial", "number", "run"], name="one_attempt_a_number")]
        indexes = [
            models.Index(fields=["run", "ingested_at"], name="attempt_by_change"),
            models.Index(fields=["id"], include=["environment", "run"], name="attempt_environment"),
            models.Index(fields=["id"], name="attempt_running", condition=models.Q(state="running")),
        ]

    def __str__(self) -> str:
        return f"attempt {self.pk}"


class Lease(models.Model):
    """The right of one attempt to use one agent. The attempt's id is the fencing token: later leases have higher ones.

    attempt: null for a contact, which discovers the agent's facts
    """

    agent = models.OneToOneField("results.Agent", primary_key=True, on_delete=models.CASCADE, related_name="lease")
    attempt = models.ForeignKey(
        Attempt, null=True, on_delete=models.CASCADE, related_name="leases", db_constraint=False
    )
    acquired_at = models.DateTimeField()
    heartbeat_at = models.DateTimeField()
    expires_at = models.DateTimeField()
