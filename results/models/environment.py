"""Layers of the environment, each content stored once."""

from __future__ import annotations

from django.db import models


class Layer(models.Model):
    """One layer: hardware, kernel, build, settings and so on.

    hash: of the content, `results.domain.environment.layers.Layer.hash`
    """

    hash = models.CharField(max_length=64, primary_key=True)
    kind = models.CharField(max_length=20)
    content = models.JSONField()
    first_seen_at = models.DateTimeField(auto_now_add=True)


class EnvironmentLayer(models.Model):
    """A layer of an environment; each environment stands here once, whatever ran in it.

    environment: `results.domain.environment.layers.environment_hash` of its rows
    node: role of the node that the layer describes
    """

    pk = models.CompositePrimaryKey("environment", "node", "layer_id")
    environment = models.CharField(max_length=64)
    node = models.CharField(max_length=63)
    layer = models.ForeignKey(Layer, on_delete=models.PROTECT, related_name="+", db_index=False)

    class Meta:
        ordering = ["environment", "node", "layer"]


class LayerUse(models.Model):
    """A layer of the environment of an attempt. A view of `Attempt` and `EnvironmentLayer`."""

    pk = models.CompositePrimaryKey("attempt_id", "node", "layer_id", "run_id")
    run = models.ForeignKey("results.Run", on_delete=models.DO_NOTHING, related_name="+")
    attempt = models.ForeignKey("results.Attempt", on_delete=models.DO_NOTHING, related_name="layer_uses")
    node = models.CharField(max_length=63)
    layer = models.ForeignKey(Layer, on_delete=models.DO_NOTHING, related_name="uses")

    class Meta:
        managed = False
        ordering = ["attempt", "node", "layer"]
