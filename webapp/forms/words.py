"""What the plan form calls its fields and some of their values."""

from __future__ import annotations

from results.domain.kinds.parameter_names import parameter_name
from results.domain.messages import localized, pgettext_lazy
from results.domain.states import Standing
from webapp.templatetags.teiten import state_words

_UNITS = (  # that stand beside a field
    pgettext_lazy("end of a parameter's name", "_s"),
    pgettext_lazy("end of a parameter's name", "_ms"),
)


def label(name: str) -> str:
    """Return what a parameter's field is called: its name without the unit."""
    words = localized(parameter_name(name))
    for unit in _UNITS:
        words = words.removesuffix(localized(unit))
    return words.replace("_", " ")


def key(name: str) -> str:
    """Return how a parameter is written in the TOML, where its field is called otherwise than by that."""
    return "" if localized(parameter_name(name)) == name else name


def value_text(value: str) -> str:
    """Return how a choice reads: most as in the TOML."""
    return state_words(value) if value in list(Standing) else value
