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


class LayerUse(models.Model):
    """A layer of an attempt's environment.

    node: role of the node that it describes
    """

    pk = models.CompositePrimaryKey("attempt_id", "node", "layer_id", "run_id")
    run = models.ForeignKey("results.Run", on_delete=models.CASCADE, related_name="+", db_constraint=False)
    attempt = models.ForeignKey(
        "results.Attempt", on_delete=models.CASCADE, related_name="layer_uses", db_index=False, db_constraint=False
    )
    node = models.CharField(max_length=63)
    layer = models.ForeignKey(Layer, on_delete=models.PROTECT, related_name="uses")

    class Meta:
        ordering = ["attempt", "node", "layer"]
