"""A against A: a plan of which every configuration occurs twice, with nothing different between the two. Pure.

What its two halves differ by is noise: of the machine, the workload and the order, and of nothing else."""

from __future__ import annotations

from dataclasses import replace

from results.domain.errors import PlanError, Problem
from results.domain.messages import gettext_lazy as _
from results.domain.plan import Factor, Level, Plan

TWIN = "twin"
BLOCKS = 5  # with fewer a spread is hardly known


def twinned(plan: Plan) -> Plan:
    """The A/A plan of a plan: one more factor, whose two levels set nothing. Raises PlanError for a plan that has twins
    already."""
    if any(factor.name == TWIN for factor in plan.factors):
        what = _("Every configuration occurs twice already.")
        raise PlanError([Problem(f"factors.{TWIN}", what, _("Run it as it is."))])
    return replace(
        plan,
        name=f"A/A of {plan.name}"[:120],
        description=_(
            "Every configuration twice, with nothing different between the two: what their numbers differ by is noise."
        ),
        replicates=max(plan.replicates, BLOCKS),
        factors=(*plan.factors, Factor(TWIN, (Level("A", {}), Level("A again", {})))),
    )
