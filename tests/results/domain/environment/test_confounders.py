"""What differs between two environments, judged on what real machines and servers said."""

from __future__ import annotations

from collections.abc import Collection
from typing import Any

import pytest

from results.domain.environment.difference import (
    Environment,
    EnvironmentDifference,
    KeyJudgement,
    environment_of,
    merged,
)
from results.domain.environment.difference import judge_environments as judge
from results.domain.environment.layers import LayerKind
from results.domain.environment.rules import RULES, Cause, Rule
from results.domain.environment.values import normal, options
from tests.environments import layers

KERNEL = {"release 6.1": "release 6.8"}


def environment(major: int = 16, **changes: Any) -> Environment:
    return environment_of((node, layer.kind, layer.content) for node, layer in layers(major, **changes))


def against(left: Environment, right: Environment, intended: Collection[str] = ()) -> EnvironmentDifference:
    return judge([left], [right], intended)


def of(difference: EnvironmentDifference, key: str) -> KeyJudgement:
    (only_judgement,) = [judgement for judgement in difference.judgements if judgement.key == key]
    return only_judgement


def keys(difference: EnvironmentDifference, cause: Cause) -> set[str]:
    return {judgement.key for judgement in difference.of(cause)}


def test_a_trial_has_nothing_against_itself() -> None:
    comparison = against(environment(), environment())
    assert (comparison.judgements, comparison.comparable) == ((), True)
    assert comparison.same > 400  # some 340 settings in force, and the machine


def test_versions_on_their_defaults_are_comparable() -> None:
    comparison = against(environment(16), environment(18), ["installation"])
    assert comparison.comparable
    assert keys(comparison, Cause.INTENDED) >= {"version", "version_num"}
    changed = of(comparison, "effective_io_concurrency")
    assert (changed.cause, changed.left, changed.right) == (Cause.DEFAULT, ("1",), ("16",))
    new = of(comparison, "io_method")
    assert (new.cause, new.left, new.right) == (Cause.DEFAULT, (None,), ("worker",))
    assert not changed.warn and not new.warn


def test_checksums_that_18_turns_on_by_itself_are_told_and_withhold_nothing() -> None:
    checksums = of(against(environment(16), environment(18), ["version"]), "data_checksums")
    assert (checksums.cause, checksums.left, checksums.right) == (Cause.DEFAULT, ("off",), ("on",))
    assert checksums.warn and "PostgreSQL 18" in checksums.why


def test_checksums_that_a_plan_turned_on_for_one_side_matter() -> None:
    initdb = {"build": {"initdb": ["--data-checksums"]}}
    left = environment(16, rows={"data_checksums": "on"}, **initdb)
    comparison = against(left, environment(16))
    assert keys(comparison, Cause.CONFOUNDER) == {"data_checksums", "initdb"}
    assert against(left, environment(18, **initdb), ["version"]).comparable
    assert against(left, environment(16), ["initdb"]).comparable
    assert not against(environment(18), environment(16, **initdb), ["version"]).comparable


def test_a_setting_that_one_side_changed_matters_in_any_version() -> None:
    for right in (environment(16), environment(18)):
        comparison = against(environment(16, rows={"shared_buffers": "131072"}), right, ["version"])
        judgement = of(comparison, "shared_buffers")
        assert (judgement.cause, judgement.left, judgement.right) == (Cause.CONFOUNDER, ("1GB",), ("128MB",))
        assert not comparison.comparable


def test_a_setting_that_is_compared_does_not() -> None:
    left, right = environment(rows={"work_mem": "65536"}), environment()
    assert not against(left, right).comparable
    comparison = against(left, right, ["setting.work_mem"])
    assert comparison.comparable
    assert of(comparison, "work_mem").dimension == "setting.work_mem"


def test_a_setting_written_to_what_the_other_has_by_default_is_the_same() -> None:
    # initdb of 11 writes shared_buffers into the file; 16 has the value built in
    assert "shared_buffers" not in {j.key for j in against(environment(11), environment(16), ["version"]).judgements}
    assert against(environment(rows={"work_mem": "4096"}), environment()).judgements == ()


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("64MB", "65536kB"),
        ("1min", "60s"),
        ("60000ms", "1min"),
        ("on", "true"),
        (True, "on"),
        ("0.90", 0.9),
        ("16", 16),
        ("-1", -1),
        (["a", "1GB"], ("a", "1024MB")),
    ],
)
def test_two_ways_to_write_one_value(one: Any, other: Any) -> None:
    assert normal(one) == normal(other)


