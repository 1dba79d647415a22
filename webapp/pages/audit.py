"""The audit log, for administrators."""

from __future__ import annotations

from typing import Any

from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.views.decorators.http import require_safe

from results.domain.messages import gettext_lazy as _
from results.models import AuditEntry
from results.models.audit import Scope
from webapp.access import needs
from webapp.language import joined
from webapp.pages.common import PAGE, number, page_of

FIELDS = {"actor": _("who"), "verb": _("did what"), "object": _("to what"), "address": _("from where")}


@require_safe
@needs(Scope.ADMIN)
def index(request: HttpRequest) -> HttpResponse:
    """The newest entries first, or those of one actor, verb, object or address."""
    asked = {name: request.GET.get(name, "").strip() for name in FIELDS}
    chosen: dict[str, Any] = {name: text for name, text in asked.items() if text}
    before = number(request.GET.get("before", ""))
    entries = AuditEntry.objects.filter(**chosen, **({"pk__lt": before} if before else {}))
    rows = [(entry, [(name, _text(value)) for name, value in entry.detail.items()]) for entry in entries[: PAGE + 1]]
    page = page_of(rows, PAGE, lambda row: row[0].pk, at=before, chosen=chosen)
    fields = [(name, label, asked[name]) for name, label in FIELDS.items()]
    return render(request, "audit/list.html", {"page": page, "fields": fields, "chosen": chosen})


def _text(value: Any) -> str:
    if isinstance(value, dict) and set(value) == {"before", "after"}:
        return f"{_text(value['before'])} → {_text(value['after'])}"
    text = value if isinstance(value, str) else joined(map(str, value)) if isinstance(value, list) else str(value)
    return text if len(text) <= 200 else f"{text[:200]} …"
