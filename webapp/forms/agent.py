"""The form of an agent. What is right is decided by the model (`results.agents.create_agent`)."""

from __future__ import annotations

from typing import Any

from django import forms
from django.core.exceptions import ValidationError
from django.utils.translation import gettext, pgettext_lazy

from results.agents import FIELDS
from results.domain.messages import gettext_lazy as _
from results.models import Agent
from webapp.language import joined

_HELP = {
    "name": _("What plans call it."),
    "host": _("Host name or address, as the worker sees it."),
    "user": _("The account that runs PostgreSQL there; empty for the worker's own name. Not root."),
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
            raise ValidationError(gettext("{names} stands in several lines.").format(names=joined(repeated)))
        return {name.strip(): path.strip() for name, _, path in lines}


class AgentForm(forms.ModelForm[Agent]):
    search = Lines(
        required=False,
        label=_("Look for PostgreSQL in"),
        help_text=_("Folders, one a line, besides the usual ones."),
    )
    places = Places(
        required=False,
        label=_("Storage places"),
        help_text=_(
            "One a line, name = folder. A plan may have data, WAL or tablespaces put there by the name, as "
            'host.wal = "ssd". The account must own the folder.'
        ),
    )

    class Meta:
        model = Agent
        fields = FIELDS
        labels = {
            "name": _("Name"),
            "host": _("Host"),
            "port": _("Port"),
            "user": pgettext_lazy("operating system", "User"),
            "key_path": pgettext_lazy("SSH", "Key"),
            "jump": _("Jump host"),
            "data_dir": _("Data directory"),
            "work_dir": _("Work directory"),
            "keep_days": _("Keep clusters, days"),
            "disk_budget_gb": _("Disk for clusters, GB"),
            "enabled": _("Enabled"),
            "allows_code": _("Operators may bring code"),
        }
        help_texts = _HELP

    def fields_given(self) -> dict[str, Any]:
        return {name: self.cleaned_data[name] for name in FIELDS}

    def refuse(self, error: ValidationError) -> None:
        """Show what the model refused beside its fields."""
        self.add_error(None, error)