@pytest.mark.parametrize(
    ("one", "other"),
    [("64MB", "64kB"), ("1min", "1ms"), ("on", "off"), ("8", "8kB"), ("60", "60s"), ("heap", "zheap"), (None, "off")],
)
def test_two_values(one: Any, other: Any) -> None:
    assert normal(one) != normal(other)


def test_blocks_are_a_size() -> None:
    assert of(against(environment(rows={"shared_buffers": "8192"}), environment()), "shared_buffers").left == ("64MB",)


def test_settings_recorded_in_other_units_are_the_same() -> None:
    layer = ("primary", LayerKind.SETTINGS)
    comparison = against({layer: {"shared_buffers": "64MB"}}, {layer: {"shared_buffers": "65536kB"}})
    assert of(comparison, "shared_buffers").cause == Cause.EQUIVALENT
    assert comparison.comparable


def test_what_looks_like_a_number_is_none_outside_of_settings() -> None:
    layer = ("primary", LayerKind.KERNEL)
    assert not against({layer: {"release": "6.1"}}, {layer: {"release": "6.10"}}).comparable


@pytest.mark.parametrize(
    ("facts", "key"),
    [
        (KERNEL, "release"),
        ({"AMD EPYC": "AMD EPYC 9754"}, "cpu.model"),
        ({"24684092 kB": "12684092 kB"}, "memory.total_bytes"),
        ({"options rw,relatime": "options rw,noatime"}, "options"),
        ({"vm.swappiness 60": "vm.swappiness 10"}, "sysctl.vm.swappiness"),
        ({"usable 2": "usable 1"}, "cpu.usable"),
        ({"none [mq-deadline]": "[none] mq-deadline"}, "scheduler"),
    ],
)
def test_another_machine_or_kernel_matters(facts: dict[str, str], key: str) -> None:
    comparison = against(environment(), environment(facts=facts), ["version"])
    assert keys(comparison, Cause.CONFOUNDER) == {key}
    assert of(comparison, key).warn
    assert against(environment(), environment(facts=facts), ["agent.primary"]).comparable


@pytest.mark.parametrize(
    ("facts", "cause"),
    [
        ({"24684092 kB": "24684000 kB"}, Cause.HARMLESS),
        ({"device /dev/vda": "device /dev/vdb"}, Cause.HARMLESS),
        ({"Python 3.11.2": "Python 3.12.1"}, Cause.HARMLESS),
        ({"kernel.perf_event_paranoid 2": "kernel.perf_event_paranoid 1"}, Cause.HARMLESS),
        ({"total_bytes 270553174016": "total_bytes 540553174016"}, Cause.NOTED),
        ({"sysstat version 12.6.1": "sysstat version 12.7.2"}, Cause.NOTED),
    ],
)
def test_what_does_no_harm_withholds_nothing(facts: dict[str, str], cause: Cause) -> None:
    comparison = against(environment(), environment(facts=facts))
    assert {judgement.cause for judgement in comparison.judgements} == {cause}
    assert comparison.comparable


def test_a_program_that_one_side_does_not_have_was_not_used_there() -> None:
    tools = ("primary", LayerKind.TOOL)
    program, newer = {"etcd": "/usr/bin/etcd etcd Version: 3.4"}, {"etcd": "/usr/bin/etcd etcd Version: 3.5"}
    comparison = against({tools: {}}, {tools: program})
    assert (of(comparison, "etcd").cause, comparison.comparable) == (Cause.NOTED, True)
    assert of(against({tools: program}, {tools: newer}), "etcd").cause == Cause.CONFOUNDER
    assert of(against({tools: {}}, {tools: {"x SHA-256": "f00"}}), "x SHA-256").cause == Cause.CONFOUNDER


@pytest.mark.parametrize(
    "key", ["port", "data_directory", "unix_socket_directories", "log_filename", "TimeZone", "external_pid_file"]
)
def test_places_and_log_files_are_harmless_settings(key: str) -> None:
    layer = ("primary", LayerKind.SETTINGS)
    assert of(against({layer: {key: "one"}}, {layer: {key: "other"}}), key).cause == Cause.HARMLESS


def test_builds_that_differ_in_paths_only_are_alike() -> None:
    other = environment(build={"configure": ["CFLAGS=-O2", "--prefix=/usr/lib/postgresql/16", "--mandir=/usr/man"]})
    comparison = against(environment(), other)
    assert of(comparison, "configure").cause == Cause.HARMLESS
    assert comparison.comparable
    assert options(["--with-llvm", "--with-pgport=5433", "--bindir=/x"]) == {"--with-llvm"}


