"""Host factors: what plans may change on an agent, and what is changed there now."""

from __future__ import annotations

from django.db import models


class HostFactor(models.Model):
    """A host factor that an operator defined on an agent.

    toml: its definition, see `results.domain.kinds.host_factors`
    """

    agent = models.ForeignKey("results.Agent", on_delete=models.CASCADE, related_name="host_factors")
    name = models.CharField(max_length=40)
    toml = models.TextField()
    changed_at = models.DateTimeField(auto_now=True)

    class Meta:
        ordering = ["agent", "name"]
        constraints = [models.UniqueConstraint(fields=["agent", "name"], name="one_host_factor_a_name")]


class HostChange(models.Model):
    """A host factor on an agent that a trial has set and not reverted yet; reverting it deletes the row.

    own: the value before the trial
    tried_at: when reverting it failed last
    error: why it failed
    """

    agent = models.ForeignKey("results.Agent", on_delete=models.CASCADE, related_name="host_changes")
    factor = models.CharField(max_length=40)
    level = models.CharField(max_length=60)
    own = models.TextField()
    trial = models.ForeignKey(
        "results.Trial", null=True, on_delete=models.SET_NULL, related_name="+", db_constraint=False
    )
    since = models.DateTimeField()
    tried_at = models.DateTimeField(null=True)
    error = models.TextField(blank=True)

    class Meta:
        ordering = ["agent", "since", "factor"]
        constraints = [models.UniqueConstraint(fields=["agent", "factor"], name="one_host_change_a_factor")]
