import pytest

from results.domain.environment.layers import LayerKind
from workers.postgres.settings import (
    Setting,
    check_settings,
    defaults_layer,
    from_rows,
    layer,
    non_default,
    same_quantity,
)


def setting(value: str, unit: str | None = None, boot: str = "", source: str = "configuration file") -> Setting:
    return Setting(value, unit, source, boot)


@pytest.mark.parametrize(
    ("expected", "value", "unit"),
    [
        ("128MB", "16384", "8kB"),
        ("16384", "16384", "8kB"),
        ("131072kB", "16384", "8kB"),
        ("1000kB", "125", "8kB"),
        ("1GB", "1024", "MB"),
        ("5min", "300", "s"),
        ("0.5s", "500", "ms"),
        ("300", "300", "s"),
        ("true", "on", None),
        ("Off", "off", None),
        ("1", "on", None),
        ("1.10", "1.1", None),
        ("0.90", "0.9", None),
        ("replica", "replica", None),
        ("REPLICA", "replica", None),
        ("'a', \"b\"", "a, b", None),
        ("-1", "-1", "kB"),
    ],
)
def test_the_same_quantity_written_in_two_ways(expected: str, value: str, unit: str | None):
    assert same_quantity(expected, setting(value, unit))


@pytest.mark.parametrize(
    ("expected", "value", "unit"),
    [
        ("128MB", "16385", "8kB"),
        ("1GB", "16384", "8kB"),
        ("5min", "301", "s"),
        ("on", "off", None),
        ("1.1", "1.2", None),
        ("100", "101", None),
        ("minimal", "replica", None),
        ("nonsense", "16384", "8kB"),
        ("a, b", "b, a", None),
    ],
)
def test_different_quantities_are_told_apart(expected: str, value: str, unit: str | None):
    assert not same_quantity(expected, setting(value, unit))


def test_a_value_that_the_server_rounds_to_its_unit_is_the_same():
    assert same_quantity("100kB", setting("13", "8kB"))


def test_choose_for_me_accepts_what_the_server_chose():
    assert same_quantity("-1", setting("2048", "8kB", boot="-1", source="override"))
    assert not same_quantity("-1", setting("2048", "8kB", boot="1024"))


def test_each_wanted_setting_is_one_check():
    in_force = {"shared_buffers": setting("16384", "8kB"), "DateStyle": setting("ISO, MDY")}
    checks = check_settings({"shared_buffers": "256MB", "unheard_of": "1"}, in_force, node="primary")
    assert [(c.name, c.node, c.expected, c.actual, c.passed) for c in checks] == [
        ("setting shared_buffers", "primary", "256MB", "128MB", False),
        ("setting unheard_of", "primary", "1", "not known to this server", False),
    ]


def test_a_settings_name_is_found_whatever_its_case():
    assert check_settings({"datestyle": "ISO, MDY"}, {"DateStyle": setting("ISO, MDY")})[0].passed


def test_only_what_differs_from_the_defaults_is_shown_and_as_one_quantity():
    settings = {
        "shared_buffers": setting("8192", "8kB", boot="16384"),
        "work_mem": setting("4096", "kB", boot="4096"),
        "port": setting("21001", boot="5432"),
        "wal_buffers": setting("512", "8kB", boot="-1", source="override"),
        "data_checksums": setting("on", boot="off", source="override"),
        "log_checkpoints": setting("on", boot="off"),
    }
    assert non_default(settings) == {"data_checksums": "on", "shared_buffers": "64MB"}
    assert layer(settings).kind == LayerKind.SETTINGS


def test_rows_of_the_server_become_settings():
    rows = [{"name": "work_mem", "setting": "4096", "unit": "kB", "source": "default", "boot": "4096"}]
    assert from_rows(rows)["work_mem"].shown == "4MB"


def test_the_defaults_are_the_builds_whatever_is_set():
    chosen = {
        "shared_buffers": setting("131072", "8kB", boot="16384"),
        "port": setting("5433", boot="5432"),
        "log_checkpoints": setting("on", boot="off"),
        "server_version_num": setting("160014", boot="160014", source="default"),
        "auto_explain.log_analyze": setting("off", boot="off"),
        "archive_command": Setting("", None, "default", None),
    }
    defaults = defaults_layer(chosen)
    assert defaults.kind == LayerKind.DEFAULTS
    assert defaults.content == {"archive_command": "", "shared_buffers": "128MB"}
    other = chosen | {"shared_buffers": setting("16384", "8kB", boot="16384")}
    assert defaults_layer(other).hash == defaults.hash


@pytest.mark.parametrize("shown", ["on", "pglz"])
def test_wal_compression_that_is_on_is_in_force_where_the_server_shows_pglz(shown):
    """A switch up to PostgreSQL 14; from 15 servers show pglz where it was set to on."""
    in_force = {"wal_compression": setting(shown, None)}
    assert [check.passed for check in check_settings({"wal_compression": "on"}, in_force)] == [True]
    assert [check.passed for check in check_settings({"wal_compression": "lz4"}, in_force)] == [False]
    assert [check.passed for check in check_settings({"wal_compression": "off"}, in_force)] == [False]


def test_a_default_that_the_build_brings_reaches_the_layers():
    brought = {"default_toast_compression": Setting("lz4", None, "default", "lz4")}
    assert defaults_layer(brought).content == {"default_toast_compression": "lz4"} and layer(brought).content == {}


def test_passwords_are_compared_before_they_are_hidden():
    rows = [
        {"name": name, "setting": value, "unit": None, "source": "configuration file", "boot": ""}
        for name, value in {
            "primary_conninfo": "host=a password=one",
            "ssl_passphrase_command": "echo one",
            "some.secret": "one",
        }.items()
    ]
    in_force = from_rows(rows)
    assert all(check.passed for check in check_settings({row["name"]: row["setting"] for row in rows}, in_force))
    other = check_settings({row["name"]: row["setting"].replace("one", "two") for row in rows}, in_force)
    assert [check.passed for check in other] == [False] * 3
    assert "one" not in str((other, non_default(in_force), layer(in_force)))
    assert "two" not in str(other)
