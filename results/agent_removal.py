"""Taking agents off the lists and putting them back, and deleting those that nothing was measured on."""

from __future__ import annotations

from django.db import transaction

from results import models
from results.agents import require_nothing_made
from results.domain.errors import StateError
from results.domain.messages import gettext_lazy as _
from results.queries.agents.loss import AgentLoss, agent_loss
from results.runs import audit


@transaction.atomic
def archive_agent(name: str, actor: str) -> None:
    """Take an agent off the lists: no contact, no new trials; what was measured there stays. Nothing happens on the
    machine. Raises NotFound, StateError."""
    loss = _locked(name)
    _refuse(name, _("Agent {agent} cannot be archived.", agent=name), loss.keeps_on_lists)
    if models.Agent.objects.filter(name=name, archived=False).update(archived=True, enabled=False):
        audit(actor, "archive agent", f"agent {name}", **_left(loss))


@transaction.atomic
def restore_agent(name: str, actor: str) -> None:
    """Put an archived agent back on the lists, not enabled: it is given trials once that is set. Raises NotFound."""
    _locked(name)
    if models.Agent.objects.filter(name=name, archived=True).update(archived=False):
        audit(actor, "restore agent", f"agent {name}")


@transaction.atomic
def delete_agent(name: str, actor: str) -> AgentLoss:
    """Delete an agent for which no trial was made, with its facts; nothing happens on the machine. Raises NotFound,
    StateError."""
    loss = _locked(name)
    _refuse(name, _("Agent {agent} cannot be deleted.", agent=name), loss.keeps_it)
    audit(actor, "delete agent", f"agent {name}", **_left(loss))
    models.Agent.objects.get(name=name).delete()
    return loss


def _locked(name: str) -> AgentLoss:
    """Return what hangs on an agent, while no run is created."""
    require_nothing_made()
    models.Agent.objects.select_for_update().filter(name=name).first()
    return agent_loss(name)


def _refuse(name: str, what: str, reason: str) -> None:
    if reason:
        raise StateError(what, where=_("agent {agent}", agent=name), why=reason)


def _left(loss: AgentLoss) -> dict[str, object]:
    return {"trials": loss.trials, "clusters": loss.clusters, "folders": list(loss.folders), "key": loss.key_path}
