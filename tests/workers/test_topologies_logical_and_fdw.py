"""What logical replication and sharding declare, and the pure part of sharing out."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from tests.workers.bundle.test_declared import SPEC
from workers import registry
from workers.data import data_key
from workers.servers.schema import _FOREIGN
from workers.topologies.fdw.parts import is_complete, label, parts
from workers.topologies.fdw.plans import scans


def fields(topology: str, version_num: int, **parameters: Any) -> list[str]:
    declared = registry.kinds().topologies[topology]
    return [problem.field for problem in declared.problems(declared.complete(parameters), version_num)]


@pytest.mark.parametrize(
    ("topology", "version_num", "parameters", "wrong"),
    [
        ("logical", 90600, {}, ["subscribers"]),
        ("logical", 100020, {}, []),
        ("logical", 130000, {"streaming": "on"}, ["streaming"]),
        ("logical", 150000, {"streaming": "parallel"}, ["streaming"]),
        ("logical", 160000, {"streaming": "parallel"}, []),
        ("fdw", 100000, {}, ["shards"]),
        ("fdw", 130000, {"async_capable": True, "batch_size": 10}, ["async_capable", "batch_size"]),
        ("fdw", 140000, {"async_capable": True, "batch_size": 10}, []),
        ("fdw", 150000, {"async_capable": True, "shards": 1}, ["async_capable"]),
    ],
)
def test_what_a_version_cannot_do_is_told_by_its_parameter(
    topology: str, version_num: int, parameters: dict[str, Any], wrong: list[str]
) -> None:
    assert fields(topology, version_num, **parameters) == wrong


@pytest.mark.parametrize(
    ("load", "targets"),
    [
        ("primary", [("primary", True)]),
        ("subscribers", [("subscriber1", True), ("subscriber2", True)]),
        ("both", [("primary", True), ("subscriber1", False), ("subscriber2", False)]),
    ],
)
def test_load_goes_to_the_primary_its_subscribers_or_both(load: str, targets: list[tuple[str, bool]]) -> None:
    declared = registry.kinds().topologies["logical"]
    declared_targets = declared.targets(declared.complete({"subscribers": 2, "load": load}))
    assert [(target.node, target.workload) for target in declared_targets] == targets


def test_ranges_are_of_equal_length_and_open_at_both_ends() -> None:
    partitions = parts("range", 3, key="aid", parent="'public.new'", first=1, last=100)
    assert [part.bounds for part in partitions] == [
        "FROM (MINVALUE) TO (34)",
        "FROM (34) TO (67)",
        "FROM (67) TO (MAXVALUE)",
    ]
    assert [part.condition for part in partitions] == ["aid < 34", "aid >= 34 AND aid < 67", "aid >= 67"]
    assert parts("range", 1, key="aid", parent="", first=1, last=9)[0].condition == "true"


def test_hashes_are_asked_of_the_partitioned_table() -> None:
    [_, second] = parts("hash", 2, key='"Key"', parent="'public.new'", first=0, last=0)
    assert second.bounds == "WITH (MODULUS 2, REMAINDER 1)"
    assert second.condition == "satisfies_hash_partition('public.new'::regclass, 2, 1, \"Key\")"


def test_kept_data_are_whole_while_every_shard_holds_its_part() -> None:
    one, two = {"reuse_a": label(1, 2, "77.5")}, {"reuse_a": label(2, 2, "77.5")}
    assert is_complete("reuse_a", [one, two], "77.5")
    assert is_complete("reuse_a", [one, two, {}], "77.5"), "a third shard has no part in it"
    assert is_complete("reuse_a", [one], "77.5"), "the second is not asked in a trial of one shard"
    assert not is_complete("reuse_a", [one, {}], "77.5")
    assert not is_complete("reuse_a", [one, two], "77.6"), "the primary's was made anew"
    assert not is_complete("reuse_a", [two, one], "77.5")
    assert not is_complete("reuse_b", [one, two], "77.5")


def test_a_plan_tells_its_foreign_scans_and_which_run_at_once() -> None:
    scan = {"Node Type": "Foreign Scan"}
    append = {"Node Type": "Append", "Plans": [scan | {"Async Capable": True}, scan | {"Async Capable": False}]}
    assert scans([{"Plan": {"Node Type": "Aggregate", "Plans": [append]}}]) == (2, 1)
    assert scans([{"Plan": {"Node Type": "Seq Scan"}}]) == (0, 0)


def test_kept_data_that_lie_otherwise_are_other_data() -> None:
    def key(data: str, **parameters: Any) -> str:
        spec = replace(SPEC, data=data, topology="fdw", topology_parameters={"shards": 2} | parameters)
        return data_key(spec)[1]

    assert key("reuse") == key("reuse", fetch_size=1000, async_capable=True)
    assert len({key("reuse"), key("reuse", shards=3), key("reuse", method="range")}) == 3
    assert key("template") == key("template", shards=3), "a template is not touched"


def test_what_pg_dump_writes_for_its_own_psql_and_version_is_left_out() -> None:
    dump = "\\restrict abc\nSET lock_timeout = 0;\nSET transaction_timeout = 0;\nCREATE TABLE t ();\n\\unrestrict abc\n"
    assert _FOREIGN.sub("", dump) == "SET lock_timeout = 0;\nCREATE TABLE t ();\n"
