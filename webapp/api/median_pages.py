"""Medians in pages: rows that are made by a query, sorted by what tells them apart."""

from __future__ import annotations

from base64 import b64decode, b64encode
from collections.abc import Sequence
from typing import Any, NamedTuple

import orjson
from rest_framework.pagination import CursorPagination
from rest_framework.request import Request
from rest_framework.utils.urls import replace_query_param

from results.domain.document_limits import is_storable
from results.queries.runs.runs import MedianKey, MedianRow
from webapp.api.common import Pages
from webapp.api.facts import WithFacts

MOST_VALUES = 10_000  # of a page, which has fewer rows where there are so many replicates
MOST_TRIALS = 1000  # whose facts a page has


class MedianPages(WithFacts, Pages):
    """{"results": […], "next": url or null, "previous": null}; `page_size` up to 1000."""

    page_size = 100

    def get_schema_operation_parameters(self, view: Any) -> list[dict[str, Any]]:
        """Return those that choose the page: the list describes its `ordering` itself."""
        return CursorPagination.get_schema_operation_parameters(self, view)

    def after(self, request: Request) -> MedianKey | None:
        """Return the last row of the page before; None for the first page. Raises NotFound."""
        text = request.query_params.get(self.cursor_query_param)
        if text is None:
            return None
        self.require_cursor(text)
        try:
            configuration, *names = orjson.loads(b64decode(text))
            metric, node, label = names
        except (ValueError, TypeError):
            raise self.no_cursor() from None
        numbered = isinstance(configuration, int) and 0 <= configuration < 2**31
        if not numbered or not all(isinstance(name, str) and is_storable(name) for name in names):
            raise self.no_cursor()
        return MedianKey(configuration, metric, node, label)


class MedianPage(NamedTuple):
    """A page of rows.

    next: its address; None for the last one."""

    rows: Sequence[MedianRow]
    next: str | None


def page_of(request: Request, rows: Sequence[MedianRow], size: int) -> MedianPage:
    """Return the page that rows begin with.

    rows: from the page's first one; one more than its size at least, where there are more."""
    count = _fitting(rows[:size])
    if count == len(rows):
        return MedianPage(rows, None)
    cursor = b64encode(orjson.dumps(list(rows[count - 1].key))).decode()
    address = replace_query_param(request.build_absolute_uri(), MedianPages.cursor_query_param, cursor)
    return MedianPage(rows[:count], address)


def _fitting(rows: Sequence[MedianRow]) -> int:
    """Return how many rows a page has room for, one at least."""
    values, trials = 0, set[int]()
    for count, row in enumerate(rows):
        values += len(row.values)
        trials.update(row.trial_ids)
        if count and (values > MOST_VALUES or len(trials) > MOST_TRIALS):
            return count
    return len(rows)
