"""Which programs a trial cannot do without, and how to get them."""

from __future__ import annotations

from dataclasses import replace

import pytest

from results import runs
from results.matrix import TrialSpec
from results.programs import LOOKED_FOR, MissingProgramsError, ProgramNeed, how_to_get, needed_by
from tests import factories
from workers.registry import kinds

POOLER = ProgramNeed("pooler", "db2", "pgpool", "the topology pgpool")


@pytest.fixture
def pooled(db: None) -> TrialSpec:
    for name in ("db1", "db2"):
        factories.agent(name)
    plan = factories.a_plan(installation="16", factors={"clients": [1]})
    [spec] = runs.resolved(plan, kinds())[1]
    roles = {"client": "db1", "primary": "db1", "standby1": "db2", "pooler": "db2"}
    return replace(spec, topology="pgpool", agents=roles, poolers=("pooler",), collectors=("sar", "perf"))


def test_a_trial_needs_the_programs_of_its_roles_and_of_the_collectors_that_it_requires(pooled: TrialSpec) -> None:
    assert list(needed_by(pooled, kinds())) == [POOLER]
    needs = list(needed_by(replace(pooled, required_collectors=("sar", "perf", "latency_log")), kinds()))
    assert {(need.agent, need.program) for need in needs if need.user == "the collector sar"} == {
        ("db1", "sar"),
        ("db1", "sadf"),
        ("db2", "sar"),
        ("db2", "sadf"),
    }
    assert {need.agent for need in needs if need.user == "the collector latency_log"} == {"db1"}
    assert {need.role for need in needs if need.user == "the collector perf"} == {"primary"}


def test_servers_outside_need_no_program(pooled: TrialSpec) -> None:
    elsewhere = replace(pooled, outside=("primary", "standby1"), required_collectors=("perf",))
    assert {need.user for need in needed_by(elsewhere, kinds())} == {"the topology pgpool"}


def test_every_program_that_a_kind_needs_can_be_got_by_name() -> None:
    needed = {name for kind in kinds().collectors.values() for name in kind.needs}
    needed |= {name for kind in kinds().topologies.values() for names in kind.programs.values() for name in names}
    assert {name: how_to_get(name) for name in needed if "apt-get" not in how_to_get(name)} == {}
    assert needed - set(LOOKED_FOR) == {"ps"}, "of which no contact tells"
    assert how_to_get("anything") == "install the package that has anything"


@pytest.mark.parametrize(
    ("looks", "end"),
    [
        (None, "which the topology pgpool needs."),
        ({"db2": ""}, "needs: it was looked for again just now, in the account's PATH, /usr/sbin and /usr/local/sbin."),
        ({"db2": "No answer."}, "as far as its last contact told; looking for it again failed: No answer."),
    ],
)
def test_a_refusal_says_when_it_was_looked_for(looks: dict[str, str] | None, end: str) -> None:
    [problem] = MissingProgramsError([POOLER], looks).problems
    assert problem.field == "agents.pooler"
    assert problem.what.startswith("Agent db2 has no program pgpool, which the topology pgpool needs")
    assert problem.what.endswith(end)
