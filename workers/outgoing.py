"""HTTP connections to addresses that users name: never to this machine or its link, where no password may be asked for.

Metadata services of clouds, for one, answer at a link-local address whoever asks from the machine."""

from __future__ import annotations

import socket
from http.client import HTTPConnection, HTTPSConnection
from ipaddress import IPv4Address, IPv6Address, IPv6Network, ip_address, ip_network
from typing import Any

from django.conf import settings

_TRANSLATED, _COMPATIBLE = IPv6Network("64:ff9b::/96"), IPv6Network("::/96")
_FORBIDDEN = (ip_network("0.0.0.0/8"), ip_network("fd00:ec2::254/128"))  # the second: metadata of a cloud


class ForbiddenAddressError(RuntimeError):
    """A name that leads to an address that is not to be reached."""


def connect(address: tuple[str, int], *args: Any, **kwargs: Any) -> socket.socket:
    """Connect to the first of a name's addresses that answers; each is looked at and used as it was resolved, so that
    a name that changes meanwhile leads nowhere else.

    Raises ForbiddenAddressError, OSError."""
    host, port = address
    failure: OSError = OSError(f"{host} has no address")
    for *_, found in socket.getaddrinfo(host, port, type=socket.SOCK_STREAM):
        where = str(found[0])
        if host not in settings.TEITEN_WEBHOOK_HOSTS and is_forbidden(where):
            raise ForbiddenAddressError(f"{host} is at {where}.")
        try:
            return socket.create_connection((where, port), *args, **kwargs)
        except OSError as error:
            failure = error
    raise failure


def is_forbidden(text: str) -> bool:
    """Return whether it is an address of this machine, of its link, or of nobody."""
    address = ip_address(text)
    if isinstance(address, IPv6Address):
        address = _carried(address) or address
    special = address.is_loopback or address.is_link_local or address.is_unspecified or address.is_multicast
    return special or any(address in network for network in _FORBIDDEN if network.version == address.version)


def _carried(address: IPv6Address) -> IPv4Address | None:
    """Return the IPv4 address that an IPv6 one leads to, by mapping, tunnel or translation; None for another."""
    if address in _TRANSLATED or (address in _COMPATIBLE and int(address) > 1):
        return IPv4Address(int(address) & 0xFFFFFFFF)
    return address.ipv4_mapped or address.sixtofour or (address.teredo[1] if address.teredo else None)


class HttpConnection(HTTPConnection):
    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self._create_connection = connect


class HttpsConnection(HTTPSConnection):
    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self._create_connection = connect
