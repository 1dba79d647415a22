"""By which network somebody is counted."""

from __future__ import annotations

import pytest

from results.domain.ip_addresses import UNREADABLE, network_of


@pytest.mark.parametrize(
    ("text", "network"),
    [
        ("192.0.2.1", "192.0.2.1/32"),
        ("192.0.2.1:5678", "192.0.2.1/32"),
        ("::ffff:192.0.2.1", "192.0.2.1/32"),
        ("[::ffff:192.0.2.1]:5678", "192.0.2.1/32"),
        ("64:ff9b::192.0.2.1", "192.0.2.1/32"),
        ("::ffff:0:192.0.2.1", "192.0.2.1/32"),
        ("2002:c000:201:7::1", "192.0.2.1/32"),
        ("::1", "::/64"),
        ("[::1]:5678", "::/64"),
        ("[::1]", "::/64"),
        ("2001:db8::ffff", "2001:db8::/64"),
        ("2001:db8:0:1::1", "2001:db8:0:1::/64"),
        ("fe80::1%eth0", "fe80::/64"),
        ("", UNREADABLE),
        ("unknown", UNREADABLE),
        ("_hidden7", UNREADABLE),
        ("192.0.2.1:http", UNREADABLE),
        ("192.0.2.999:5678", UNREADABLE),
    ],
)
def test_an_address_is_counted_by_its_network(text: str, network: str) -> None:
    assert network_of(text) == network
