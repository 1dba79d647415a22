"""Changes to the series that the warehouse holds: they are read one by one, and stored together."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

from django.db.models import F

from results import ingest, models
from results.domain.measurement.series import Series

_FIELDS = ("name", "node", "unit", "start_s", "step_s", "values", "label", "times_s")


def change_series(change: Callable[[Series], Iterable[Series]], **of: Any) -> int:
    """Put what `change` makes of each series in its place; return of how many. of: which attempts."""
    count = 0
    for attempt in models.Attempt.objects.filter(**of):
        series = stored_series(attempt)
        models.SeriesGroup.objects.filter(attempt=attempt).delete()
        add_series(attempt, *(new for one in series for new in change(one)))
        count += len(series)
    return count


def stored_series(attempt: models.Attempt) -> list[Series]:
    rows = models.Series.objects.filter(attempt=attempt).values(*_FIELDS)
    return [Series(**row | {name: tuple(row[name] or ()) for name in ("values", "times_s")}) for row in rows]


def add_series(attempt: models.Attempt, *series: Series) -> None:
    """Store some series in rows of their own, before those that the attempt has."""
    models.SeriesGroup.objects.filter(attempt=attempt).update(place=F("place") + 1_000)
    ingest.store_series([(attempt.run_id, attempt.pk, series)])
