"""Agents, their PostgreSQL installations, clusters and facts."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING

from django.contrib.postgres.fields import ArrayField
from django.core.exceptions import ValidationError
from django.core.validators import MaxValueValidator, MinValueValidator, RegexValidator
from django.db import models
from django.utils.translation import gettext, gettext_lazy

from results.domain.folders import problem_of_folder, problem_of_folders, problem_of_search
from results.domain.kinds.host_factors import PLACE
from results.domain.messages import gettext_lazy as _
from results.domain.messages import localized, pgettext_lazy
from results.domain.plan import AGENT

if TYPE_CHECKING:
    from django.utils.functional import _StrPromise

HOST = r"[A-Za-z0-9.:_-]+"
ACCOUNT = r"[A-Za-z0-9._-]*"
PATH = r"[^\x00-\x1f]*"
ABSOLUTE = r"/[A-Za-z0-9._/ +@=-]*"


def matching(pattern: str, message: str | _StrPromise) -> RegexValidator:
    return RegexValidator(rf"\A(?:{pattern})\Z", message)


class AgentState(models.TextChoices):
    """The result of the last contact. Only a ready agent is given trials."""

    UNKNOWN_KEY = "unknown-key", _("host key not accepted yet")
    CHANGED_KEY = "changed-key", _("host key has changed")
    UNREACHABLE = "unreachable", pgettext_lazy("state", "unreachable")
    READY = "ready", pgettext_lazy("state", "ready")


class Agent(models.Model):
    """A machine that Teiten reaches over SSH. The private key itself is never stored.

    key_path: path of the private key on the worker; '' for the worker's ssh-agent
    archived: off the lists, not enabled and not contacted; what was measured there stays
    search: directories in which PostgreSQL is looked for, besides the usual ones
    places: storage place → directory
    host_key: accepted public key; '' until a contact has offered the accepted fingerprint
    offered_fingerprint: of the key that the last contact saw
    error: why the last contact failed, `TeitenError.as_dict()`
    facts_at: when a contact last discovered the machine; the fields after it are from then
    disk: facts of the data directory's file system
    tools: program → 'path version'
    clusters_error: why the clusters are not known, `TeitenError.as_dict()`
    """

    name = models.CharField(
        max_length=63,
        unique=True,
        validators=[matching(AGENT, gettext_lazy("Letters, digits, '.', '_' and '-', at most 63."))],
    )
    host = models.CharField(max_length=255, validators=[matching(HOST, gettext_lazy("A host name or an address."))])
    port = models.PositiveIntegerField(default=22, validators=[MinValueValidator(1), MaxValueValidator(65535)])
    user = models.CharField(
        max_length=64, blank=True, validators=[matching(ACCOUNT, gettext_lazy("An account's name."))]
    )
    key_path = models.CharField(
        max_length=500,
        blank=True,
        validators=[matching(PATH, gettext_lazy("A path, never the key itself."))],
        help_text=_("Path of the private key on the worker; empty for the worker's ssh-agent."),
    )
    jump = models.ForeignKey(
        "self",
        null=True,
        blank=True,
        on_delete=models.PROTECT,
        related_name="behind",
        help_text=_("The agent through which this one is reached."),
    )
    search = ArrayField(
        models.CharField(max_length=500, validators=[matching(ABSOLUTE, gettext_lazy("An absolute path."))]),
        default=list,
        blank=True,
        help_text=_("Folders in which to look for PostgreSQL, besides the usual ones."),
    )
    data_dir = models.CharField(
        max_length=500,
        validators=[matching(ABSOLUTE, gettext_lazy("An absolute path."))],
        help_text=_("Where clusters are made."),
    )
    work_dir = models.CharField(
        max_length=500,
        validators=[matching(ABSOLUTE, gettext_lazy("An absolute path."))],
        help_text=_("Where trials keep their files while they run."),
    )
    places = models.JSONField(
        default=dict,
        blank=True,
        help_text=_("Storage places, name → folder: where plans may have data, WAL and tablespaces put."),
    )
    enabled = models.BooleanField(default=True, help_text=_("Give it trials."))
    archived = models.BooleanField(default=False, db_default=False)
    allows_code = models.BooleanField(
        default=False,
        db_default=False,
        help_text=_(
            "Whoever may run plans can then run any program under this agent's account: by scripts, queries and "
            "commands of a plan, and by settings that name a program, library or file. Without it, only administrators "
            "can; the workloads that come with Teiten run either way."
        ),
    )
    keep_days = models.PositiveIntegerField(
        null=True,
        blank=True,
        default=7,
        validators=[MinValueValidator(1), MaxValueValidator(36500)],
        help_text=_("Days after its last use when a cluster is removed that no trial waits for; empty for never."),
    )
    disk_budget_gb = models.PositiveIntegerField(
        null=True,
        blank=True,
        default=100,
        validators=[MinValueValidator(1), MaxValueValidator(10**6)],
        help_text=_(
            "GB that all clusters together may take before the oldest is removed that no trial waits for; empty "
            "for no limit."
        ),
    )

    host_key = models.TextField(blank=True)
    host_key_fingerprint = models.CharField(max_length=100, blank=True)
    offered_fingerprint = models.CharField(max_length=100, blank=True)
    state = models.CharField(max_length=20, choices=AgentState.choices, default=AgentState.UNKNOWN_KEY)
    error = models.JSONField(null=True, blank=True)
    seen_at = models.DateTimeField(null=True, blank=True)

    facts_at = models.DateTimeField(null=True, blank=True)
    cores = models.PositiveIntegerField(null=True)
    memory_bytes = models.BigIntegerField(null=True)
    disk = models.JSONField(default=dict)
    tools = models.JSONField(default=dict)
    clock_offset_s = models.FloatField(null=True)
    clusters_at = models.DateTimeField(null=True)
    clusters_error = models.JSONField(null=True)
    created_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        ordering = ["name"]

    def __str__(self) -> str:
        return self.name

    @property
    def location(self) -> str:
        """The agent in error messages, as `workers.remote` writes it."""
        return f"agent {self.name} ({self.host}:{self.port})"

    def clean(self) -> None:
        """Raise ValidationError for jump hosts that lead back to this agent, or for folders that Teiten may not use."""
        self._check_places()
        self._check_folders()
        passed_agents = {self.pk} if self.pk else set()
        jump = self.jump
        while jump is not None:
            if jump.pk in passed_agents:
                raise ValidationError({"jump": gettext("The way to this agent leads in a circle.")})
            passed_agents.add(jump.pk)
            jump = jump.jump
        if self.jump is not None and self.jump.archived:
            archived = gettext("Agent {agent} is archived, and not contacted.").format(agent=self.jump.name)
            raise ValidationError({"jump": archived})

    def _check_places(self) -> None:
        if not isinstance(self.places, dict):
            raise ValidationError({"places": gettext("Names and folders.")})
        for name, path in self.places.items():
            if not PLACE.fullmatch(name):
                text = gettext("{name!r} is no name for a place: letters, digits, '.', '_', '-'.")
                raise ValidationError({"places": text.format(name=name)})
            if not isinstance(path, str) or not re.fullmatch(ABSOLUTE, path):
                text = gettext("{name}: {path!r} is not an absolute path.")
                raise ValidationError({"places": text.format(name=name, path=path)})

    def _check_folders(self) -> None:
        """Raise ValidationError for a folder in which what a trial leaves must not be removed."""
        own = {"data_dir": self.data_dir, "work_dir": self.work_dir}
        folders = own | {gettext("place {name}").format(name=name): path for name, path in self.places.items()}
        problems = _problems(folders, problem_of_folder)
        problems = problems or {name: localized(problem) for name, problem in problem_of_folders(folders).items()}
        fields = {name: problem for name, problem in problems.items() if name in own}
        of_places = {name: problem for name, problem in problems.items() if name not in own}
        unsearched = _problems({path: path for path in self.search}, problem_of_search)
        fields |= _together("places", of_places) | _together("search", unsearched)
        if fields:
            raise ValidationError(fields)


def _problems(folders: Mapping[str, str], check: Callable[[str], str]) -> dict[str, str]:
    """Return name → problem, in the reader's language, of those folders that have one."""
    return {name: localized(problem) for name, path in folders.items() if (problem := check(path))}


