"""Annotations: what people say of moments, on the trends that show them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

from django.db.models import Q

from results import models


@dataclass(frozen=True)
class AnnotationRow:
    """A remark on a moment.

    plan: its name, '' for all trends.
    created_by: '' where that account is gone.
    author_id: of that account."""

    id: int
    at: datetime
    text: str
    plan: str
    created_by: str
    author_id: int | None
    created_at: datetime


def list_annotations(*, plan: str | None = None, ids: Sequence[int] | None = None) -> list[AnnotationRow]:
    """In the order of the moments that they speak of. One query.

    plan: those of this plan and those of all.
    ids: only these."""
    annotations = models.Annotation.objects.select_related("plan", "created_by").order_by("at", "id")
    annotations = annotations if plan is None else annotations.filter(Q(plan=None) | Q(plan__name=plan))
    annotations = annotations if ids is None else annotations.filter(pk__in=ids)
    return [
        AnnotationRow(
            id=one.pk,
            at=one.at,
            text=one.text,
            plan=one.plan.name if one.plan else "",
            created_by=one.created_by.username if one.created_by else "",
            author_id=one.created_by_id,
            created_at=one.created_at,
        )
        for one in annotations
    ]
