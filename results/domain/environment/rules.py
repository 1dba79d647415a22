"""The tables by which differences are judged: what follows from what is compared, what does no harm, what is worth
knowing. A key that no table names matters. Documented in docs/environment.md."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from enum import StrEnum
from fnmatch import fnmatchcase
from functools import lru_cache
from typing import Any

from results.domain.environment.layers import LayerKind
from results.domain.messages import gettext_lazy as _

AGENT = "agent"  # beside the layers: which machine played the role
PLAN = "plan"  # beside the layers: what the plan has of a dimension
PLACEMENT = "placement"  # of the plan: which roles share a machine
BUILDS = frozenset({"installation", "version", "major"})
OWN_CLIENTS = "own"  # in the client's layer: the plan has each PostgreSQL measured with its own psql and pgbench
CLIENT_PROGRAMS = "client_programs"
TOAST_COMPRESSION = "default_toast_compression"


class Cause(StrEnum):
    """Why a key differs, and what follows. Only a confounder withholds the verdict."""

    CONFOUNDER = "confounder"
    NOTED = "noted"
    UNRECORDED = "unrecorded"
    ALIKE = "alike"
    INTENDED = "intended"
    DEFAULT = "default"
    EQUIVALENT = "equivalent"
    HARMLESS = "harmless"
    SAME = "same"


@lru_cache(10_000)  # a comparison asks for the same few thousands of times
def matches(name: str, patterns: Collection[str]) -> bool:
    return any(fnmatchcase(name, pattern) for pattern in patterns)


@dataclass(frozen=True)
class Rule:
    """What a difference of some keys means.

    keys: patterns of dotted keys in layers of that kind.
    node: only of that role; '' for any."""

    kind: str
    keys: tuple[str, ...]
    cause: Cause
    why: str
    node: str = ""

    def names(self, node: str, kind: str, key: str) -> bool:
        if self.kind != kind or self.node not in ("", node):
            return False
        return matches(key, self.keys)


def _words(text: str) -> tuple[str, ...]:
    return tuple(text.split())


def _harmless(kind: str, keys: str, why: str) -> Rule:
    return Rule(kind, _words(keys), Cause.HARMLESS, why)


def _noted(kind: str, keys: str, why: str, node: str = "") -> Rule:
    return Rule(kind, _words(keys), Cause.NOTED, why, node)


IMPORTED_APART = _(
    "Imported from files of another program on one side at least, which do not tell what they were measured on: "
    "nothing says that hardware, settings and data are alike."
)
RULES = (
    _harmless(LayerKind.BUILD, "name", _("What the installation is called on its agent.")),
    _harmless(LayerKind.BUILD, "full_version", _("The version in more words.")),
    _harmless(LayerKind.CLIENT, "bin", _("Where the client programs lie.")),
    _harmless(LayerKind.CLIENT, OWN_CLIENTS, _("What the plan says of whose client programs to take.")),
    _harmless(LayerKind.HOST, "*.device *.mount *.disk", _("A name; which place it is stands beside it.")),
    _harmless(LayerKind.STORAGE, "mount device disk", _("A path or a name; what the device is stands beside it.")),
    _harmless(
        LayerKind.KERNEL,
        "sysctl.kernel.sem sysctl.kernel.shm* sysctl.vm.max_map_count sysctl.fs.aio-max-nr",
        _("A limit that the server either keeps within or does not start."),
    ),
    _harmless(LayerKind.KERNEL, "sysctl.kernel.perf_event_paranoid", _("Who may profile.")),
    _harmless(
        LayerKind.TOOL, "awk ps python3 tar find flock setsid timeout", _("Used before and after the clock only.")
    ),
    _harmless(
        LayerKind.TOOL, "pgbench", _("Found on the search path; the client program that was used stands under client.")
    ),
    _harmless(
        LayerKind.SETTINGS,
        "port data_directory config_file hba_file ident_file hosts_file external_pid_file unix_socket_* "
        "listen_addresses cluster_name application_name data_directory_mode krb_server_keyfile dynamic_library_path "
        "stats_temp_directory ssl_*_file ssl_*_dir server_version* event_source",
        _("Where the server lives, or what it is called."),
    ),
    _harmless(
        LayerKind.SETTINGS,
        "log_directory log_filename log_file_mode log_rotation_* log_truncate_on_rotation log_timezone log_line_prefix "
        "syslog_*",
        _("Where its log goes."),
    ),
    _harmless(
        LayerKind.SETTINGS,
        "TimeZone timezone_abbreviations DateStyle IntervalStyle lc_messages lc_monetary lc_numeric lc_time "
        "default_text_search_config client_encoding",
        _("How dates, sums and messages are written."),
    ),
    _noted(LayerKind.HARDWARE, "memory.swap_bytes", _("A server that swaps shows it in its own numbers.")),
    _noted(LayerKind.HARDWARE, "virtualisation.product", _("What the host calls itself.")),
    _noted(LayerKind.KERNEL, "distribution", _("The system's libraries may differ.")),
    _noted(
        LayerKind.KERNEL,
        "sysctl.net.core.somaxconn sysctl.kernel.io_uring_disabled sysctl.vm.min_free_kbytes "
        "sysctl.vm.overcommit_kbytes",
        _("Seldom felt; the kernel derives some of it from the memory."),
    ),
    _noted(LayerKind.STORAGE, "*", _("The client's disk: it holds the log of the load only."), node="client"),
    _noted(LayerKind.STORAGE, "total_bytes", _("The size of the file system.")),
    _noted(LayerKind.TOOL, "teiten", _("Another Teiten measured.")),
    _noted(LayerKind.TOOL, "sar sadf perf", _("Another version of what watches.")),
    _noted(
        AGENT,
        "name",
        _("Another machine. What is known of both is compared key by key; machines of one kind may still differ."),
    ),
    _noted(PLAN, "agent.*", _("Another machine played the role.")),
    _noted(PLAN, "published", _("Figures of another publication.")),
)

# Dimensions of a plan that layers tell better, since they hold what was in force.
TOLD_BY_LAYERS = _words("installation version major access_method topology nodes setting.* host.* agent.*")
# Of these an absent one is at its default; an absent one of the others is not known.
DEFAULT_IF_ABSENT = _words("setting.* host.*")

# Dimensions of a plan whose difference withholds the verdict, on whichever axis it stands.
ALWAYS_APART = {"imported": IMPORTED_APART}

# Settings that a topology makes, and those that initdb fixes or probes.
OF_TOPOLOGY = _words(
    "wal_level max_wal_senders max_replication_slots hot_standby* synchronous_* primary_* recovery_* wal_keep_* "
    "max_logical_replication_workers max_worker_processes max_prepared_transactions archive_* restore_command "
    "shared_preload_libraries track_commit_timestamp"
)
OF_INITDB = _words(
    "data_checksums wal_segment_size block_size wal_block_size segment_size lc_* server_encoding data_directory_mode "
    "default_text_search_config max_wal_size min_wal_size"
)

# Defaults that changed between versions, and that a reader must be told of: (setting, first version, words).
TOLD_DEFAULTS = {
    "data_checksums": (
        180000,
        _(
            "initdb turns data checksums on from PostgreSQL 18. Both sides ran on initdb's default, so their cost is "
            'a part of the version here. initdb = ["--data-checksums"] in the plan turns them on everywhere.'
        ),
    ),
    "jit": (
        120000,
        _(
            "JIT compilation is on from PostgreSQL 12, where the build has it. Set jit in the plan to compare without "
            "it."
        ),
    ),
    TOAST_COMPRESSION: (
        190000,
        _(
            "Long values are compressed by lz4 from PostgreSQL 19, where the build has it, and by pglz before. Set "
            "default_toast_compression in the plan to compare without it."
        ),
    ),
}
# Defaults that hang on what a build can do: (setting, first version, words). Other settings that name such a thing
# (wal_compression, io_method) are at the same default in every build, and a server that lacks it refuses to start.
BUILT_DEFAULTS = {
    TOAST_COMPRESSION: (
        190000,
        _(
            "Only one side's build has lz4, which compresses long values by default from PostgreSQL 19: set "
            "default_toast_compression in the plan to compare without it."
        ),
    ),
}
# Settings that only show how the server was compiled.
COMPILED = frozenset(
    {"block_size", "wal_block_size", "segment_size", "debug_assertions", "max_identifier_length", "max_index_keys"}
)
# Workloads whose queries run long enough to be compiled just in time, where the build can.
COMPILED_QUERIES = frozenset({"ssb", "script"})
# What another version of psql and pgbench means, as no dimension makes it differ.
CLIENT_MINOR = _("Another minor version of psql and pgbench.")
CLIENT_BESIDE = _("Another version of psql and pgbench, whose own work is no part of this metric.")
CLIENT_WITHIN = _(
    "The load was made by another version of pgbench, whose own speed is part of this metric: set "
    'client_programs = "newest" in the plan and run again, or "own" where each PostgreSQL is meant with its own.'
)
CHECKED_BUILD = ("--enable-cassert", "-O0")  # makes a server several times slower


def compiles_queries(workload: Any, settings: Collection[str]) -> bool:
    """Return whether queries would be compiled just in time, where the build can: they run long enough, or the plan
    says when.

    settings: names of those that are set."""
    return workload in COMPILED_QUERIES or any(name.startswith("jit_") for name in settings)


def rule_of(node: str, kind: str, key: str) -> Rule | None:
    """The first rule that names the key."""
    return next((rule for rule in RULES if rule.names(node, kind, key)), None)


def rule_of_absent(kind: str, values: Collection[Any]) -> Rule | None:
    """The rule for a program that some trials' agents do not have, or that nobody looked for then: a contact looks for
    what kinds name, and a new kind may name more.

    values: those of one key."""
    programs = [value for value in values if value is not None]
    if kind == LayerKind.TOOL and len(programs) < len(values) and all(str(one).startswith("/") for one in programs):
        return _ABSENT
    return None


_ABSENT = _noted(LayerKind.TOOL, "*", _("On one side it was not there, or not looked for: nothing there used it."))


def follows_from(node: str, kind: str, key: str, intended: Collection[str]) -> str:
    """The dimension, of those that are meant to differ, that makes this key differ; '' where there is none."""
    return next((name for name in _candidates(node, kind, key) if name in intended), "")


_BUILD_DIMENSIONS = tuple(sorted(BUILDS))
# Keys of a layer that follow from other dimensions than the rest of it.
_CLIENT_DIMENSIONS = {
    "version": (CLIENT_PROGRAMS,),
    "threads_rule": ("threads", "clients"),
    "agents": ("agent.client", "agent.primary", "topology"),
}
_DATA_DIMENSIONS = {"policy": ("policy", "data", "workload")}
_WHOLE_LAYERS: Mapping[str, tuple[str, ...]] = {
    LayerKind.DEFAULTS: _BUILD_DIMENSIONS,
    LayerKind.ACCESS_METHOD: ("access_method",),
}
_PLAN_DIMENSIONS = {
    "threads": ("threads", "clients"),
    "collectors": ("collectors", "topology"),
    "nodes": ("nodes", "topology"),
}


def _candidates(node: str, kind: str, key: str) -> tuple[str, ...]:
    """Dimensions that may make this key differ."""
    if kind in (LayerKind.HARDWARE, LayerKind.KERNEL, LayerKind.STORAGE, AGENT):
        return (f"agent.{node}",)
    match kind:
        case LayerKind.BUILD:
            return ("initdb",) if key == "initdb" else _BUILD_DIMENSIONS
        case LayerKind.SETTINGS:
            return (f"setting.{key}", *_makers(key))
        case LayerKind.TOPOLOGY:
            return ("topology", f"topology.{key}")
        case LayerKind.HOST:
            return (f"host.{key.partition('.')[0]}", f"agent.{node}")
        case LayerKind.CLIENT:
            return _CLIENT_DIMENSIONS.get(key, _BUILD_DIMENSIONS)
        case LayerKind.DATA:
            return _DATA_DIMENSIONS.get(key, (key, "workload"))
        case LayerKind.TOOL:
            return (*_script_dimensions(key), f"agent.{node}")
    return _plan_dimensions(key) if kind == PLAN else _WHOLE_LAYERS.get(kind, ())


def _plan_dimensions(dimension: str) -> tuple[str, ...]:
    if dimension in BUILDS:
        return _BUILD_DIMENSIONS
    if dimension.startswith(("topology.", "agent.")):
        return dimension, "topology"
    return _PLAN_DIMENSIONS.get(dimension, (dimension,))


def _script_dimensions(tool: str) -> tuple[str, ...]:
    """A script's checksum follows from what the plan chose of the workload."""
    return ("workload", "text", "setup", "script", "form") if tool.endswith("SHA-256") else ()


def _makers(setting: str) -> tuple[str, ...]:
    makers = []
    if matches(setting, OF_INITDB):
        makers.append("initdb")
    if matches(setting, OF_TOPOLOGY):
        makers.append("topology")
    if setting == "default_table_access_method":
        makers.append("access_method")
    return tuple(makers)
