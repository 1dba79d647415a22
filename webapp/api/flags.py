"""Query parameters that are true or false."""

from __future__ import annotations

from typing import Any

from django import forms
from django_filters import BooleanFilter

_FLAGS = {"true": True, "1": True, "false": False, "0": False}


class _FlagField(forms.NullBooleanField):
    widget = forms.TextInput

    def to_python(self, value: Any) -> bool | None:  # type: ignore[override]
        if value in self.empty_values:
            return None
        if str(value).lower() not in _FLAGS:
            raise forms.ValidationError("It is neither true nor false.")
        return _FLAGS[str(value).lower()]


class FlagFilter(BooleanFilter):
    """true or false. Anything else is an error: django-filter would leave it out of the question, without a word."""

    field_class = _FlagField
