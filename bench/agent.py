"""The agent of the benchmarks, which environment variables name, and orders of single trials on it."""

from __future__ import annotations

import os
from dataclasses import replace
from typing import Any

from django.core.management import call_command

from results import agents, models
from results.domain import plan as plans
from results.domain.errors import HostKeyError
from results.domain.matrix import TrialSpec
from results.plan_check import resolve_plan
from workers import registry, tasks
from workers.orders import Order, address_of

NAME = "bench"
PLAN: dict[str, Any] = {
    "name": "bench",
    "installation": "16",
    "data": "reuse",
    "agents": {"primary": NAME},
    "parameters": {"scale": 5, "clients": 4},
    "settings": {"shared_buffers": "256MB", "max_wal_size": "4GB"},
}


def ready() -> models.Agent:
    """Add or update the agent, discover it, and return it."""
    call_command("migrate", verbosity=0)
    home = os.environ["TEITEN_AGENT_HOME"]
    fields = {
        "name": NAME,
        "host": os.environ["TEITEN_AGENT_HOST"],
        "port": int(os.environ["TEITEN_AGENT_PORT"]),
        "user": os.environ["TEITEN_AGENT_USER"],
        "key_path": os.environ["TEITEN_AGENT_KEY"],
        "search": [folder for folder in os.environ["TEITEN_AGENT_SEARCH"].split(":") if "/old" not in folder],
        "data_dir": f"{home}/bench/data",
        "work_dir": f"{home}/bench/work",
    }
    agent = models.Agent.objects.filter(name=NAME).first()
    agent = agents.update_agent(agent, fields, "bench") if agent else agents.create_agent(fields, "bench")
    try:
        tasks.contact_now(agent.pk)
    except HostKeyError as error:
        agent.refresh_from_db()
        agents.accept_host_key(agent, error.fingerprint, "bench")
        tasks.contact_now(agent.pk)
    agent.refresh_from_db()
    return agent


def spec(**changes: Any) -> TrialSpec:
    """Return the trial specification of PLAN with changes; its parameters are merged with those of PLAN."""
    mapping = PLAN | changes | {"parameters": PLAN["parameters"] | changes.get("parameters", {})}
    kinds = registry.kinds()
    return resolve_plan(plans.from_mapping(mapping, kinds), kinds)[1][0]


def order(agent: models.Agent, spec: TrialSpec, number: int) -> Order:
    return Order(f"bench/{number}", 1, replace(spec), {NAME: address_of(agent)}, {NAME: ()}, {})
