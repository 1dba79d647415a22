"""What the rows of an answer rest on, each fact once beside them."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from rest_framework import serializers
from rest_framework.request import Request

from results.queries.environment.facts import TrialFacts, facts_of
from webapp.api.common import Links, Pages
from webapp.api.values import ValueSerializer


class TrialFactsSerializer(ValueSerializer):
    """A trial that numbers rest on.

    - `version`: of its servers, exact
    - `agents`: role → name
    - `measured_from`, `measured_to`: the measured window
    - `environment`: of `environments`; empty where nothing is recorded
    - `bundle_sha256`: of its raw output; empty where there is none
    """

    value = TrialFacts
    agents = serializers.DictField(child=serializers.CharField(), read_only=True)
    links = Links(page=("trials:detail", "id"), bundle=("api:bundle", "id"))


def shown_facts(request: Request, trial_ids: Iterable[int]) -> dict[str, Any]:
    """Return what these trials rest on, as `_DESCRIBED` says."""
    facts = facts_of(trial_ids)
    context = {"request": request}
    trials = TrialFactsSerializer(facts.trials.values(), many=True, context=context).data
    return {
        "runs": {str(id_): run for id_, run in facts.runs.items()},
        "trials": {str(trial["id"]): trial for trial in trials},
        "environments": facts.environments,
    }


_DESCRIBED = {
    "type": "object",
    "description": "What the rows rest on, each fact once.",
    "properties": {
        "runs": {
            "type": "object",
            "description": "By id: name, hash of the plan, seed, dates, standing, source (who measured it), program.",
        },
        "trials": {
            "type": "object",
            "description": "By id: exact version, agents, dates, hash of the environment, raw output.",
        },
        "environments": {
            "type": "object",
            "description": "By hash, role and layer; `settings` are those that differ from the defaults.",
        },
    },
}


class WithFacts:
    """Mixin of paginations: describes in the schema that the page has `facts` besides."""

    def get_paginated_response_schema(self, schema: dict[str, Any]) -> dict[str, Any]:
        described: dict[str, Any] = super().get_paginated_response_schema(schema)  # type: ignore[misc]
        described["properties"]["facts"] = _DESCRIBED
        return described


def with_facts(pages: type[Pages]) -> type[Pages]:
    return type("PagesWithFacts", (WithFacts, pages), {"__doc__": pages.__doc__})