def test_flags_of_the_compiler_matter_unless_builds_are_compared() -> None:
    left, right = environment(), environment(build={"configure": ["CFLAGS=-O3"]})
    assert of(against(left, right, ["clients"]), "configure").cause == Cause.CONFOUNDER
    assert of(against(left, right, ["installation"]), "configure").cause == Cause.INTENDED
    versions = against(left, environment(18, build={"configure": ["CFLAGS=-O3"]}), ["installation"])
    assert (of(versions, "configure").cause, versions.comparable) == (Cause.NOTED, True)


def test_a_debugging_build_spoils_a_comparison_of_versions() -> None:
    slow = environment(18, build={"configure": ["--enable-cassert", "CFLAGS=-O2"]})
    assert of(against(environment(16), slow, ["version"]), "configure").why == (
        "Only one side is a build for debugging (--enable-cassert)."
    )
    # of one version, the build itself is what is compared
    assert against(environment(18), slow, ["installation"]).comparable


def test_assertions_are_seen_where_the_build_hides_its_options() -> None:
    plain = environment(18)
    defaults = ("primary", LayerKind.DEFAULTS)
    slow = {**plain, defaults: {**plain[defaults], "debug_assertions": "on"}}
    assert keys(against(environment(16), slow, ["version"]), Cause.CONFOUNDER) == {"debug_assertions"}


def test_jit_that_came_on_by_default_is_told() -> None:
    jit = of(against(environment(11), environment(16), ["major"]), "jit")
    judged = [j for j in against(environment(11), environment(16), ["major"]).judgements if j.key == "jit"]
    assert len(judged) == 1 and jit.kind == "settings"
    assert (jit.cause, jit.left, jit.right, jit.warn) == (Cause.DEFAULT, ("off",), ("on",), True)


@pytest.mark.parametrize("intended", ["clients", "version", "installation", "run"])
def test_another_pgbench_matters_where_its_own_work_is_measured_whatever_is_compared(intended: str) -> None:
    other = environment(client={"version": "16.14", "bin": "/opt/16.14/bin"})
    within = judge([environment()], [other], [intended], client_overhead=True)
    assert keys(within, Cause.CONFOUNDER) == {"version"}
    assert (
        of(within, "version").warn
        and 'client_programs = "newest" in the plan and run again' in of(within, "version").why
    )
    beside = judge([environment()], [other], [intended], client_overhead=False)
    assert (of(beside, "version").cause, beside.comparable) == (Cause.NOTED, True)


@pytest.mark.parametrize(
    ("one", "other", "cause"),
    [
        ("18.4", "18.1", Cause.NOTED),
        ("9.6.24", "9.6.1", Cause.NOTED),
        ("9.6.24", "9.5.1", Cause.CONFOUNDER),
        ("19beta1", "19.0", Cause.CONFOUNDER),
        ("19beta1", "19beta2", Cause.CONFOUNDER),
    ],
)
def test_a_minor_version_of_the_client_is_told_and_a_major_one_matters(one: str, other: str, cause: Cause) -> None:
    left, right = (environment(client={"version": version}) for version in (one, other))
    assert of(against(left, right, ["version"]), "version").cause == cause


def test_clients_that_vary_alike_on_both_sides_withhold_nothing() -> None:
    sides = [[environment(major, client={"version": client}) for client in ("16.14", "18.4")] for major in (16, 18)]
    client = [one for one in judge(*sides, ["version"]).judgements if one.kind == LayerKind.CLIENT]
    assert [(one.key, one.cause) for one in client] == [("version", Cause.ALIKE)]


def test_a_plan_that_means_each_version_with_its_own_client_has_a_verdict() -> None:
    own = {"own": True, "bin": "/opt"}
    left = environment(16, client={"version": "16.14", **own})
    comparison = against(left, environment(18, client=own), ["installation"])
    [client] = [one for one in comparison.judgements if one.kind == LayerKind.CLIENT]
    assert (client.cause, client.dimension, comparison.comparable) == (Cause.INTENDED, "client_programs", True)
    assert not against(left, environment(18), ["installation"]).comparable, "only one side means it"
    assert not against(left, environment(16, client=own), ["clients"]).comparable, "no versions are compared"


