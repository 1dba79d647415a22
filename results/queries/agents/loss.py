"""What is concerned when an agent is archived or deleted, and what keeps it from that."""

from __future__ import annotations

import tomllib
from collections.abc import Iterator
from dataclasses import dataclass

from django.db.models import Count, Q, Sum

from results import models
from results.cron import cron_line
from results.domain.kinds.host_factors import read
from results.domain.messages import gettext_lazy as _
from results.domain.messages import ngettext_lazy
from results.domain.states import TrialState
from results.queries.shared.ids import NotFound

_RUNS = 20


@dataclass(frozen=True)
class PlanOnAgent:
    """A plan that names the agent. schedule: its cron line (UTC), '' without one."""

    id: int
    name: str
    schedule: str


@dataclass(frozen=True)
class AgentLoss:
    """One agent, and what hangs on it, as far as the reader may see it.

    trials: that ran or were to run on it, of any state; trials_open: of these, those that wait or run.
    runs: of these trials; run_ids: the latest of them.
    plans: in use, that name it.
    clusters, cluster_bytes: that lie on its disks, as last seen.
    folders: on the machine, in which Teiten leaves something.
    host_factors: names of those defined for it; changed: of those that are not back at their own value.
    behind: agents that are reached through it; archived_behind: those of them that are archived.
    held: a trial, a contact or a removal uses it.
    key_path: of the private key on the worker, '' for its ssh-agent."""

    name: str
    archived: bool
    trials: int
    trials_open: int
    runs: int
    run_ids: tuple[int, ...]
    plans: tuple[PlanOnAgent, ...]
    clusters: int
    cluster_bytes: int
    folders: tuple[str, ...]
    host_factors: tuple[str, ...]
    changed: tuple[str, ...]
    behind: tuple[str, ...]
    archived_behind: tuple[str, ...]
    held: bool
    key_path: str

    @property
    def keeps_on_lists(self) -> str:
        """Why it cannot be archived; '' where it can."""
        if self.trials_open:
            return ngettext_lazy(
                "A trial waits for it or run on it: cancel them, or wait for their end.",
                "{number} trials wait for it or run on it: cancel them, or wait for their end.",
                self.trials_open,
            )
        if self.held:
            return _("A contact, a removal or the end of a trial uses it at this moment: try again in a minute.")
        if self.behind:
            return _(
                "{agents} is reached through it: give that another way, or archive it first.",
                agents=", ".join(self.behind),
            )
        if self.changed:
            return _(
                "{factors} is not back at its own value there: contact the agent, which sets it back.",
                factors=", ".join(self.changed),
            )
        return ""

    @property
    def keeps_it(self) -> str:
        """Why it cannot be deleted; '' where it can."""
        if self.keeps_on_lists:
            return self.keeps_on_lists
        if self.trials:
            if self.archived:
                return _("Trials were made for it, whose history names it.")
            return _("Trials were made for it, whose history names it. Archive it instead.")
        if self.archived_behind:
            return _("{agents}, archived, is reached through it.", agents=", ".join(self.archived_behind))
        return ""


def agent_loss(name: str) -> AgentLoss:
    """Return what hangs on an agent. Nine queries. Raises NotFound."""
    agent = models.Agent.objects.filter(name=name).prefetch_related("host_factors").first()
    if agent is None:
        raise NotFound(_("There is no agent {name!r}.", name=name))
    trials = models.Trial.objects.filter(agents__contains=[agent.pk])
    still_open = Count("pk", filter=Q(state__in=[TrialState.WAITING, TrialState.RUNNING]))
    counts = trials.aggregate(trials=Count("pk"), trials_open=still_open, runs=Count("run_id", distinct=True))
    latest = models.Run.objects.filter(agents__contains=[agent.pk]).order_by("-pk").values_list("pk", flat=True)[:_RUNS]
    clusters = models.Cluster.objects.filter(agent=agent).aggregate(count=Count("pk"), size=Sum("size_bytes"))
    behind = list(models.Agent.objects.filter(jump=agent).values_list("name", "archived"))
    return AgentLoss(
        name=agent.name,
        archived=agent.archived,
        **counts,
        run_ids=tuple(latest),
        plans=tuple(_plans(name)),
        clusters=clusters["count"],
        cluster_bytes=clusters["size"] or 0,
        folders=(agent.data_dir, agent.work_dir, *agent.places.values()),
        host_factors=tuple(factor.name for row in agent.host_factors.all() for factor in read(row.toml)),
        changed=tuple(models.HostChange.objects.filter(agent=agent).values_list("factor", flat=True)),
        behind=tuple(one for one, archived in behind if not archived),
        archived_behind=tuple(one for one, archived in behind if archived),
        held=models.Lease.objects.filter(agent=agent).exists(),
        key_path=agent.key_path,
    )


def _plans(agent: str) -> Iterator[PlanOnAgent]:
    plans = models.Plan.objects.filter(archived=False, toml__contains=f'"{agent}"').select_related("schedule__crontab")
    for plan in plans.order_by("name"):
        if agent in tomllib.loads(plan.toml)["agents"].values():
            yield PlanOnAgent(plan.pk, plan.name, cron_line(plan.schedule))
