"""A cluster that Teiten did not build: load on a list of endpoints."""
