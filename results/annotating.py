"""Operations on annotations, for pages and API; each writes the audit log in its own transaction."""

from __future__ import annotations

from datetime import datetime

from django.contrib.auth.models import User
from django.db import transaction

from results import models
from results.domain.errors import TeitenError
from results.domain.messages import gettext_lazy as _
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
            _("The text has {count} characters.", count=len(text)),
            where="text",
            todo=_("Write 1 to {most} characters.", most=MAX_LENGTH),
        )
    if "\0" in text + plan:
        raise TeitenError(
            _("A note has no NUL byte."), where="text" if "\0" in text else "plan", todo=_("Leave it out.")
        )
    if at.tzinfo is None:
        raise TeitenError(_("The time has no zone."), where="at", todo=_("Write it as 2026-01-31T02:00:00Z."))
    stored = models.Plan.objects.filter(name=plan).first() if plan else None
    if plan and stored is None:
        raise TeitenError(
            _("There is no plan {name!r}.", name=plan), where="plan", todo=_("Leave it out for all trends.")
        )
    annotation = models.Annotation.objects.create(text=text, at=at, plan=stored, created_by=user)
    audit(actor, "annotate", f"annotation {annotation.pk}", text=text, at=at.isoformat(), plan=plan)
    return annotation


@transaction.atomic
def remove(annotation: models.Annotation, actor: str) -> None:
    """Remove an annotation; its text stays in the audit log."""
    audit(actor, "remove annotation", f"annotation {annotation.pk}", text=annotation.text, at=annotation.at.isoformat())
    annotation.delete()
