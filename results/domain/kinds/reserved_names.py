"""What of a server no plan may set, because Teiten sets it or relies on it: settings, options of initdb. Pure."""

from __future__ import annotations

import re

from results.domain.messages import gettext_lazy as _
from results.domain.nearest import did_you_mean, nearest

# What the parsers of server logs and the rest of Teiten rely on: in force on every server.
OWN_SETTINGS = {
    "logging_collector": "off",
    "log_destination": "stderr",
    "log_line_prefix": "%m [%p] ",
    "log_timezone": "UTC",
    "lc_messages": "C",
    "unix_socket_permissions": "0700",
}
RESERVED_SETTINGS = frozenset(
    {
        *OWN_SETTINGS,
        "port",
        "listen_addresses",
        "unix_socket_directories",
        "unix_socket_group",
        "data_directory",
        "config_file",
        "hba_file",
        "ident_file",
        "external_pid_file",
        "password_encryption",
        "include",
        "include_dir",
        "include_if_exists",
    }
)
# What distinguishes clusters. Places, accounts and authentication are Teiten's.
_SWITCHES = frozenset({"--data-checksums", "-k", "--no-data-checksums", "--no-locale", "--no-sync"})
_VALUED = frozenset(
    {
        "--wal-segsize",
        "--encoding",
        "--locale",
        "--locale-provider",
        "--builtin-locale",
        "--icu-locale",
        "--icu-rules",
        "--lc-collate",
        "--lc-ctype",
        "--lc-monetary",
        "--lc-numeric",
        "--lc-time",
        "--text-search-config",
        "--sync-method",
    }
)
_SURELY = 0.75  # --pgdata is none of those that a plan may set
_OPTION = re.compile(r"(--[a-z][a-z-]*)=([A-Za-z0-9_./:@+-]+)|(-E)([A-Za-z0-9_-]+)")
_SET = re.compile(r"(?:--set=|-c)([A-Za-z_][A-Za-z0-9_.]*)=[A-Za-z0-9_./:@+-]*")


def setting_is_reserved(name: str) -> bool:
    """Return whether Teiten sets it itself, or it would lead a server elsewhere. Case does not matter, as in
    postgresql.conf."""
    return name.lower() in RESERVED_SETTINGS


def initdb_setting(option: str) -> tuple[str, str] | None:
    """('work_mem', '4MB') of the option --set=work_mem=4MB or -cwork_mem=4MB; None of another one."""
    match = _SET.fullmatch(option)
    return (match[1], option.split("=")[-1]) if match else None


def initdb_problem(option: object) -> tuple[str, str]:
    """(what is wrong, what to do) with an option of initdb; ('', '') when a plan may ask for it."""
    if isinstance(option, str) and option in _SWITCHES:
        return "", ""
    if isinstance(option, str) and (setting := _SET.fullmatch(option)):
        if setting_is_reserved(setting[1]):
            return _("{setting} is set by Teiten itself.", setting=setting[1]), _("Leave it out.")
        return "", ""
    match = _OPTION.fullmatch(option) if isinstance(option, str) else None
    if match and (match[1] in _VALUED or match[3]):
        return "", ""
    return _("{option} is not an initdb option that a plan may set.", option=repr(option)), _known_options(option)


def _known_options(option: object) -> str:
    """What to write instead of an option: the nearest that is known, or all that there are."""
    near = nearest(str(option).partition("=")[0], sorted((*_SWITCHES, *_VALUED)), _SURELY)
    if near:
        return did_you_mean(f"{near}{'=…' if near in _VALUED else ''}")
    return _(
        "Places, accounts and authentication are Teiten's. There are {switches}, --set=name=value, and {valued}.",
        switches=", ".join(sorted(_SWITCHES)),
        valued=", ".join(f"{name}=…" for name in sorted(_VALUED)),
    )
