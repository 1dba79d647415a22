"""One server, and a client on the same agent or another."""
