"""The form of a new API token."""

from __future__ import annotations

from typing import Any

from django import forms

from results.domain.messages import gettext_lazy as _
from results.models.audit import Scope

LONGEST_DAYS = 3650


class TokenForm(forms.Form):
    name = forms.CharField(
        label=_("Name"), max_length=100, help_text=_("What it is for: you will want to know when you revoke it.")
    )
    scope = forms.ChoiceField(label=_("Scope"), choices=Scope.choices)
    days = forms.IntegerField(
        label=_("Days that it is valid"),
        required=False,
        min_value=1,
        max_value=LONGEST_DAYS,
        initial=365,
        help_text=_("Empty: until it is revoked."),
    )

    def __init__(self, *args: Any, scopes: list[Scope], **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.fields["scope"].choices = [(scope.value, scope.label) for scope in scopes]  # type: ignore[attr-defined]