def test_the_data_matter_unless_they_are_varied() -> None:
    other = environment(data={"scale": 100})
    assert keys(against(environment(), other, ["clients"]), Cause.CONFOUNDER) == {"scale"}
    assert against(environment(), other, ["scale"]).comparable
    assert against(environment(), other, ["workload"]).comparable


def test_client_programs_that_are_compared_are_meant_to_differ() -> None:
    other = environment(client={"version": "16.14", "bin": "/opt/16.14/bin"})
    assert of(against(environment(), other, ["client_programs"]), "version").cause == Cause.INTENDED


def test_numbers_of_clients_bring_their_threads() -> None:
    other = environment(client={"threads_rule": 4})
    assert against(environment(), other, ["clients"]).comparable
    assert not against(environment(), other, ["version"]).comparable


def test_what_varies_within_a_side_is_found() -> None:
    before, after = environment(), environment(facts=KERNEL)
    verdicts = judge([before, after], [environment(18)], ["version"])
    kernel = of(verdicts, "release")
    assert kernel.matters and kernel.varies
    assert [text[:3] for text in kernel.left] == ["6.1", "6.8"] and len(kernel.right) == 1


def test_what_varies_on_both_sides_alike_is_no_confounder() -> None:
    sides = [[environment(major), environment(major, facts=KERNEL)] for major in (16, 18)]
    verdicts = judge(*sides, ["version"])
    assert of(verdicts, "release").cause == Cause.ALIKE
    assert verdicts.comparable
    assert judge(sides[0], sides[1][::-1], ["version"]).comparable


def test_a_standby_is_meant_where_topologies_are_compared() -> None:
    standby = {("standby", kind): content for (node, kind), content in environment().items() if node == "primary"}
    more = {**environment(topology={"name": "streaming"}), **standby}
    assert against(environment(), more, ["topology"]).comparable
    comparison = against(environment(), more, ["version"])
    assert not comparison.comparable
    assert {j.node for j in comparison.of(Cause.UNRECORDED)} == {"standby"}


def test_defaults_that_an_older_trial_did_not_record_are_no_difference() -> None:
    older = {place: content for place, content in environment(16).items() if place[1] != LayerKind.DEFAULTS}
    comparison = against(older, environment(16))
    assert [(j.kind, j.cause) for j in comparison.judgements] == [(LayerKind.DEFAULTS, Cause.UNRECORDED)]
    assert comparison.comparable


def test_nothing_known_of_one_side_is_told_apart_from_nothing_known_of_both() -> None:
    comparison = against({}, environment())
    assert (comparison.comparable, comparison.recorded) == (False, (False, True))
    comparison = against({}, {})
    assert (comparison.comparable, comparison.recorded, comparison.judgements) == (True, (False, False), ())


def without(kind: str, of: Environment) -> Environment:
    return {place: content for place, content in of.items() if place[1] != kind}


def test_a_trial_without_a_layer_does_not_hide_what_the_others_say_of_it() -> None:
    some = without(LayerKind.KERNEL, environment())
    verdicts = judge([environment(), some], [environment(facts=KERNEL)])
    assert keys(verdicts, Cause.CONFOUNDER) == {"release"}
    (line,) = {j.why for j in verdicts.of(Cause.UNRECORDED) if j.kind == LayerKind.KERNEL}
    assert line.startswith("Some trials have no such layer")
    assert judge([environment(), some], [environment()]).comparable
    none = judge([some], [environment(facts=KERNEL)])
    assert none.comparable and {j.why[:8] for j in none.of(Cause.UNRECORDED)} == {"One side"}


def test_a_trial_of_which_nothing_is_known_beside_others_spoils_the_comparison() -> None:
    verdicts = judge([environment(), {}], [environment()])
    assert (verdicts.comparable, verdicts.recorded) == (False, (True, True))
    (only,) = verdicts.judgements
    assert (only.left, only.right) == (("recorded", "not recorded"), ("recorded",))
    assert "some trials" in only.why and verdicts.same > 400


def test_equal_keys_are_listed_where_they_are_asked_for() -> None:
    plain = against(environment(16), environment(18), ["version"])
    verdicts = judge([environment(16)], [environment(18)], ["version"], equal=True)
    assert (verdicts.same, len(verdicts.of(Cause.SAME))) == (plain.same, plain.same)
    assert [j for j in verdicts.judgements if j.cause != Cause.SAME] == list(plain.judgements)


def test_what_was_once_compared_is_the_same_again() -> None:
    known: dict[Any, Any] = {}
    one, other, third = environment(16), environment(18), environment(18, facts=KERNEL)
    for right in (other, third, other):
        for intended in (["version"], ["clients"]):
            assert judge([one], [right], intended, known) == judge([one], [right], intended)


