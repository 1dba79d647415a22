"""gated: a collector that stops when it is let through."""
