"""Agents over SSH: the only room that speaks it."""
