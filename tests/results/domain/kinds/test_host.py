"""Host factors as values: what plans say of them, what operators define, and whether the two fit."""

from __future__ import annotations

import re
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from results.domain import plan as plans
from results.domain.environment.difference import judge_environments
from results.domain.errors import DefinitionError, PlanError
from results.domain.kinds import host_factors
from results.domain.kinds.host_factors import (
    HostFactor,
    HostLevel,
    KnownHost,
    cpu_count,
    cpu_set,
    factor_of,
    problems,
    roles_of,
)
from results.domain.matrix import InstallationRef, TrialSpec, dimensions, expand, resolve
from results.domain.plan.recipes import read_all
from workers import registry

KINDS = registry.kinds()
ROOT = Path(__file__).parents[4]
ZFS = """
[zfs_recordsize]
help = "Size of ZFS's records."
show = "zfs get -H -o value recordsize tank/pg"
revert = 'sudo -n zfs set recordsize="$1" tank/pg'
keeps_data_apart = true
[zfs_recordsize.levels.8K]
apply = "sudo -n zfs set recordsize=8K tank/pg"
check = "zfs get -H -o value recordsize tank/pg"
expected = "8K"
"""
SMALL = 'name = "small"\ninstallation = "16"\n[agents]\nprimary = "db"\n'
AGENTS = {"client": "load", "primary": "db", "standby": "db2"}


def plan(text: str) -> plans.Plan:
    return plans.read(SMALL + text, KINDS)


def wrong(text: str) -> dict[str, str]:
    with pytest.raises(PlanError) as refused:
        plan(text)
    return {problem.field: problem.what for problem in refused.value.problems}


def factor(**changes: Any) -> HostFactor:
    levels = (HostLevel("8K", "set 8", "get", "8K"), HostLevel("16K", "set 16", "get", "16K"))
    return replace(HostFactor("zfs_recordsize", "get", "set", levels), **changes)


def test_levels_of_host_factors_are_fixed_and_varied_as_settings_are() -> None:
    read = plan('[host]\ncpus = "0-3,8"\nwal = "ssd"\n[factors]\n"host.zfs_recordsize" = ["8K", "128K"]\n')
    assert read.host == {"cpus": "0-3,8", "wal": "ssd"}
    assert plans.read(plans.to_toml(read), KINDS) == read
    trials = resolve(read, expand(read), {"db": [InstallationRef("16", "/pg", "/pg", "16.9", 160009)]}, KINDS)
    assert [spec.host["zfs_recordsize"] for spec in trials] == ["8K", "128K"]
    assert {name: value for name, value in dimensions(trials[0]).items() if name.startswith("host.")} == {
        "host.cpus": "0-3,8",
        "host.wal": "ssd",
        "host.zfs_recordsize": "8K",
    }
    assert TrialSpec.from_json(trials[0].to_json()) == trials[0]


def test_a_trial_recorded_before_there_were_host_factors_is_read() -> None:
    read = plan("")
    [spec] = resolve(read, expand(read), {"db": [InstallationRef("16", "/pg", "/pg", "16.9", 160009)]}, KINDS)
    old = spec.to_json()
    del old["host"]
    assert TrialSpec.from_json(old).host == {}


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("cpus", '"primary=0 primary=1"'),
        ("cpus", '"primary=x"'),
        ("cpus", '"primary=3-1"'),
        ("cpus", '"primary="'),
        ("cpus", '"primary=0 1"'),
        ("cpus", '"first"'),
        ("cpus", '"0 cpus"'),
        ("cpus", '"0;1"'),
        ("x", "true"),
        ("x", "1.5"),
        ("x", '"$(id)"'),
        ("x", '""'),
        ("x", '"a\\nb"'),
        ("X", '"a"'),
        ("a-b", '"a"'),
    ],
)
def test_what_is_no_level_is_refused_wherever_it_stands(name: str, value: str) -> None:
    assert set(wrong(f'[host]\n"{name}" = {value}\n')) == {f"host.{name}"}
    assert set(wrong(f'[factors]\n"host.{name}" = [{value}]\n')) == {f"factors.host.{name}"}


