"""How the servers of a topology are reached: by Unix socket within one machine, by TCP and password between two."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

from results.domain.errors import VerifyError
from workers.interfaces import Stage
from workers.postgres import password
from workers.postgres.configuration import access_line
from workers.remote.address import Address

LOOPBACK = "127.0.0.1"


def listening(stage: Stage, node: str, peers: Iterable[str] = (), connection: str = "auto") -> tuple[str, list[str]]:
    """listen_addresses ('' = Unix socket alone) and the further lines of pg_hba.conf of one node's server. peers: nodes
    that connect to it as well, as by replication. connection: auto, socket, tcp. Raises VerifyError for a socket
    between two machines."""
    server = stage.agents[node].address
    version = stage.installation(node).version_num
    clients = [agent.address for agent in stage.clients]
    others = [stage.agents[peer].address for peer in peers]
    away = [address for address in (*clients, *others) if address.name != server.name]
    if away and connection == "socket":
        raise VerifyError(
            f"There is no Unix socket between {away[0].name} and {server.name}.",
            where="topology.connection",
            why="The plan asks for the connection by socket, and its client and its server are two machines.",
            todo="Set connection to tcp or auto, or name one agent for both roles.",
        )
    if away:
        hosts = dict.fromkeys(address.host for address in (*clients, *others))
        lines = [access_line(host, version) for host in hosts]
        return "*", lines + [access_line(host, version, "replication") for host in _hosts(others)]
    return (LOOPBACK, [access_line(LOOPBACK, version)]) if connection == "tcp" else ("", [])


async def hand_out(stage: Stage, node: str, source: str = "") -> None:
    """Gives every client's agent the password of a node's server, which listens. source: the node whose cluster keeps
    the password, where the node has its data from there. Raises CommandError."""
    server = stage.servers[node]
    for client in stage.clients:
        file = stage.password_file(client, node)
        await password.hand_to(client, stage.servers[source or node], file, port=server.port)
    stage.servers[node] = replace(server, password_file=stage.password_file(stage.client, node))


def _hosts(addresses: Iterable[Address]) -> list[str]:
    return list(dict.fromkeys(address.host for address in addresses))
