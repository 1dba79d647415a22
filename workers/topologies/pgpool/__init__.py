"""Servers behind pgpool-II, or the same servers without it."""
