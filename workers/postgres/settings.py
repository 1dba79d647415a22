"""A server's settings: those in force, those that differ from the defaults, and checks against the plan's."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from results.domain.environment.layers import Layer, LayerKind
from results.domain.environment.values import normal_setting
from results.domain.measurement.parsed_trial import Check
from results.domain.messages import gettext_lazy as _
from results.domain.secrets import masked
from results.domain.units import parse_bytes, parse_seconds, setting_in_base_units
from workers.postgres.configuration import PREFERRED
from workers.postgres.server import Server

SETTINGS_SQL = "SELECT name, setting, unit, source, boot_val AS boot FROM pg_settings"

# These say where a server runs, not how it behaves.
_LOCAL = frozenset(
    {
        "application_name",
        "client_encoding",
        "cluster_name",
        "config_file",
        "data_directory",
        "external_pid_file",
        "hba_file",
        "hosts_file",
        "ident_file",
        "in_hot_standby",
        "listen_addresses",
        "log_destination",
        "log_line_prefix",
        "log_timezone",
        "logging_collector",
        "max_stack_depth",
        "num_os_semaphores",
        "port",
        "shared_memory_size",
        "shared_memory_size_in_huge_pages",
        "transaction_deferrable",
        "transaction_isolation",
        "transaction_read_only",
        "unix_socket_directories",
        "unix_socket_permissions",
    }
)
_SWITCH = {"on": "on", "true": "on", "yes": "on", "1": "on", "off": "off", "false": "off", "no": "off", "0": "off"}
_UNIT = re.compile(r"^(\d*)(\w+)$")
_BYTE_UNITS = ("B", "kB", "MB", "GB", "TB")


@dataclass(frozen=True)
class Setting:
    """One row of pg_settings.

    value, boot: value in force and built-in default, in units of `unit`
    unit: '8kB', 'ms'; None for a plain value
    """

    value: str
    unit: str | None
    source: str
    boot: str | None

    @property
    def shown(self) -> str:
        """The value as one quantity: '128MB'."""
        return setting_in_base_units(self.value, self.unit)


async def effective(server: Server, database: str = "postgres") -> dict[str, Setting]:
    """Return every setting in force in a new session, by name, in one query. Raises CommandError."""
    return from_rows(await server.query(SETTINGS_SQL, database=database))


def from_rows(rows: list[dict[str, Any]]) -> dict[str, Setting]:
    """Return the settings of SETTINGS_SQL's rows, by name, with the passwords in them: layers and checks hide those."""
    return {row["name"]: Setting(row["setting"] or "", row["unit"], row["source"], row["boot"]) for row in rows}


def non_default(settings: Mapping[str, Setting]) -> dict[str, str]:
    """Return the settings that differ from the built-in defaults, name → quantity.

    Without those that say where a server runs, those that Teiten sets on every server, and those that the server
    computed from others (wal_buffers); with those that initdb fixed (data_checksums). Passwords in them are hidden.
    """
    fixed = ("data_checksums", "wal_segment_size", "block_size", "wal_block_size", "segment_size")
    return {
        name: masked(name, setting.shown)
        for name, setting in sorted(settings.items())
        if name not in _LOCAL
        and setting.value != (setting.boot or "")
        and setting.value != PREFERRED.get(name)
        and (name in fixed or setting.source not in ("default", "override", "environment variable", "client"))
    }


def layer(settings: Mapping[str, Setting]) -> Layer:
    """Return the SETTINGS layer: differences from the defaults."""
    return Layer(LayerKind.SETTINGS, non_default(settings))


def defaults_layer(settings: Mapping[str, Setting]) -> Layer:
    """Return the DEFAULTS layer: the built-in default of every setting in this build, name → quantity.

    Without settings that say where a server runs, those that Teiten sets on every server, the version's name, and
    those of extensions.
    """
    content = {
        name: setting_in_base_units(setting.boot or "", setting.unit)
        for name, setting in sorted(settings.items())
        if name not in _LOCAL | PREFERRED.keys() and not name.startswith("server_version") and "." not in name
    }
    return Layer(LayerKind.DEFAULTS, content)


def check_settings(expected: Mapping[str, str], in_force: Mapping[str, Setting], *, node: str = "") -> list[Check]:
    """Return a Check for each expected setting, compared as quantities: '128MB' is 16384 blocks of 8kB.

    Passwords are compared, and then hidden.
    """
    by_name = {name.lower(): setting for name, setting in in_force.items()}
    checks = []
    for name, value in sorted(expected.items()):
        setting = by_name.get(name.lower())
        actual = setting.shown if setting else _("not known to this server")
        hidden = masked(name, actual)
        passed = setting is not None and _in_force(name, value, setting)
        checks.append(
            Check(
                _("setting {name}", name=name),
                node,
                masked(name, value),
                actual if hidden == actual else hidden,
                passed,
            )
        )
    return checks


def _in_force(name: str, expected: str, setting: Setting) -> bool:
    return same_quantity(expected, setting) or normal_setting(name.lower(), expected) == normal_setting(
        name.lower(), setting.shown
    )


def same_quantity(expected: str, setting: Setting) -> bool:
    """Return whether a value as written in a plan is the server's, within the server's rounding to its unit."""
    expected, actual = expected.strip(), setting.value
    if expected.lower() == actual.lower():
        return True
    if expected == "-1" and setting.boot == "-1":
        return True  # -1 lets the server choose, and it shows its choice
    if actual in ("on", "off"):
        return _SWITCH.get(expected.lower()) == actual
    try:
        amount, grain = _amounts(expected, setting.unit)
        return abs(amount - float(actual) * grain) < (grain if setting.unit else 1e-9)
    except ValueError:
        return _split_list(expected) == _split_list(actual)


def _amounts(expected: str, unit: str | None) -> tuple[float, float]:
    match = _UNIT.match(unit or "")
    if match is None:
        return float(expected), 1.0
    parse = parse_bytes if match[2] in _BYTE_UNITS else parse_seconds
    grain = parse(f"{match[1] or 1}{match[2]}")
    number = re.fullmatch(r"[-+]?\d+(\.\d+)?", expected)
    return (float(expected) * grain if number else parse(expected)), grain


def _split_list(text: str) -> list[str]:
    """Split a list such as search_path or shared_preload_libraries, without quotes and spaces."""
    return [word.strip(" \"'").lower() for word in text.split(",")]
