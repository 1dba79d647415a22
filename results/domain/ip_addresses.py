"""What an IP address stands for: the IPv4 address inside an IPv6 one, and the network by which somebody is counted."""

from __future__ import annotations

import re
from ipaddress import IPv4Address, IPv6Address, IPv6Network, ip_address

UNREADABLE = "unreadable"
_WITH_PORT = re.compile(r"\[(?P<ipv6>[^]]+)\](:\d+)?|(?P<ipv4>[\d.]+):\d+")
# RFC 6052 and RFC 2765 (translated), RFC 4291 (compatible): the last 32 bits are the IPv4 address.
_TRANSLATED = (IPv6Network("64:ff9b::/96"), IPv6Network("::ffff:0:0:0/96"))
_COMPATIBLE = IPv6Network("::/96")


def network_of(text: str) -> str:
    """Return the network by which an address is counted: an IPv4 address; the /64 of an IPv6 one, in which a host has
    as many addresses as it likes. All addresses that cannot be read are one network.

    text: '192.0.2.1', '2001:db8::1', '::ffff:192.0.2.1'; also with a port, as some proxies write: '[2001:db8::1]:443'
    """
    match = _WITH_PORT.fullmatch(text)
    try:
        address = ip_address((match["ipv6"] or match["ipv4"]) if match else text)
    except ValueError:
        return UNREADABLE
    if isinstance(address, IPv6Address):
        address = ipv4_inside(address) or address
    if isinstance(address, IPv4Address):
        return f"{address}/32"
    return str(IPv6Network((int(address), 64), strict=False))


def ipv4_inside(address: IPv6Address) -> IPv4Address | None:
    """Return the IPv4 address that an IPv6 one leads to, by mapping, tunnel or translation; None for another."""
    is_compatible = address in _COMPATIBLE and int(address) > 1  # :: and ::1 are IPv6's own
    if is_compatible or any(address in network for network in _TRANSLATED):
        return IPv4Address(int(address) & 0xFFFFFFFF)
    return address.ipv4_mapped or address.sixtofour or (address.teredo[1] if address.teredo else None)