def test_processors_are_read_as_the_kernel_writes_them() -> None:
    assert cpu_set("0-2,8\n") == {0, 1, 2, 8}
    assert (cpu_count("1 cpu"), cpu_count("40 cpus"), cpu_count("40")) == (1, 40, None)


def test_a_definition_survives_its_toml() -> None:
    [factor] = host_factors.read(ZFS)
    assert (factor.level("8K"), factor.level("9K")) == (factor.levels[0], None)
    assert factor.keeps_data_apart and not factor.needs_stopped_servers
    assert host_factors.read(host_factors.to_toml([factor])) == (factor,)
    assert factor_of("zfs_recordsize", factor.to_mapping()) == factor


@pytest.mark.parametrize(
    ("old", "new", "field"),
    [
        ("show =", "shown =", "zfs_recordsize.show"),
        ("revert =", "help2 =", "zfs_recordsize.levels.8K.revert"),
        ("apply = ", "aply = ", "zfs_recordsize.levels.8K.apply"),
        ('check = "zfs', 'check = "" #', "zfs_recordsize.levels.8K.check"),
        ("levels.8K", 'levels."$(id)"', "zfs_recordsize.levels.$(id)"),
        ("keeps_data_apart = true", "keeps_data_apart = 1", "zfs_recordsize.keeps_data_apart"),
        ("keeps_data_apart = true", "roles = 'primary'", "zfs_recordsize.roles"),
        ("zfs_recordsize", "cpus", "cpus.name"),
        ("zfs_recordsize", "Big", "Big.name"),
        ("[zfs_recordsize]", "[zfs_recordsize", "toml"),
        (ZFS, "", "toml"),
        (ZFS, "zfs = 1", "zfs"),
    ],
)
def test_a_wrong_definition_names_its_field(old: str, new: str, field: str) -> None:
    assert old in ZFS
    with pytest.raises(DefinitionError) as refused:
        host_factors.read(ZFS.replace(old, new))
    assert field in {problem.field for problem in refused.value.problems}


def test_a_factor_is_set_on_every_servers_machine_unless_its_definition_says_otherwise() -> None:
    assert roles_of("cpus", "0", AGENTS, {}) == ("primary", "standby")
    known = {"db": KnownHost({"zfs_recordsize": factor(roles=("primary",))})}
    assert roles_of("zfs_recordsize", "8K", AGENTS, known) == ("primary",)
    assert list(problems({"zfs_recordsize": "8K"}, AGENTS, known)) == []


def test_processors_of_a_role_are_those_of_its_nodes_unless_one_has_its_own() -> None:
    level, agents = (
        "client=0-3 standby=8 standby2=9",
        dict.fromkeys(("client", "primary", "standby1", "standby2"), "db"),
    )
    assert roles_of("cpus", level, agents, {}) == ("client", "standby1", "standby2")
    assert [host_factors.cpus_of(level, node) for node in agents] == ["0-3", "", "8", "9"]
    assert list(problems({"cpus": level}, agents, {"db": KnownHost(cores=4)})) == []
    [problem] = problems({"cpus": "primary=0"}, agents, {}, outside=("primary",))
    assert problem.field == "host.cpus" and "roles that this topology does not have" in problem.what


@pytest.mark.parametrize(
    ("name", "level", "message"),
    [
        ("zfs_recordsize", "8K", "Agent db2 has no host factor 'zfs_recordsize'."),
        ("zfs_recordsize", "32K", "Host factor 'zfs_recordsize' of agent db has no level '32K'."),
        ("wal", "ssd", "Agent db2 has no storage place 'ssd'."),
        ("cpus", "3 cpus", "Agent db has 2 processors, not 3."),
        ("cpus", "client=0 primary=0-2", "Agent db has 2 processors, not 3."),
        ("cpus", "primary=0 pooler=1", "It names processors for 'pooler', a role that this topology does not have."),
        ("client_nic", "x", "Host factor 'client_nic' is for roles that this topology does not have."),
    ],
)
def test_every_agent_of_the_roles_must_know_factor_and_level(name: str, level: str, message: str) -> None:
    known = {
        "db": KnownHost(
            {"zfs_recordsize": factor(), "client_nic": factor(name="client_nic", roles=("pooler",))},
            {"ssd": "/mnt/ssd"},
            cores=2,
        )
    }
    field_of_problem = {problem.what: problem.field for problem in problems({name: level}, AGENTS, known)}
    assert field_of_problem.get(message) == f"host.{name}"


