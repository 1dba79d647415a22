"""What a build says of its settings, and which values they can have. Held against servers in tests/live."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from results.domain.errors import ParseError
from results.domain.kinds.server_settings import SettingType, fault, nearest, read

RECORDED = Path(__file__).parents[3] / "data" / "settings"


def settings(major: str) -> dict[str, SettingType]:
    lines = (RECORDED / f"{major}-probe.txt").read_text().splitlines()
    return read(line.removeprefix("setting ") for line in lines if line.startswith("setting "))


KNOWN = settings("18")


def test_a_build_says_what_its_settings_are() -> None:
    assert KNOWN["shared_buffers"] == SettingType("shared_buffers", "integer", "8kB", "postmaster", 16, 1073741823)
    assert KNOWN["wal_level"].values == ("minimal", "replica", "logical")
    assert KNOWN["datestyle"].name == "DateStyle"
    assert (KNOWN["vacuum_cost_delay"].kind, KNOWN["vacuum_cost_delay"].most) == ("real", 100)
    assert "io_method" in KNOWN and "io_method" not in settings("16")


def test_what_is_no_line_of_a_build_is_named() -> None:
    with pytest.raises(ParseError, match="pg_settings"):
        read(["fsync|bool||sighup|||", "shared_buffers|integer|8kB"])


@pytest.mark.parametrize(
    ("name", "value", "text"),
    [
        ("shared_buffers", "lots", "is a number with or without a unit of B, kB, MB, GB, TB, not 'lots'"),
        ("shared_buffers", "128mb", "is a number with or without a unit of B, kB, MB, GB, TB, not '128mb'"),
        ("shared_buffers", "5min", "is a number with or without a unit of B, kB, MB, GB, TB, not '5min'"),
        ("shared_buffers", "64kB", "is at least 128kB, not 64kB"),
        ("shared_buffers", "15", "is at least 128kB, not 120kB"),
        ("work_mem", "-1", "is at least 64kB, not -1"),
        ("checkpoint_timeout", "5", "is at least 30s, not 5s"),
        ("checkpoint_timeout", "2d", "is at most 1d, not 2d"),
        ("max_connections", "many", "is a number, not 'many'"),
        ("max_connections", "1kB", "is a number, not '1kB'"),
        ("random_page_cost", "-1", "is at least 0, not -1"),
        ("fsync", "maybe", "is on or off, not 'maybe'"),
        ("fsync", "o", "is on or off, not 'o'"),
        ("wal_level", "none", "is one of minimal, replica, logical, not 'none'"),
        ("io_method", "io_uring", "is one of sync, worker, not 'io_uring'"),
        ("block_size", "8192", "cannot be set: it is fixed when PostgreSQL is built, or its cluster made"),
        ("transaction_isolation", "serializable", "is set by each transaction for itself"),
    ],
)
def test_a_value_that_cannot_be_is_told_with_what_can(name: str, value: str, text: str) -> None:
    assert fault(KNOWN[name], value) == text


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("shared_buffers", "128MB"),
        ("shared_buffers", " 0x4000 "),
        ("shared_buffers", "1e6"),
        ("work_mem", "1.5GB"),
        ("work_mem", "64 kB"),
        ("fsync", "T"),
        ("fsync", "of"),
        ("wal_level", "hot_standby"),
        ("wal_level", "Logical"),
        ("huge_pages", "true"),
        ("log_min_messages", "debug"),
        ("vacuum_cost_delay", "0.5"),
        ("search_path", "a, b"),
        ("vacuum_cost_delay", "500us"),
        ("log_file_mode", "0600"),
        ("autovacuum_work_mem", "-1"),
        ("log_timezone", ""),
    ],
)
def test_a_value_as_postgresql_reads_it_is_taken(name: str, value: str) -> None:
    assert fault(KNOWN[name], value) == ""


def test_a_number_beyond_all_bounds_is_refused_like_any_that_is_too_large() -> None:
    assert "is at most" in fault(KNOWN["shared_buffers"], "0x" + "f" * 300)


@pytest.mark.parametrize("major", ["11", "16", "18"])
def test_whatever_a_server_has_by_default_can_be_set(major: str) -> None:
    known = settings(major)
    rows = json.loads((RECORDED / f"{major}.json").read_text())
    faults = {row["name"]: text for row in rows if (text := fault(known[row["name"].lower()], row["setting"] or ""))}
    fixed = {one.name for one in known.values() if one.context == "internal"}
    assert faults.keys() - fixed == {"transaction_deferrable", "transaction_isolation", "transaction_read_only"}


@pytest.mark.parametrize(
    ("name", "meant"),
    [
        ("shared_bufers", "shared_buffers"),
        ("share_buffers", "shared_buffers"),
        ("workmem", "work_mem"),
        ("Max_Connection", "max_connections"),
        ("datestyl", "DateStyle"),
        ("turbo", ""),
    ],
)
def test_the_nearest_name_is_the_one_that_was_meant(name: str, meant: str) -> None:
    assert nearest(name, KNOWN) == meant
