"""What the plan form calls its fields and some of their values."""

from __future__ import annotations

from results.domain.messages import gettext_lazy as _
from results.domain.states import Standing
from webapp.templatetags.teiten import state_words

_LABELS = {
    "name": _("name"),
    "description": _("description"),
    "workload": _("workload"),
    "replicates": _("replicates"),
    "seed": _("seed"),
    "patience": _("patience"),
    "standing": _("standing"),
    "topology": _("topology"),
    "installation": _("installation"),
    "access_method": _("access method"),
    "client_programs": _("client programs"),
    "duration_s": _("duration"),
    "warmup_s": _("warmup"),
    "threads": _("threads"),
    "data": _("data"),
    "cache": _("cache"),
}


def label(name: str) -> str:
    """Return what a parameter's field is called: of what every plan says in words, else as in the TOML."""
    return _LABELS.get(name) or name.removesuffix("_s").removesuffix("_ms").replace("_", " ")


def value_text(value: str) -> str:
    """Return how a choice reads: most as in the TOML."""
    return state_words(value) if value in list(Standing) else value