def _together(field: str, problems: Mapping[str, str]) -> dict[str, str]:
    """Return name → problem of a field as one text of it; {} where there is none."""
    return {field: " ".join(f"{name}: {problem}" for name, problem in problems.items())} if problems else {}


class Installation(models.Model):
    """One PostgreSQL build on an agent, as last discovered.

    configure: options of its configure script
    present: whether the last contact found it
    """

    agent = models.ForeignKey(Agent, on_delete=models.CASCADE, related_name="installations")
    name = models.CharField(max_length=100)
    bin_dir = models.CharField(max_length=500)
    client_bin = models.CharField(max_length=500, blank=True)
    version = models.CharField(max_length=60)
    version_num = models.PositiveIntegerField()
    configure = ArrayField(models.TextField(), default=list)
    access_methods = ArrayField(models.CharField(max_length=63), default=list)
    extensions = ArrayField(models.CharField(max_length=63), default=list)
    has_jit = models.BooleanField(default=False)
    present = models.BooleanField(default=True)
    found_at = models.DateTimeField()

    class Meta:
        ordering = ["agent", "-version_num", "name"]
        constraints = [models.UniqueConstraint(fields=["agent", "name"], name="one_installation_a_name")]

    def __str__(self) -> str:
        return f"{self.agent_id}/{self.name}"


class InstallationSettings(models.Model):
    """The settings that an installation knows; without a row they are not known.

    In a table of their own, since few queries of installations need them.

    lines: input of `results.domain.kinds.server_settings.read`
    """

    installation = models.OneToOneField(
        Installation, primary_key=True, on_delete=models.CASCADE, related_name="known_settings"
    )
    lines = ArrayField(models.TextField())


class Cluster(models.Model):
    """A cluster on an agent, as last seen there (`Agent.clusters_at`).

    Its fields are those of `results.domain.matrix.clusters.AgentCluster`, and:

    used_at: when it was last used
    error: why its removal failed, `TeitenError.as_dict()`
    tried_at: when it failed
    """

    agent = models.ForeignKey(Agent, on_delete=models.CASCADE, related_name="clusters")
    directory = models.CharField(max_length=1000)
    parts = ArrayField(models.CharField(max_length=1000), default=list)
    state = models.CharField(max_length=12)
    size_bytes = models.BigIntegerField()
    used_at = models.DateTimeField()
    running = models.BooleanField(default=False)
    bin_dir = models.CharField(max_length=1000, blank=True)
    error = models.JSONField(null=True)
    tried_at = models.DateTimeField(null=True)

    class Meta:
        ordering = ["agent", "used_at", "directory"]
        constraints = [models.UniqueConstraint(fields=["agent", "directory"], name="one_cluster_a_directory")]

    def __str__(self) -> str:
        return f"{self.agent_id}:{self.directory}"


class HostFacts(models.Model):
    """The layers of an agent from one moment on: a new row only when something differs from the row before."""

    agent = models.ForeignKey(Agent, on_delete=models.CASCADE, related_name="facts")
    at = models.DateTimeField()
    layers = models.ManyToManyField("results.Layer")

    class Meta:
        ordering = ["agent", "-at"]
