"""What counts as code that a plan brings, and that every kind says so of its own scripts."""

from __future__ import annotations

from pathlib import Path

import pytest

from results.domain import plan as plans
from results.domain.kinds.parameters import Kind, Parameter
from results.domain.kinds.reaching_settings import HARMLESS_TEXTS, REACHING, reaches
from results.domain.kinds.specs import TopologySpec, WorkloadSpec
from results.domain.plan import code_of
from workers.registry import kinds

KINDS = kinds()
PLAN = {"name": "p", "agents": {"primary": "db1"}, "factors": {"installation": ["16"]}}
PROBES = sorted(Path("tests/data/settings").glob("*-probe.txt"))


def parameters() -> list[tuple[str, Parameter]]:
    specs: list[WorkloadSpec | TopologySpec] = [*KINDS.workloads.values(), *KINDS.topologies.values()]
    return [(spec.name, parameter) for spec in specs for parameter in spec.parameters]


def test_every_script_of_a_kind_is_declared_as_code() -> None:
    scripts = [(kind, parameter) for kind, parameter in parameters() if parameter.kind is Kind.SCRIPT]
    assert len(scripts) >= 6
    assert [(kind, parameter.name) for kind, parameter in scripts if not parameter.code] == []


def test_every_parameter_that_speaks_of_commands_is_declared_as_code() -> None:
    texts = [(kind, one) for kind, one in parameters() if one.kind in (Kind.TEXT, Kind.SCRIPT) and not one.pattern]
    assert texts
    assert [(kind, one.name) for kind, one in texts if not one.code] == []


def test_a_plan_on_defaults_brings_none() -> None:
    for workload in KINDS.workloads:
        for topology in KINDS.topologies:
            mapping = PLAN | {"workload": workload, "topology": topology}
            draft = plans.draft_of(mapping, KINDS)
            brought = [code.field for code in code_of(draft.plan, KINDS)]
            assert brought == (["topology"] if KINDS.topologies[topology].outside else [])


def test_fields_are_named_once_and_as_in_the_toml() -> None:
    levels = [{"label": one, "values": {"custom_script": one, "setting.Archive_Command": one}} for one in ("a", "b")]
    mapping = PLAN | {"factors": {"installation": ["16"], "x": levels}, "initdb": ["--set=Archive_Library=a"]}
    plan = plans.draft_of(mapping | {"settings": {"jit_provider": "x", "work_mem": "4MB"}}, KINDS).plan
    assert [code.field for code in code_of(plan, KINDS)] == ["settings.jit_provider", "factors.x", "initdb"]


def test_blanks_are_no_script() -> None:
    plan = plans.draft_of(PLAN | {"parameters": {"setup_script": " \n"}}, KINDS).plan
    assert code_of(plan, KINDS) == ()


@pytest.mark.parametrize("name", REACHING)
@pytest.mark.parametrize("value", ["", "true", "1", "yes", "/tmp/x"])
def test_settings_that_reach_something_do_so_with_any_value(name: str, value: str) -> None:
    assert reaches(name, value)
    assert reaches(name.upper(), value)


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("plperl.on_init", "1"),
        ("plperl.on_plperlu_init", "system(1)"),
        ("plv8.start_proc", "1"),
        ("some_fork.wal_command", "true"),
        ("new_library", "on"),
        ("pg_cron.host", "10.0.0.1"),
        ("session_authorization", "postgres"),
        ("unheard_of", "reboot"),
    ],
)
def test_what_is_not_known_to_be_harmless_counts_as_code(name: str, value: str) -> None:
    assert reaches(name, value)


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("shared_buffers", "1GB"),
        ("checkpoint_timeout", "30 min"),
        ("random_page_cost", "1.1"),
        ("max_wal_senders", "0x10"),
        ("log_temp_files", "0"),
        ("autovacuum", "off"),
        ("wal_level", "minimal"),
        ("Search_Path", '"$user", public'),
        ("auto_explain.log_analyze", "on"),
        ("pg_stat_statements.max", "5000"),
        ("debug_io_direct", "data,wal"),
    ],
)
def test_numbers_switches_and_known_words_are_none(name: str, value: str) -> None:
    assert reaches(name, value) == ""


@pytest.mark.parametrize("path", PROBES, ids=lambda path: path.stem)
def test_every_setting_of_a_build_is_known(path: Path) -> None:
    """Recorded from servers (tests/data/settings/README.md): texts and words by name, all others by their values."""
    lines = [line.removeprefix("setting ") for line in path.read_text().splitlines() if line.startswith("setting ")]
    known = REACHING.keys() | HARMLESS_TEXTS
    assert len(lines) > 250
    for name, kind, *_ in (line.split("|") for line in lines):
        if kind in ("string", "enum"):
            assert name.lower() in known
        else:
            assert reaches(name, "on" if kind == "bool" else "1") == ""


def test_no_setting_is_both() -> None:
    assert REACHING.keys() & HARMLESS_TEXTS == set()
