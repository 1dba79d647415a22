"""Operations on annotations, for pages and API; each writes the audit log in its own transaction."""

from __future__ import annotations

from datetime import datetime

from django.contrib.auth.models import User
from django.db import transaction

from results import models
from results.domain.errors import TeitenError
from results.runs import audit

MAX_LENGTH = 500


@transaction.atomic
def annotate(text: str, at: datetime, *, plan: str, user: User | None, actor: str) -> models.Annotation:
    """Store a note on a moment. Raises TeitenError.

    plan: name of the plan on whose trends it is shown; '' for all trends
    """
    text = " ".join(text.split())
    if not text or len(text) > MAX_LENGTH:
        raise TeitenError(
            f"The text has {len(text)} characters.", where="text", todo=f"Write 1 to {MAX_LENGTH} characters."
        )
    if "\0" in text + plan:
        raise TeitenError("A note has no NUL byte.", where="text" if "\0" in text else "plan", todo="Leave it out.")
    if at.tzinfo is None:
        raise TeitenError("The time has no zone.", where="at", todo="Write it as 2026-01-31T02:00:00Z.")
    stored = models.Plan.objects.filter(name=plan).first() if plan else None
    if plan and stored is None:
        raise TeitenError(f"There is no plan {plan!r}.", where="plan", todo="Leave it out for all trends.")
    annotation = models.Annotation.objects.create(text=text, at=at, plan=stored, created_by=user)
    audit(actor, "annotate", f"annotation {annotation.pk}", text=text, at=at.isoformat(), plan=plan)
    return annotation


@transaction.atomic
def remove(annotation: models.Annotation, actor: str) -> None:
    """Remove an annotation; its text stays in the audit log."""
    audit(actor, "remove annotation", f"annotation {annotation.pk}", text=annotation.text, at=annotation.at.isoformat())
    annotation.delete()
