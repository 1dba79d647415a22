"""Agents: what each is and does, its clusters, what its builds can do, how much its values spread."""