def test_cells_together_have_the_judgement_that_matters_most() -> None:
    quiet = against(environment(16), environment(18), ["version"])
    kernel = against(environment(16), environment(18, facts=KERNEL), ["version"])
    both = merged([quiet, kernel])
    assert of(both, "release").matters and not both.comparable
    assert of(both, "effective_io_concurrency") == of(quiet, "effective_io_concurrency")
    assert both.same == kernel.same
    assert merged([quiet]) is quiet


def test_confounders_stand_first() -> None:
    comparison = against(environment(16), environment(18, facts=KERNEL), ["version"])
    causes = [judgement.cause for judgement in comparison.judgements]
    assert causes == sorted(causes, key=list(Cause).index)
    assert causes[0] == Cause.CONFOUNDER


@pytest.mark.parametrize("rule", RULES, ids=lambda rule: f"{rule.kind}-{rule.keys[0]}")
def test_every_rule_gives_its_reason_and_withholds_nothing(rule: Rule) -> None:
    assert rule.why.endswith(".")
    assert rule.cause in (Cause.HARMLESS, Cause.NOTED)


def test_jit_that_only_one_build_can_withholds_the_verdict_of_what_would_use_it() -> None:
    can, cannot = ({"build": {"jit": jit}} for jit in (True, False))
    of_ssb = {"data": {"workload": "ssb"}}
    queries = against(environment(11, **cannot, **of_ssb), environment(16, **can, **of_ssb), ["version"])
    assert ("build", "jit") in {(one.kind, one.key) for one in queries.of(Cause.CONFOUNDER)}
    transactions = against(environment(11, **cannot), environment(16, **can), ["version"])
    assert transactions.comparable
    costs = {"jit_above_cost": "1000"}
    assert not against(
        environment(11, rows=costs, **cannot), environment(16, rows=costs, **can), ["version"]
    ).comparable
    off = {"jit": "off"}
    without = against(
        environment(11, rows=off, **cannot, **of_ssb), environment(16, rows=off, **can, **of_ssb), ["version"]
    )
    assert without.comparable


def compressing(version: str, method: str, **changes: Any) -> Environment:
    """On its defaults, as a release with this default for long values says it."""
    build = {"version": version, "version_num": int(float(version) * 10000)}
    made = environment(18, build=build, **changes)
    defaults = ("primary", LayerKind.DEFAULTS)
    return {**made, defaults: {**made[defaults], "default_toast_compression": method}}


@pytest.mark.parametrize("other", ["19.0", "20.0"])
@pytest.mark.parametrize("intended", ["installation", "clients"])
def test_a_default_compression_that_only_one_build_can_have_withholds_the_verdict(other: str, intended: str) -> None:
    comparison = against(compressing("19.0", "lz4"), compressing(other, "pglz"), [intended])
    judgement = of(comparison, "default_toast_compression")
    assert (judgement.cause, judgement.warn) == (Cause.CONFOUNDER, True)
    assert "build has lz4" in judgement.why
    both = against(compressing("19.0", "lz4"), compressing(other, "lz4"), ["installation"])
    assert "default_toast_compression" not in keys(both, Cause.CONFOUNDER)


def test_a_default_compression_that_a_version_changed_is_a_part_of_the_version_and_told() -> None:
    comparison = against(compressing("18.4", "pglz"), compressing("19.0", "lz4"), ["version"])
    judgement = of(comparison, "default_toast_compression")
    assert (judgement.cause, judgement.warn, comparison.comparable) == (Cause.DEFAULT, True, True)
    assert "by lz4 from PostgreSQL 19" in judgement.why


def test_wal_compression_that_is_on_is_pglz_and_another_method_matters() -> None:
    """Up to 14 a switch, then shown as pglz where it was set to on."""
    older, newer = environment(11, rows={"wal_compression": "on"}), environment(18, rows={"wal_compression": "pglz"})
    comparison = against(older, newer, ["version"])
    assert (of(comparison, "wal_compression").cause, comparison.comparable) == (Cause.EQUIVALENT, True)
    lz4 = against(environment(18, rows={"wal_compression": "lz4"}), newer)
    assert keys(lz4, Cause.CONFOUNDER) == {"wal_compression"}
    uring = against(environment(18, rows={"io_method": "io_uring"}), environment(18))
    assert keys(uring, Cause.CONFOUNDER) == {"io_method"}
