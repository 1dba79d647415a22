"""Verbs on annotations: shared by page and API. Each writes the audit log in its own transaction."""

from __future__ import annotations

from datetime import datetime

from django.contrib.auth.models import User
from django.db import transaction

from results import models
from results.domain.errors import TeitenError
from results.runs import audit

LONGEST = 500


@transaction.atomic
def annotate(text: str, at: datetime, *, plan: str, user: User | None, actor: str) -> models.Annotation:
    """plan: name of the plan whose trends show it, '' for all trends. Raises TeitenError."""
    text = " ".join(text.split())
    if not text or len(text) > LONGEST:
        raise TeitenError(
            f"The text has {len(text)} characters.", where="text", todo=f"Write 1 to {LONGEST} characters."
        )
    if "\0" in text + plan:
        raise TeitenError("A note has no NUL byte.", where="text" if "\0" in text else "plan", todo="Leave it out.")
    if at.tzinfo is None:
        raise TeitenError("The time has no zone.", where="at", todo="Write it as 2026-01-31T02:00:00Z.")
    stored = models.Plan.objects.filter(name=plan).first() if plan else None
    if plan and stored is None:
        raise TeitenError(f"There is no plan {plan!r}.", where="plan", todo="Leave it out for all trends.")
    made = models.Annotation.objects.create(text=text, at=at, plan=stored, created_by=user)
    audit(actor, "annotate", f"annotation {made.pk}", text=text, at=at.isoformat(), plan=plan)
    return made


@transaction.atomic
def remove(annotation: models.Annotation, actor: str) -> None:
    """What was said stays in the audit log."""
    audit(actor, "remove annotation", f"annotation {annotation.pk}", text=annotation.text, at=annotation.at.isoformat())
    annotation.delete()
