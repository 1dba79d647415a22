"""Rows that the viewer may see (`results.viewer`)."""

from __future__ import annotations

from typing import Any, TypeVar

from django.core.exceptions import FullResultSet
from django.db import models

from results.viewer import HIDDEN, hidden_from

M = TypeVar("M", bound=models.Model)


class Visible(models.Func):
    """Whether the run of this id is there for the viewer: asked when a query is run, not when it is made."""

    output_field = models.BooleanField()

    def as_sql(self, compiler: Any, connection: Any, *_: Any, **__: Any) -> tuple[str, tuple[str | int, ...]]:
        viewer = hidden_from()
        if viewer is None:
            raise FullResultSet
        run_id, params = compiler.compile(self.source_expressions[0])
        return f"{run_id} NOT IN ({HIDDEN.format(viewer='%s')})", (*params, viewer)


class VisibleManager(models.Manager[M]):
    """Of runs: those that are there for the viewer."""

    run = "pk"

    def get_queryset(self) -> models.QuerySet[M]:
        return super().get_queryset().filter(Visible(models.F(self.run)))


class OfVisibleRuns(VisibleManager[M]):
    """Of what belongs to a run: that of runs that are there for the viewer."""

    run = "run_id"
