"""Which series and histograms are not in the warehouse, but in an archive beside it."""

from __future__ import annotations

from django.db import models


class DetachedRange(models.Model):
    """A range of runs whose series and histograms were written into an archive, and are not in their tables any more;
    see `results.detaching`. Those of attempts that were made since are.

    first_run: of the range
    archive: path of it, relative to the bundle folder
    archive_sha256, archive_bytes: of it
    series_groups, histograms: how many rows of either it has
    """

    first_run = models.BigIntegerField(primary_key=True)
    archive = models.CharField(max_length=200)
    archive_sha256 = models.CharField(max_length=64)
    archive_bytes = models.BigIntegerField()
    series_groups = models.BigIntegerField()
    histograms = models.BigIntegerField()
    detached_at = models.DateTimeField()
    detached_by = models.CharField(max_length=300)

    class Meta:
        ordering = ["first_run"]
