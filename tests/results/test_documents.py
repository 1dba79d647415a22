"""Documents: stored as they are, compared with their bundle."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import Any

import pytest

from results import ingest, models
from results.domain.errors import IngestError
from results.domain.measurement.parsed_trial import Document
from results.queries.runs.documents import documents_of
from tests import factories

pytestmark = pytest.mark.django_db


def stored(content: Any) -> tuple[models.Attempt, Any]:
    """An attempt whose bundle holds one document, and what `parse` gave of it."""
    trial = factories.run().trials.first()
    assert trial is not None
    attempt = factories.begin(trial)
    value = replace(factories.parsed(trial, attempt.number, 100.0, None), documents=(Document("plan", "q1", content),))
    ingest.store(value, attempt.pk, ingest.Archive("", "", 0))
    return attempt, value


@pytest.mark.parametrize("content", [{"a": [1, 2.5, None]}, [1, {"b": "ü"}], "text", 7, True])
def test_a_document_comes_back_as_it_was(content: Any) -> None:
    attempt, value = stored(content)
    (row,) = documents_of(attempt.pk, "plan")
    assert (row.label, row.content) == ("q1", tuple(content) if isinstance(content, list) else content)
    assert [d for d in ingest.differences(value, attempt.pk) if d.table == "document"] == []


def test_a_nul_which_postgresql_cannot_hold_costs_that_character_only() -> None:
    attempt, value = stored("a\0b")
    assert documents_of(attempt.pk)[0].content == "a\ufffdb"
    assert [d for d in ingest.differences(value, attempt.pk) if d.table == "document"] == []


def test_a_changed_document_is_a_difference() -> None:
    attempt, value = stored({"rows": 1})
    models.Document.objects.update(content={"rows": 2})
    (difference,) = [d for d in ingest.differences(value, attempt.pk) if d.table == "document"]
    assert (difference.key, difference.stored, difference.bundle) == (
        ("plan", "", "q1"),
        ({"rows": 2},),
        ({"rows": 1},),
    )


def test_what_is_no_json_is_refused_by_name() -> None:
    with pytest.raises(IngestError, match="plan q1"):
        stored({"value": math.nan})
