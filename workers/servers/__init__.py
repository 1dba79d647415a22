"""Shared by topologies: start, reach and stop servers, and compare their data."""
