"""Agents over SSH; no other package speaks it."""
