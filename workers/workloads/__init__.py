"""One folder a kind, found by `workers.registry`."""
