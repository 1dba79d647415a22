"""The form of an agent. What is right is decided by the model (`results.agents.create_agent`)."""

from __future__ import annotations

from typing import Any

from django import forms
from django.core.exceptions import ValidationError

from results.agents import FIELDS
from results.models import Agent

_HELP = {
    "name": "What plans call it.",
    "host": "Host name or address, as the worker sees it.",
    "user": "The account that runs PostgreSQL there; empty for the worker's own name. Not root.",
}


class Lines(forms.CharField):
    """Text of many lines ↔ list."""

    widget = forms.Textarea(attrs={"rows": 3, "spellcheck": "false"})

    def prepare_value(self, value: Any) -> Any:
        return "\n".join(value) if isinstance(value, (list, tuple)) else value

    def to_python(self, value: Any) -> Any:
        return [line.strip() for line in (super().to_python(value) or "").splitlines() if line.strip()]


class AgentForm(forms.ModelForm[Agent]):
    search = Lines(
        required=False, label="Look for PostgreSQL in",
        help_text="Folders, one a line, besides the usual ones.",
    )  # fmt: skip

    class Meta:
        model = Agent
        fields = FIELDS
        labels = {"key_path": "Key", "jump": "Jump host", "data_dir": "Data directory", "work_dir": "Work directory"}
        help_texts = _HELP

    def fields_given(self) -> dict[str, Any]:
        return {name: self.cleaned_data[name] for name in FIELDS}

    def refuse(self, error: ValidationError) -> None:
        """Shows what the model refused beside its fields."""
        self.add_error(None, error)
