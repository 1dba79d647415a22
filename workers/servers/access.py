"""Access to the servers of a topology: by Unix socket within one machine, by TCP and password between two."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

from results.domain.errors import VerifyError
from results.domain.messages import gettext_lazy as _
from workers.interfaces import Stage
from workers.postgres import password
from workers.postgres.configuration import access_line
from workers.remote.address import Address

LOOPBACK = "127.0.0.1"


def listening(stage: Stage, node: str, peers: Iterable[str] = (), connection: str = "auto") -> tuple[str, list[str]]:
    """Return listen_addresses ('' for the Unix socket alone) and further lines of pg_hba.conf for a node's server.

    Raises VerifyError for a socket between two machines.

    peers: nodes that connect to it beside the clients, as by replication
    connection: auto, socket or tcp
    """
    server = stage.agents[node].address
    version = stage.installation(node).version_num
    clients = [agent.address for agent in stage.clients]
    peer_addresses = [stage.agents[peer].address for peer in peers]
    remote_addresses = [address for address in (*clients, *peer_addresses) if address.name != server.name]
    if remote_addresses and connection == "socket":
        raise VerifyError(
            _(
                "There is no Unix socket between {agent} and {other}.",
                agent=remote_addresses[0].name,
                other=server.name,
            ),
            where="topology.connection",
            why=_("The plan asks for a connection by socket, but its client and its server are on two machines."),
            todo=_("Set connection to tcp or auto, or name one agent for both roles."),
        )
    if remote_addresses:
        hosts = dict.fromkeys(address.host for address in (*clients, *peer_addresses))
        lines = [access_line(host, version) for host in hosts]
        return "*", lines + [access_line(host, version, "replication") for host in _hosts(peer_addresses)]
    return (LOOPBACK, [access_line(LOOPBACK, version)]) if connection == "tcp" else ("", [])


async def hand_out(stage: Stage, node: str, source: str = "") -> None:
    """Give every client's agent the password of a node's server, which listens on TCP. Raises CommandError.

    source: the node whose cluster has the password, where this node's data are a copy of it
    """
    server = stage.servers[node]
    for client in stage.clients:
        file = stage.password_file(client, node)
        await password.hand_to(client, stage.servers[source or node], file, port=server.port)
    stage.servers[node] = replace(server, password_file=stage.password_file(stage.client, node))


def _hosts(addresses: Iterable[Address]) -> list[str]:
    return list(dict.fromkeys(address.host for address in addresses))
