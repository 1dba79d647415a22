"""Which settings of a server name a program, a library, a file or another server: to set one is to bring code. Pure.

What is not known to be harmless counts as one that does. Numbers and switches name nothing, so that only texts have to
be known: those of 9.5 to 19, by name. Programs' names such as `true` and `yes` are values too, so the names that reach
something are asked before the value is.
"""

from __future__ import annotations

import re

from results.domain.messages import gettext_lazy as _

_PROGRAM = _("it is a shell command that the server runs")
_LIBRARY = _("it names a library that the server loads")
_SEARCHED = _("it says where the server looks for libraries and extensions")
_FILE = _("it names a file or folder that the server reads or writes")
_SERVER = _("it has the server connect elsewhere, as whom and with which password it says")
REACHING = {
    "archive_command": _PROGRAM,
    "restore_command": _PROGRAM,
    "archive_cleanup_command": _PROGRAM,
    "recovery_end_command": _PROGRAM,
    "ssl_passphrase_command": _PROGRAM,
    "archive_library": _LIBRARY,
    "jit_provider": _LIBRARY,
    "local_preload_libraries": _LIBRARY,
    "oauth_validator_libraries": _LIBRARY,
    "session_preload_libraries": _LIBRARY,
    "shared_preload_libraries": _LIBRARY,
    "dynamic_library_path": _SEARCHED,
    "extension_control_path": _SEARCHED,
    "extension_destdir": _SEARCHED,  # Debian's
    "config_file": _FILE,
    "data_directory": _FILE,
    "external_pid_file": _FILE,
    "hba_file": _FILE,
    "hosts_file": _FILE,  # 19; its lines have passphrase commands
    "ident_file": _FILE,
    "krb_server_keyfile": _FILE,
    "log_directory": _FILE,
    "log_filename": _FILE,
    "promote_trigger_file": _FILE,  # 12 to 15, which remove it
    "ssl_ca_file": _FILE,
    "ssl_cert_file": _FILE,
    "ssl_crl_dir": _FILE,
    "ssl_crl_file": _FILE,
    "ssl_dh_params_file": _FILE,
    "ssl_key_file": _FILE,
    "stats_temp_directory": _FILE,  # to 14, which remove what is in it
    "unix_socket_directories": _FILE,
    "primary_conninfo": _SERVER,
}
"""Name → what it does."""

_HARMLESS = """
application_name archive_mode backslash_quote backtrace_functions bonjour_name bytea_output client_encoding
client_min_messages cluster_name compute_query_id constraint_exclusion createrole_self_grant datestyle debug_io_direct
debug_logical_replication_streaming debug_parallel_query default_table_access_method default_tablespace
default_text_search_config default_toast_compression default_transaction_isolation dynamic_shared_memory_type
effective_wal_level event_source file_copy_method file_extend_method force_parallel_mode huge_pages huge_pages_status
icu_validation_level intervalstyle io_method lc_collate lc_ctype lc_messages lc_monetary lc_numeric lc_time
listen_addresses log_connections log_destination log_error_verbosity log_line_prefix log_min_error_statement
log_min_messages log_statement log_timezone logical_decoding_mode password_encryption plan_cache_mode
primary_slot_name recovery_init_sync_method recovery_prefetch recovery_target recovery_target_action
recovery_target_lsn recovery_target_name recovery_target_time recovery_target_timeline recovery_target_xid
restrict_nonsystem_relation_kind search_path server_encoding server_version session_replication_role
shared_memory_type ssl_ciphers ssl_ecdh_curve ssl_groups ssl_library ssl_max_protocol_version ssl_min_protocol_version
ssl_tls13_ciphers stats_fetch_consistency synchronized_standby_slots synchronous_commit synchronous_standby_names
syslog_facility syslog_ident temp_tablespaces timezone timezone_abbreviations trace_recovery_messages track_functions
transaction_isolation unix_socket_group wal_compression wal_consistency_checking wal_level wal_sync_method xmlbinary
xmloption
"""
HARMLESS_TEXTS = frozenset(_HARMLESS.split())
"""Texts and enums that name nothing outside of the database: places of Teiten's own among them, which no plan may set
(`reserved_names`)."""

_BY_ITS_NAME = re.compile(
    r".*(command|program|hook|proc|librar(y|ies)|path|file|dir|director(y|ies)|conninfo)|(.*[._])?on_\w*init"
)
_QUANTITY = re.compile(r"\s*[-+]?(0x[0-9a-f]+|\d+\.?\d*|\.\d+)(e[-+]?\d+)?\s*(B|kB|MB|GB|TB|us|ms|s|min|h|d)?\s*", re.I)
_SWITCHES = ("on", "off", "true", "false")


def reaches(name: str, value: str) -> str:
    """Return what a setting with this value may reach, a sentence without its full stop; '' for nothing.

    name: as in postgresql.conf, where case does not matter
    """
    lower = name.lower()
    if lower in REACHING:
        return REACHING[lower]
    if lower in HARMLESS_TEXTS:
        return ""
    if _BY_ITS_NAME.fullmatch(lower):
        return _("by its name, it tells the server what to run, load or read")
    if _QUANTITY.fullmatch(value) or value.strip().lower() in _SWITCHES:
        return ""
    return _("Teiten does not know it as one that names no program, library or file")
