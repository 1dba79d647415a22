"""What plans may change on an agent, and what is changed there now."""

from __future__ import annotations

from django.db import models


class HostFactor(models.Model):
    """A host factor that an operator defined on an agent. toml: the definition (`kinds.host_factors`)."""

    agent = models.ForeignKey("results.Agent", on_delete=models.CASCADE, related_name="host_factors")
    name = models.CharField(max_length=40)
    toml = models.TextField()
    changed_at = models.DateTimeField(auto_now=True)

    class Meta:
        ordering = ["agent", "name"]
        constraints = [models.UniqueConstraint(fields=["agent", "name"], name="one_host_factor_a_name")]


class HostChange(models.Model):
    """Something on an agent that is not at its own value: a trial set it and has not reverted it yet. A row goes when
    the value is back. own: the value as found. tried_at, error: the last time that reverting it failed, and why."""

    agent = models.ForeignKey("results.Agent", on_delete=models.CASCADE, related_name="host_changes")
    factor = models.CharField(max_length=40)
    level = models.CharField(max_length=60)
    own = models.TextField()
    trial = models.ForeignKey("results.Trial", null=True, on_delete=models.SET_NULL, related_name="+")
    since = models.DateTimeField()
    tried_at = models.DateTimeField(null=True)
    error = models.TextField(blank=True)

    class Meta:
        ordering = ["agent", "since", "factor"]
        constraints = [models.UniqueConstraint(fields=["agent", "factor"], name="one_host_change_a_factor")]
