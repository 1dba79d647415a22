"""The known name that a wrong one was probably meant to be."""

from __future__ import annotations

import pytest

from results.domain.kinds.conditions import CONDITIONS
from results.domain.kinds.parameters import Kind, Parameter
from results.domain.kinds.server_settings import SettingType, instead
from results.domain.nearest import nearest, suggestion

CLIENTS = Parameter("clients", Kind.INTEGER, 1, "Sessions.", 1, 100_000)
DURATION = next(parameter for parameter in CONDITIONS if parameter.name == "duration_s")
CACHE = next(parameter for parameter in CONDITIONS if parameter.name == "cache")
SCRIPT = Parameter("script", Kind.TEXT, "read", "As 'read@9, write'.", pattern="(read|write)(@[0-9])?", words=("read",))


@pytest.mark.parametrize(
    ("typed", "meant"),
    [
        ("shared_bufers", "shared_buffers"),
        ("Shared-Buffers", "shared_buffers"),
        ("work mem", "work_mem"),
        ("p99", "latency.p99"),
        ("p9", ""),
        ("x", ""),
        ("", ""),
        ("nothing like it", ""),
    ],
)
def test_the_nearest_name_is_found_whatever_its_case_and_joints(typed: str, meant: str) -> None:
    assert nearest(typed, ["work_mem", "shared_buffers", "latency.p99", "latency.p95"]) == meant


def test_few_names_are_listed_and_many_only_where_none_is_near() -> None:
    many = [f"name_{number}" for number in range(50)]
    assert suggestion("sarr", ["pg_stat", "sar"]) == "Did you mean sar? There are pg_stat, sar."
    assert suggestion("name-7", many) == "Did you mean name_7?"
    assert suggestion("quite another", many).startswith("There are name_0, name_1")
    assert suggestion("any", []) == "There are none."


@pytest.mark.parametrize(
    ("parameter", "value", "advice"),
    [
        (CLIENTS, "four", "Whole numbers from 1 to 100,000 are taken."),
        (CLIENTS, 0, "Whole numbers from 1 to 100,000 are taken."),
        (DURATION, "5min", "It is in seconds: write 300."),
        (DURATION, "long", "Numbers from 1 to 604,800 s are taken."),
        (CACHE, "pre-warm", "Did you mean prewarm?"),
        (CACHE, "hot", ""),
        (SCRIPT, "raed@9", "Did you mean read? There are read."),
        (SCRIPT, "read@@", "As 'read@9, write'."),
    ],
)
def test_a_value_that_is_refused_is_told_what_is_allowed(parameter: Parameter, value: object, advice: str) -> None:
    with pytest.raises(ValueError):
        parameter.check(value)
    assert parameter.advice(value) == advice


@pytest.mark.parametrize(
    ("setting", "value", "meant"),
    [
        (SettingType("work_mem", "integer", "kB", "user", 64, 2147483647), "64 mb", "64MB"),
        (SettingType("work_mem", "integer", "kB", "user", 64, 2147483647), "1G", "1GB"),
        (SettingType("work_mem", "integer", "kB", "user", 64, 2147483647), "1kb", ""),
        (SettingType("work_mem", "integer", "kB", "user", 64, 2147483647), "5 parsecs", ""),
        (SettingType("statement_timeout", "integer", "ms", "user", 0, 2147483647), "5 minutes", "5min"),
        (SettingType("wal_level", "enum", values=("minimal", "replica", "logical")), "replcia", "replica"),
    ],
)
def test_the_value_of_a_setting_that_was_meant_is_named(setting: SettingType, value: str, meant: str) -> None:
    assert instead(setting, value) == meant
