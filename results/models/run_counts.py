"""How many runs there are of each kind, for what would have to read all of them."""

from __future__ import annotations

from django.contrib.postgres.fields import ArrayField
from django.db import models


class RunCount(models.Model):
    """A number of runs that are alike in all by which pages filter and count. Triggers of `results_run` keep them
    (migration 0047); besides only `results.run_counts` writes here, where they did not. Rows of runs that are alike
    add up: who would have to wait for another transaction to change a row inserts one more, and its number may be
    below zero. Private and imported runs are not counted: pages over everything leave them out.

    plan_id: 0 of runs that have none, and of published ones
    name: of runs that have no plan; '' of all others
    published: taken from a publication
    tags, agents, workload, standing, archived: as of a run
    """

    plan_id = models.BigIntegerField()
    name = models.CharField(max_length=120)
    workload = models.CharField(max_length=63)
    standing = models.CharField(max_length=12)
    archived = models.BooleanField()
    published = models.BooleanField()
    tags = ArrayField(models.CharField(max_length=32))
    agents = ArrayField(models.BigIntegerField())
    runs = models.BigIntegerField()

    class Meta:
        ordering = ["pk"]
        indexes = [models.Index(fields=["plan_id", "workload", "name"], name="run_count_by_plan")]
