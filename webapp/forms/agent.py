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


class Places(forms.CharField):
    """Lines 'name = /folder' ↔ mapping."""

    widget = forms.Textarea(attrs={"rows": 3, "spellcheck": "false", "placeholder": "ssd = /mnt/ssd/teiten"})

    def prepare_value(self, value: Any) -> Any:
        return "\n".join(f"{name} = {path}" for name, path in value.items()) if isinstance(value, dict) else value

    def to_python(self, value: Any) -> Any:
        lines = [line.partition("=") for line in (super().to_python(value) or "").splitlines() if line.strip()]
        names = [name.strip() for name, _, _ in lines]
        if repeated := sorted({name for name in names if names.count(name) > 1}):
            raise ValidationError(f"{', '.join(repeated)} stands in several lines.")
        return {name.strip(): path.strip() for name, _, path in lines}


class AgentForm(forms.ModelForm[Agent]):
    search = Lines(
        required=False,
        label="Look for PostgreSQL in",
        help_text="Folders, one a line, besides the usual ones.",
    )
    places = Places(
        required=False,
        label="Storage places",
        help_text="One a line, name = folder. A plan may have data, WAL or tablespaces put there by the name, as "
        'host.wal = "ssd". The account must own the folder.',
    )

    class Meta:
        model = Agent
        fields = FIELDS
        labels = {
            "key_path": "Key",
            "jump": "Jump host",
            "data_dir": "Data directory",
            "work_dir": "Work directory",
            "keep_days": "Keep clusters, days",
            "disk_budget_gb": "Disk for clusters, GB",
            "allows_code": "Operators may bring code",
        }
        help_texts = _HELP

    def fields_given(self) -> dict[str, Any]:
        return {name: self.cleaned_data[name] for name in FIELDS}

    def refuse(self, error: ValidationError) -> None:
        """Show what the model refused beside its fields."""
        self.add_error(None, error)
