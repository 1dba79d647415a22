"""What a run's files say, and when they say that it failed."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from results.domain.errors import ParseError, VerifyError
from results.domain.kinds.parameters import Scalar
from results.domain.kinds.specs import Reading
from results.domain.measurement.parsed_trial import Part
from workers.workloads import tpcc
from workers.workloads.tpcc.execute import CONDITIONS_SQL
from workers.workloads.tpcc.loading import phases
from workers.workloads.tpcc.parse import parse
from workers.workloads.tpcc.spec import MIX, SPEC
from workers.workloads.tpcc.versions import check_version

HOLD = "".join(json.dumps({"condition": n, "compared": 10, "violated": 0, "first": []}) + "\n" for n in (1, 2, 3, 4))
BEFORE = {"orders": 600, "rolled_back": 3, "deliveries_skipped": 0}
FINISHED = {"new-order": 450, "payment": 430, "order-status": 40, "delivery": 40, "stock-level": 40}


def report(finished: dict[str, int], total: int) -> str:
    lines = [
        "transaction type: multiple scripts",
        f"number of transactions actually processed: {total}",
        "number of failed transactions: 0 (0.000%)",
        "latency average = 2.000 ms",
        "initial connection time = 4.000 ms",
        f"tps = {total / 2:.6f} (without initial connection time)",
    ]
    for number, (name, count) in enumerate(finished.items(), 1):
        lines += [
            f"SQL script {number}: /jobs/1/{number}-{name}.sql",
            f" - weight: {MIX[name]} (targets {MIX[name]}.0% of total)",
            f" - {count} transactions (1.0% of total, tps = {count / 2:.6f})",
        ]
    return "\n".join(lines) + "\n"


def parsed(total: int = 1000, orders: int = 445, rolled_back: int = 5, **files: str) -> Part:
    after = {"orders": 600 + orders, "rolled_back": 3 + rolled_back, "deliveries_skipped": 7}
    given = {
        "stdout": report(FINISHED, total),
        "stderr": "",
        "exit": "0\n",
        "counts.json": json.dumps({"before": BEFORE, "after": after}),
        "conditions": HOLD,
        **files,
    }
    return parse(Reading("client", given, {}, (0.0, 2.0)))


def values(part: Part) -> dict[tuple[str, str], float]:
    return {(m.metric, m.label): m.value for m in part.measurements}


def test_a_pgbench_that_does_not_tell_failures_leaves_a_gap() -> None:
    old = report(FINISHED, 1000).replace("number of failed transactions: 0 (0.000%)\n", "")
    [gap] = parsed(stdout=old).gaps
    assert "pgbench 15" in gap.reason
    assert parsed().gaps == ()


def test_nopm_counts_what_was_committed_and_tpm_everything() -> None:
    part = parsed()
    assert part.failure == ""
    assert values(part)["nopm", ""] == pytest.approx(445 / 2 * 60)
    assert values(part)["tpm", ""] == pytest.approx(1000 / 2 * 60)
    assert values(part)["tpm", "payment"] == pytest.approx(430 / 2 * 60)
    assert values(part)["new_orders", ""] == 445
    assert values(part)["rolled_back", ""] == 5
    assert values(part)["deliveries_skipped", ""] == 7


def test_a_count_that_pgbench_lost_between_its_threads_is_allowed_for() -> None:
    assert parsed(total=1003, orders=448).failure == ""
    assert "finished 450 New-Orders, but 449 are in the data" in parsed(total=1003, orders=449).failure


@pytest.mark.parametrize("orders", [444, 446])
def test_a_count_that_pgbench_cannot_have_lost_fails_the_trial(orders: int) -> None:
    part = parsed(orders=orders)
    assert "another session wrote" in part.failure
    assert ("nopm", "") not in values(part)
    assert values(part)["tps", ""] == 500


def test_a_violation_is_told_with_place_and_figures() -> None:
    broken = {
        "condition": 1,
        "compared": 2,
        "violated": 5,
        "first": [
            {
                "warehouse": warehouse,
                "district": None,
                "one_name": "W_YTD",
                "one": "300000.00",
                "other_name": "the sum of D_YTD",
                "other": other,
            }
            for warehouse, other in ((1, "300010.50"), (2, None), (3, "1"), (4, "2"))
        ],
    }
    part = parsed(conditions=json.dumps(broken) + "\n" + HOLD.split("\n", 1)[1])
    assert part.failure == (
        "Consistency condition 1 is violated: warehouse 1: W_YTD is 300000.00, the sum of D_YTD is 300010.50; "
        "warehouse 2: W_YTD is 300000.00, the sum of D_YTD is missing; "
        "warehouse 3: W_YTD is 300000.00, the sum of D_YTD is 1; 5 differ in all."
    )
    assert ("nopm", "") not in values(part)


def test_nothing_to_compare_is_no_consistency() -> None:
    assert (
        "there are no rows to compare" in parsed(conditions=HOLD.replace('"compared": 10', '"compared": 0', 1)).failure
    )
    third = HOLD.splitlines(keepends=True)
    third[2] = third[2].replace('"compared": 10', '"compared": 0')
    assert parsed(conditions="".join(third)).failure == ""


@pytest.mark.parametrize("text", ["", HOLD[:-20], HOLD.split("\n", 1)[1], "ERROR: out of memory\n", HOLD + HOLD])
def test_answers_that_are_not_whole_are_an_error(text: str) -> None:
    with pytest.raises(ParseError):
        parsed(conditions=text)


@pytest.mark.parametrize("text", ["", "{}", '{"before": {}, "after": {}}'])
def test_counts_that_are_not_whole_are_an_error(text: str) -> None:
    with pytest.raises(ParseError):
        parsed(**{"counts.json": text})


@pytest.mark.parametrize("file", ["uncounted", "unchecked"])
def test_a_run_that_could_not_be_checked_has_failed(file: str) -> None:
    part = parsed(**{file: "server closed the connection unexpectedly"})
    assert part.failure.startswith("The results could not be checked")
    assert ("nopm", "") not in values(part)


def test_a_run_that_broke_off_says_pgbench_s_reason_first() -> None:
    message = "pgbench: error: client 1 aborted in command 4 (SQL) of script 0; perhaps the backend died\n"
    part = parsed(exit="2\n", stderr=message, unchecked="The connection to PostgreSQL failed.")
    assert "perhaps the backend died" in part.failure
    assert ("tpm", "") not in values(part)


def test_the_load_is_measured_in_the_trial_that_did_it() -> None:
    notes = {"load": phases("item 1.500000 100\nvacuum-analyze 0.250000\n")}
    files = {"stdout": report(FINISHED, 1000), "stderr": "", "exit": "0", "conditions": HOLD}
    counts = {"before": BEFORE, "after": BEFORE | {"orders": 1045, "rolled_back": 8}}
    part = parse(Reading("client", files | {"counts.json": json.dumps(counts)}, {}, (0.0, 2.0), notes=notes))
    assert {key: value for key, value in values(part).items() if key[0].startswith("load.")} == {
        ("load.seconds", "item"): 1.5,
        ("load.rows", "item"): 100,
        ("load.seconds", "vacuum-analyze"): 0.25,
        ("load.seconds", ""): 1.75,
    }
    with pytest.raises(ParseError):
        phases("item\n")


def test_every_measured_name_is_declared() -> None:
    declared = {metric.name for metric in SPEC.metrics}
    assert {metric for metric, _ in values(parsed())} <= declared
    assert SPEC.headline in declared


def test_the_data_key_holds_what_decides_the_data_and_nothing_else() -> None:
    assert SPEC.data_key({}) == {
        "warehouses": 1,
        "data_seed": 1,
        "customers_per_district": 3000,
        "items": 100_000,
        "foreign_keys": False,
        "fillfactor": 100,
    }


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("warehouses", 0),
        ("data_seed", -1),
        ("data_seed", 2**26),
        ("customers_per_district", 9),
        ("items", 99),
        ("items", 100_001),
        ("load_jobs", 0),
        ("clients", 0),
        ("isolation", "read uncommitted"),
        ("home", "none"),
    ],
)
def test_values_out_of_bounds_are_refused(name: str, value: object) -> None:
    parameter = next(p for p in SPEC.parameters if p.name == name)
    with pytest.raises(ValueError):
        parameter.check(value)


@pytest.mark.parametrize(
    ("parameters", "access_method", "client", "server", "where"),
    [
        ({}, "", 100000, 160000, "workload"),
        ({"isolation": "serializable"}, "", 140000, 160000, "parameters.isolation"),
        ({"max_tries": 2}, "", 140000, 160000, "parameters.max_tries"),
        ({"protocol": "prepared"}, "", 110000, 160000, "parameters.protocol"),
        ({}, "zheap", 160000, 110000, "access_method"),
    ],
)
def test_what_the_versions_lack_is_named(
    parameters: dict[str, Scalar], access_method: str, client: int, server: int, where: str
) -> None:
    all_parameters = {p.name: p.default for p in SPEC.parameters} | parameters
    with pytest.raises(VerifyError) as refused:
        check_version(all_parameters, access_method, client, server)
    assert refused.value.where == where
    check_version(all_parameters, access_method, 150000, 120000)


def test_the_size_is_near_what_was_measured() -> None:
    one = {p.name: p.default for p in SPEC.parameters}
    # 117.9 MB for a warehouse and the items, catalogs left out, on 15
    assert SPEC.disk_bytes(one) == pytest.approx(117.9e6, rel=0.05)
    assert SPEC.disk_bytes({**one, "fillfactor": 80}) == pytest.approx(SPEC.disk_bytes(one) / 0.8)


def test_the_mix_is_the_standard_one_and_every_type_has_its_script() -> None:
    assert sum(MIX.values()) == 100
    scripts = Path(tpcc.__file__).parent / "scripts"
    assert {path.stem for path in scripts.glob("*.sql")} == set(MIX)


def test_every_condition_ends_in_one_answer() -> None:
    assert CONDITIONS_SQL.count("SELECT jsonb_build_object(") == 4


def test_the_readme_says_every_parameter_and_metric() -> None:
    text = (Path(tpcc.__file__).parent / "README.md").read_text()
    names = [*(p.name for p in SPEC.parameters), *(m.name for m in SPEC.metrics)]
    assert [name for name in names if f"| `{name}` |" not in text] == []
