"""Parameters → pgbench's arguments."""

from __future__ import annotations

import pytest

from results.domain.errors import VerifyError
from results.domain.kinds.parameters import Scalar
from workers.pgbench.version import pgbench_version_num, version_name
from workers.workloads.pgbench.options import check_version, load_arguments, run_arguments, script_names
from workers.workloads.pgbench.spec import SPEC

DEFAULTS: dict[str, Scalar] = {parameter.name: parameter.default for parameter in SPEC.parameters}


def arguments(client: int = 160000, threads: int = 1, **parameters: Scalar) -> list[str]:
    return run_arguments(
        {**DEFAULTS, **parameters},
        threads=threads,
        client=client,
        custom_path="/job@1/custom.sql",
        duration_s=5,
    )


def refused(parameters: dict[str, Scalar], client: int = 180000, server: int = 180000, access_method: str = "") -> str:
    with pytest.raises(VerifyError) as caught:
        check_version({**DEFAULTS, **parameters}, access_method, client, server)
    return f"{caught.value}"


@pytest.mark.parametrize(
    ("text", "number"),
    [
        ("pgbench (PostgreSQL) 12beta1\n", 120000),
        ("pgbench (PostgreSQL) 13devel", 130000),
        ("pgbench (PostgreSQL) 15.18 (Debian 15.18-0+deb12u1)", 150018),
        ("pgbench (PostgreSQL) 9.5.25", 90525),
        ("pgbench (PostgreSQL) 9.6rc1", 90600),
    ],
)
def test_any_version_text_gives_a_number(text: str, number: int) -> None:
    assert pgbench_version_num(text) == number


def test_other_text_is_no_version() -> None:
    with pytest.raises(ValueError, match="not the answer"):
        pgbench_version_num("command not found")


def test_versions_are_named_as_people_do() -> None:
    assert [version_name(n) for n in (160014, 90525, 90600, 150000)] == ["16.14", "9.5.25", "9.6", "15"]


def test_a_plain_run_has_the_plain_arguments() -> None:
    assert arguments(script="select-only", clients=4, threads=2) == (
        ["-n", "-c", "4", "-j", "2", "-M", "simple", "-T", "5", "--failures-detailed", "-b", "select-only@1"]
    )


def test_there_are_never_more_threads_than_clients() -> None:
    assert arguments(clients=2, threads=8)[3:5] == ["-j", "2"]


def test_every_option_has_its_parameter() -> None:
    options = arguments(
        script="custom@3, select-only@7",
        custom_script="SELECT 1;",
        define="a=1, b=two words",
        protocol="prepared",
        rate=500,
        latency_limit_ms=2.5,
        connect=True,
        transactions=100,
        max_tries=10,
        per_statement=True,
    )
    assert options == [
        *[
            "-n",
            "-c",
            "1",
            "-j",
            "1",
            "-M",
            "prepared",
            "-t",
            "100",
            "-R",
            "500",
            "-L",
            "2.5",
            "-C",
            "-r",
            "--max-tries=10",
            "--failures-detailed",
        ],
        *("-D", "a=1", "-D", "b=two words"),
        *("-f", "/job@1/custom.sql@3", "-b", "select-only@7"),
    ]


def test_a_custom_script_alone_is_told_the_scale() -> None:
    assert arguments(script="custom", scale=7)[-4:] == ["-s", "7", "-f", "/job@1/custom.sql@1"]


@pytest.mark.parametrize(
    ("script", "expected"),
    [("tpcb-like", []), ("select-only", ["-S"]), ("simple-update", ["-N"])],
)
def test_old_versions_get_the_letters_of_the_builtins(script: str, expected: list[str]) -> None:
    assert arguments(client=90500, script=script) == [
        "-n",
        "-c",
        "1",
        "-j",
        "1",
        "-M",
        "simple",
        "-T",
        "5",
        *expected,
    ]


def test_initialisation_has_its_options() -> None:
    parameters = {**DEFAULTS, "scale": 3, "partitions": 4, "partition_method": "hash"}
    parameters |= {"fillfactor": 90, "unlogged": True, "foreign_keys": True}
    assert load_arguments(parameters) == (
        [
            "-F",
            "90",
            "--partitions=4",
            "--partition-method=hash",
            "--unlogged-tables",
            "--foreign-keys",
        ]
    )


@pytest.mark.parametrize(
    ("parameter", "value", "client", "message"),
    [
        ("max_tries", 3, 140005, "parameters.max_tries: pgbench 14.5 cannot do this"),
        ("partitions", 4, 120000, "parameters.partitions: pgbench 12 cannot do this"),
        ("script", "select-only@2, tpcb-like", 90525, "parameters.script: pgbench 9.5.25 cannot do this"),
    ],
)
def test_what_a_version_lacks_is_named_with_the_parameter(
    parameter: str, value: Scalar, client: int, message: str
) -> None:
    assert message in refused({parameter: value}, client)


def test_servers_before_12_have_no_access_methods() -> None:
    assert "access_method: PostgreSQL 11.2" in refused({}, server=110002, access_method="zheap")


def test_an_empty_custom_script_is_refused() -> None:
    assert "parameters.custom_script" in refused({"script": "custom"})


def test_the_defaults_suit_every_version() -> None:
    for version in (90500, 100000, 120000, 180000):
        check_version(DEFAULTS, "", version, version)


def test_the_script_parameter_knows_the_names_only() -> None:
    parameter = next(p for p in SPEC.parameters if p.name == "script")
    assert parameter.check("tpcb-like@3,select-only@7") == "tpcb-like@3,select-only@7"
    with pytest.raises(ValueError, match="There is no script"):
        parameter.check("$(touch x)")


def test_definitions_are_names_and_values() -> None:
    parameter = next(p for p in SPEC.parameters if p.name == "define")
    assert parameter.check("") == ""
    assert parameter.check("a=1, b=x y") == "a=1, b=x y"
    with pytest.raises(ValueError, match="'1a=2' is not a valid define"):
        parameter.check("1a=2")


def test_a_script_that_comes_twice_is_numbered() -> None:
    assert script_names("custom, select-only, custom@3") == ("custom", "select-only", "custom 2")
