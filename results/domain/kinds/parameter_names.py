"""What parameters of plans, and whatever else tells trials apart, are called in the reader's language. Pure.

Their names are keys of the TOML, of the API and of addresses: the same in all languages, and what they are called in
English. Kinds mark those that have a word in other languages: Parameter(pgettext_lazy("parameter",
"clients"), …).
"""

from __future__ import annotations

from results.domain.messages import Message, pgettext_lazy

DIMENSIONS = (  # that trials have, or plans call their factors, and no kind declares
    pgettext_lazy("parameter", "build"),
    pgettext_lazy("parameter", "collectors"),
    pgettext_lazy("parameter", "imported"),
    pgettext_lazy("parameter", "label"),
    pgettext_lazy("parameter", "major"),
    pgettext_lazy("parameter", "node"),
    pgettext_lazy("parameter", "nodes"),
    pgettext_lazy("parameter", "published"),
    pgettext_lazy("parameter", "run"),
    pgettext_lazy("parameter", "version"),
)
_AGENT, _TOPOLOGY = "agent.", "topology."


def parameter_name(key: str) -> Message:
    """Return what a parameter is called: 'clients'; of a topology 'topology.standbys'; of a role 'agent.primary'."""
    if key.startswith(_AGENT):
        return pgettext_lazy("parameter", "agent.{role}", role=key.removeprefix(_AGENT))
    if key.startswith(_TOPOLOGY):
        name = Message(key.removeprefix(_TOPOLOGY), context="parameter")
        return pgettext_lazy("parameter", "topology.{name}", name=name)
    return Message(key, context="parameter")


def parameter_level(key: str, level: str) -> Message:
    """Return a level with what it is of: 'clients 4'."""
    return Message("{name} {level}", values={"name": parameter_name(key), "level": level})