def test_what_a_plan_set_on_a_machine_is_no_confounder_where_it_is_compared() -> None:
    def ran(**content: Any) -> list[dict[tuple[str, str], dict[str, Any]]]:
        layers = {("primary", "host"): content} if content else {}
        return [{("primary", "kernel"): {"release": "6.1"}, **layers}]

    one, other = ran(cpus="0", zfs="8K"), ran(cpus="0-1", zfs="8K")
    assert judge_environments(one, other, ["host.cpus"]).comparable
    assert not judge_environments(one, other, ["host.zfs"]).comparable
    assert not judge_environments(one, other, []).comparable
    assert judge_environments(one, ran(), ["host.cpus"]).comparable
    assert not judge_environments(one, ran(), ["version"]).comparable


GUIDE = (ROOT / "docs" / "host-factors.md").read_text()


def definitions() -> list[HostFactor]:
    """Every factor that the guide defines."""
    blocks = re.findall(r"```toml\n(.*?)```", GUIDE, re.DOTALL)
    return [factor for block in blocks if "\nshow = " in block for factor in host_factors.read(block)]


def test_every_definition_of_the_guide_is_one() -> None:
    names = [factor.name for factor in definitions()]
    assert names == ["zfs_recordsize", "zfs_primarycache", "hugepages", "smt", "swappiness", "network", "network"]


def test_the_matrix_of_zfs_runs_where_the_guides_factors_are_and_is_refused_elsewhere() -> None:
    [recipe] = [plan for plan in read_all(ROOT / "plans", KINDS).plans if plan.slug == "zfs-arc-matrix"]
    plan = plans.from_mapping(recipe.plan(agents={"primary": "db"}, installations=["16"]), KINDS)
    specs = resolve(plan, expand(plan), {"db": [InstallationRef("16", "/pg", "/pg", "16.9", 160009)]}, KINDS)
    assert len(specs) == 12
    known = {"db": KnownHost({factor.name: factor for factor in definitions()})}
    assert [p for spec in specs for p in problems(spec.host, spec.agents, known)] == []
    refused = {p.what for spec in specs for p in problems(spec.host, spec.agents, {"db": KnownHost()})}
    assert refused == {
        "Agent db has no host factor 'zfs_recordsize'.",
        "Agent db has no host factor 'zfs_primarycache'.",
    }


def test_nodes_that_are_no_server_of_teitens_are_set_only_where_they_are_named() -> None:
    agents = {"client": "load", "primary": "db", "pooler": "pool"}
    assert roles_of("cpus", "0", agents, {}, poolers=("pooler",)) == ("primary",)
    named = {"pool": KnownHost(factors={"zfs_recordsize": factor(roles=("pooler",))})}
    assert roles_of("zfs_recordsize", "8K", agents, named, poolers=("pooler",)) == ("pooler",)
    outside = {"client": "load", "primary": "load"}
    [problem] = problems({"cpus": "1 cpus"}, outside, {"load": KnownHost(cores=4)}, outside=("primary",))
    assert problem.what == "Host factor 'cpus' is for roles that this topology does not have."


def test_copies_of_a_server_share_no_tablespace() -> None:
    known = {agent: KnownHost(places={"ssd": "/ssd"}) for agent in ("db", "db2")}
    [problem] = problems({"tablespace": "ssd"}, AGENTS, known)
    assert problem.field == "host.tablespace"
    assert list(problems({"wal": "ssd"}, AGENTS, known)) == []


@pytest.mark.parametrize(("value", "accepted"), [("0-3,8", True), ("2", True), ("5-3", False), ("4 cpus", True)])
def test_a_list_of_processors_has_processors(value: str, accepted: bool) -> None:
    assert (host_factors.level_text("cpus", value)[1] == "") == accepted


def test_more_processors_than_the_agent_has_are_refused_also_as_a_list() -> None:
    known = {"db": KnownHost(cores=2)}
    assert list(problems({"cpus": "0-1"}, {"client": "db", "primary": "db"}, known)) == []
    [problem] = problems({"cpus": "0-3"}, {"client": "db", "primary": "db"}, known)
    assert problem.what == "Agent db has 2 processors, not 4."
