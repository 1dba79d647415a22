"""Which programs a trial cannot do without, and how to get them."""

from __future__ import annotations

from dataclasses import replace

import pytest

from results.domain.kinds.programs import Program
from results.domain.matrix import TrialSpec
from results.domain.matrix.program_needs import (
    MissingProgramsError,
    ProgramNeed,
    looked_for,
    needed_by,
    programs_of_kinds,
    used_by,
)
from results.plan_check import resolve_plan
from tests import factories
from workers.registry import kinds

PGPOOL = next(program for program in programs_of_kinds(kinds()) if program.name == "pgpool")
POOLER = ProgramNeed("pooler", "db2", PGPOOL, "the topology pgpool")
CLIENT = "the workload pgbench"


@pytest.fixture
def pooled(db: None) -> TrialSpec:
    for name in ("db1", "db2"):
        factories.agent(name)
    plan = factories.a_plan(installation="16", factors={"clients": [1]})
    [spec] = resolve_plan(plan, kinds())[1]
    roles = {"client": "db1", "primary": "db1", "standby1": "db2", "pooler": "db2"}
    return replace(spec, topology="pgpool", agents=roles, poolers=("pooler",), collectors=("sar", "perf"))


def test_a_trial_needs_the_programs_of_its_roles_and_of_the_collectors_that_it_requires(pooled: TrialSpec) -> None:
    assert [need for need in needed_by(pooled, kinds()) if need.user != CLIENT] == [POOLER]
    needs = list(needed_by(replace(pooled, required_collectors=("sar", "perf", "latency_log")), kinds()))
    assert {(need.agent, need.program.name) for need in needs if need.user == "the collector sar"} == {
        ("db1", "sar"),
        ("db1", "sadf"),
        ("db2", "sar"),
        ("db2", "sadf"),
    }
    assert {need.agent for need in needs if need.user == "the collector latency_log"} == {"db1"}
    assert {need.role for need in needs if need.user == "the collector perf"} == {"primary"}


def test_what_a_trial_uses_are_the_programs_of_its_kinds_and_collectors_on_the_agents_where_they_work(
    pooled: TrialSpec,
) -> None:
    used = used_by(pooled, kinds())
    own = {"tar", "find", "flock"}
    assert used["db1"] >= own | {"sar", "sadf", "perf", "pgbench"} and "pgpool" not in used["db1"]
    assert used["db2"] >= own | {"sar", "sadf", "pgpool"} and used["db2"].isdisjoint({"perf", "pgbench"})
    alone = used_by(replace(pooled, topology="single", agents={"client": "db1", "primary": "db1"}, poolers=()), kinds())
    assert "pgpool" not in alone["db1"] and "db2" not in alone


def test_servers_outside_need_no_program(pooled: TrialSpec) -> None:
    elsewhere = replace(pooled, outside=("primary", "standby1"), required_collectors=("perf",))
    assert {need.user for need in needed_by(elsewhere, kinds())} == {"the topology pgpool", CLIENT}


def test_pgbench_is_needed_where_the_clients_psql_is(pooled: TrialSpec) -> None:
    two = replace(pooled, agents={**pooled.agents, "client2": "db2"}, client_bins={"client2": "/opt/16/bin"})
    words = {need.role: need.word for need in needed_by(pooled, kinds()) if need.user == CLIENT}
    assert words == {"client": f"{pooled.client_bin}/pgbench"}
    of_two = [(need.agent, need.word) for need in needed_by(two, kinds()) if need.user == CLIENT]
    assert of_two == [("db1", f"{pooled.client_bin}/pgbench"), ("db2", "/opt/16/bin/pgbench")]


def test_every_program_that_a_kind_needs_can_be_got_by_name() -> None:
    needed = programs_of_kinds(kinds())
    assert {program.name: program.how_to_get for program in needed if "apt-get" not in program.how_to_get} == {}
    assert Program("anything").how_to_get == "install the package that has anything"


def test_a_contact_looks_for_what_teiten_and_its_kinds_need() -> None:
    names = [program.name for program in looked_for(kinds())]
    assert sorted(names) == sorted(set(names))
    of_kinds = {"sar", "sadf", "perf", "ps", "pgbench", "pgpool"}
    assert set(names) == {"awk", "find", "flock", "setsid", "tar", "timeout"} | of_kinds


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
