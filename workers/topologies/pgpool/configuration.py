"""The text of pgpool-II's configuration files. Pure."""

from __future__ import annotations

import ipaddress
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from results.domain.kinds.parameters import Scalar
from workers.postgres.configuration import quote_value
from workers.replication.failover_parameters import failover_options

from .spec import HEALTH_CHECKS, OFF, STATEMENT, STREAMING


@dataclass(frozen=True)
class Backend:
    """A server as pgpool-II reaches it.

    host: a name, an address, or the directory of its socket.
    """

    node: str
    host: str
    port: int
    data_dir: str


@dataclass(frozen=True)
class Location:
    """The directories and the port of one pgpool-II.

    directory: of its files.
    sockets: directory of its Unix sockets.
    listen: its listen_addresses; '' where it listens on its socket alone.
    """

    directory: str
    sockets: str
    listen: str
    port: int


def expected_settings(parameters: Mapping[str, Scalar]) -> dict[str, str]:
    """Return the settings that the topology's parameters decide, with the values that PGPOOL SHOW prints."""
    switches = {
        "load_balance_mode": parameters["load_balance"] != OFF,
        "statement_level_load_balance": parameters["load_balance"] == STATEMENT,
        "connection_cache": parameters["connection_cache"],
        "memory_cache_enabled": parameters["query_cache"],
    }
    mode = {"backend_clustering_mode": str(parameters["mode"])}
    return mode | {name: "on" if switch else "off" for name, switch in switches.items()}


def pgpool_conf(
    parameters: Mapping[str, Scalar], location: Location, backends: Sequence[Backend], *, children: int, user: str
) -> str:
    """Return the text of pgpool.conf. Whatever is not in it has pgpool-II's own default."""
    values: dict[str, str | int] = {
        **expected_settings(parameters),
        "memqcache_method": "shmem",
        "memqcache_oiddir": f"{location.directory}/oid",
        "num_init_children": children,
        "max_pool": 1,  # all clients are one user at one database
        "listen_addresses": location.listen,
        "port": location.port,
        "socket_dir": location.sockets,  # up to 4.3; from 4.4 on it has the next name
        "unix_socket_directories": location.sockets,
        "pcp_listen_addresses": "",
        "pcp_socket_dir": location.sockets,
        "pid_file_name": f"{location.directory}/pid",
        "logdir": location.directory,
        "log_destination": "stderr",
        "enable_pool_hba": "on",
        "pool_passwd": f"{location.directory}/pool_passwd",
        "sr_check_user": user,
        "sr_check_database": "postgres",
    }
    if failover_options(parameters):
        values |= _failover(parameters, location, user)
    for number, backend in enumerate(backends):
        values |= {
            f"backend_hostname{number}": backend.host,
            f"backend_port{number}": backend.port,
            f"backend_weight{number}": 1,
            f"backend_data_directory{number}": backend.data_dir,
            f"backend_application_name{number}": backend.node,
        }
    literals = {name: str(value) if isinstance(value, int) else quote_value(value) for name, value in values.items()}
    return "".join(f"{name} = {value}\n" for name, value in literals.items())


def _failover(parameters: Mapping[str, Scalar], location: Location, user: str) -> dict[str, str | int]:
    """Return the settings of health checks and of the command at failover."""
    values = {parameter.name: parameters[parameter.name] for parameter in HEALTH_CHECKS}
    checks = {
        name: int(value) if not isinstance(value, bool) else "on" if value else "off" for name, value in values.items()
    }
    command = f'sh "{location.directory}/failover.sh" %d %P %m "%H" %r'
    return {**checks, "health_check_user": user, "health_check_database": "postgres", "failover_command": command}


def pool_hba(hosts: Iterable[str]) -> str:
    """Return the text of pool_hba.conf: the agent's account by the private socket, `hosts` by password."""
    return "".join(["local all all trust\n", *(f"host all all {_address(host)} scram-sha-256\n" for host in hosts)])


def pool_passwd(user: str, password: str) -> str:
    """Return the text of pool_passwd. pgpool-II authenticates clients and itself with it: scram-sha-256 needs the
    password itself."""
    return f"{user}:TEXT{password}\n"


def roles(mode: str, count: int) -> list[str]:
    """Return the role that pgpool-II shows for each server, in their order, when all are up."""
    first, other = ("primary", "standby") if mode == STREAMING else ("main", "replica")
    return [first, *[other] * (count - 1)]


def _address(host: str) -> str:
    try:
        return str(ipaddress.ip_network(host))
    except ValueError:
        return host
