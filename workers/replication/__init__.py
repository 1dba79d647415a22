"""Replication as several topologies have it: standbys cloned and awaited; a primary lost, a standby promoted."""
