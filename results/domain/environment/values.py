"""When two values of a key say the same."""

from __future__ import annotations

import re
from collections.abc import Hashable, Mapping
from typing import Any

from results.domain.units import parse_bytes, parse_seconds

_SWITCH = {"on": "on", "true": "on", "yes": "on", "off": "off", "false": "off", "no": "off"}
_RELEASE = re.compile(r"[0-9.]+")
_NUMBER = re.compile(r"[-+]?\d+(\.\d+)?([eE][-+]?\d+)?")
# what says where a build was put, and nothing of what it is
_PLACE = re.compile(
    r"--(prefix|exec-prefix|\w+dir|with-(pgport|system-tzdata|includes|libraries|krb-srvnam)|docdir)=.*"
)


def normal(value: Any) -> Hashable:
    """A form that is equal for two ways to write one value: '64MB' and '65536kB', '1min' and '60s', 'on' and 'true',
    '0.90' and 0.9. None stays None. Numbers without a unit are never equal to quantities with one."""
    if isinstance(value, bool):
        return "on" if value else "off"
    if isinstance(value, int | float):
        return float(value)
    if isinstance(value, list | tuple):
        return tuple(normal(item) for item in value)
    if isinstance(value, Mapping):
        return tuple(sorted((key, normal(item)) for key, item in value.items()))
    return _text(value) if isinstance(value, str) else None


# words for one value: from PostgreSQL 15 wal_compression shows pglz where it was set to on
_SAME_WORDS = {"wal_compression": {"on": "pglz"}}


def normal_setting(name: str, value: Any) -> Hashable:
    """As `normal`, of a setting: what it means by a word of its own is one form as well."""
    form = normal(value)
    return _SAME_WORDS.get(name, {}).get(form, form) if isinstance(form, str) else form


def _text(value: str) -> Hashable:
    text = value.strip()
    if _NUMBER.fullmatch(text):
        return float(text)
    for unit, parse in (("B", parse_bytes), ("s", parse_seconds)):
        try:
            return unit, parse(text)
        except ValueError:
            continue
    return _SWITCH.get(text.lower(), text)


def options(value: Any) -> frozenset[str]:
    """Options of `configure` without those that only say where things are put."""
    listed = value if isinstance(value, list | tuple) else ()
    return frozenset(str(option) for option in listed if not _PLACE.fullmatch(str(option)))


def client_major(version: Any) -> str:
    """Return the major version of psql or pgbench: '16.9' → '16', '9.6.24' → '9.6'. What is no release ('19beta1') is
    one by itself; '' where nothing is known."""
    text = str(version or "")
    release = re.fullmatch(r"(9\.\d+|\d+)(\.\d+)*", text)
    return release[1] if release else text


def is_release(version: str) -> bool:
    """Return whether a version is a release: no beta, no development version, no fork."""
    return bool(_RELEASE.fullmatch(version))


def major_of(version_num: Any, version: str = "") -> str:
    """Return the major version of a server_version_num: 160009 → '16', 90603 → '9.6'; '' of what is none. What is no
    release ('12beta1', '13devel', a fork's '16.3-x') is a version by itself."""
    if not isinstance(version_num, int):
        return ""
    if version and not is_release(version):
        return version
    return str(version_num // 10000) if version_num >= 100000 else f"{version_num // 10000}.{version_num // 100 % 100}"
