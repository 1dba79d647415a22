"""Which IP addresses are this machine's own; of a container, the container's."""

from __future__ import annotations

import socket
from ipaddress import ip_address

_DOCUMENTATION = {socket.AF_INET: "192.0.2.1", socket.AF_INET6: "2001:db8::1"}  # nobody's (RFC 5737, RFC 3849)


def is_own(text: str, scope_id: int = 0) -> bool:
    """Return whether an IP address is this machine's.

    scope_id: the interface of a link-local IPv6 address"""
    family = socket.AF_INET6 if ":" in text else socket.AF_INET
    address = (text, 0, 0, scope_id) if family == socket.AF_INET6 else (text, 0)
    if not _can_bind(family, address):
        return False
    # Where net.ipv4.ip_nonlocal_bind or its twin of IPv6 is on, every address can be bound.
    return not _can_bind(family, (_DOCUMENTATION[family], 0)) or _is_source(family, address)


def _can_bind(family: socket.AddressFamily, address: tuple[object, ...]) -> bool:
    with socket.socket(family, socket.SOCK_STREAM) as probe:
        try:
            probe.bind(address)
        except OSError:
            return False
    return True


def _is_source(family: socket.AddressFamily, address: tuple[object, ...]) -> bool:
    """Return whether this machine would send from the very address to which it sends; nothing is sent."""
    host, _, *rest = address
    with socket.socket(family, socket.SOCK_DGRAM) as probe:
        try:
            probe.connect((host, 9, *rest))
        except OSError:
            return False
        return ip_address(probe.getsockname()[0]) == ip_address(str(host))
