"""HTTP connections to addresses that users name: never to this machine or its link, where no password may be asked for,
nor to the metadata services of clouds, which answer whoever asks from the machine."""

from __future__ import annotations

import socket
from http.client import HTTPConnection, HTTPSConnection
from ipaddress import IPv4Address, IPv6Address, ip_address, ip_network
from typing import Any

from django.conf import settings

from results.domain.ip_addresses import ipv4_inside
from results.domain.messages import gettext_lazy as _
from results.own_addresses import is_own

_FORBIDDEN = tuple(
    ip_network(text)
    for text in (
        "0.0.0.0/8",  # this machine, and nobody
        "64:ff9b:1::/48",  # a translator of this network (RFC 8215), wherever it leads
        "::ffff:0:0:0/96",  # IPv4 by a translator of this network (RFC 2765)
        "100.100.100.200/32",  # metadata: Alibaba Cloud
        "168.63.129.16/32",  # Azure
        "fd00:ec2::254/128",  # AWS
        "fd20:ce::254/128",  # Google Cloud
    )
)


class ForbiddenAddressError(RuntimeError):
    """A name that leads to an address that is not to be reached."""


def connect(address: tuple[str, int], *args: Any, **kwargs: Any) -> socket.socket:
    """Connect to the first of a name's addresses that answers; each is looked at and used as it was resolved, so that
    a name that changes meanwhile leads nowhere else.

    Raises ForbiddenAddressError, OSError."""
    host, port = address
    failure: OSError = OSError(f"{host} has no address")
    is_allowed = host.lower() in {name.lower() for name in settings.TEITEN_WEBHOOK_HOSTS}
    for *_rest, found in socket.getaddrinfo(host, port, type=socket.SOCK_STREAM):
        where = str(found[0])
        if not is_allowed and is_forbidden(where):
            raise ForbiddenAddressError(_("{host} is at {address}.", host=host, address=where))
        try:
            return socket.create_connection((where, port), *args, **kwargs)
        except OSError as error:
            failure = error
    raise failure


def is_forbidden(text: str) -> bool:
    """Return whether it is an address of this machine, of its link, of nobody, or of a cloud's metadata service."""
    address = ip_address(text)
    inside = ipv4_inside(address) if isinstance(address, IPv6Address) else None
    return _is_forbidden(address) or (inside is not None and _is_forbidden(inside))


def _is_forbidden(address: IPv4Address | IPv6Address) -> bool:
    special = address.is_loopback or address.is_link_local or address.is_unspecified or address.is_multicast
    return special or any(address in network for network in _FORBIDDEN) or is_own(str(address))


class HttpConnection(HTTPConnection):
    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self._create_connection = connect


class HttpsConnection(HTTPSConnection):
    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self._create_connection = connect
