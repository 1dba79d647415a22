"""Shared by topologies with replication: clone and await standbys, lose the primary, promote a standby."""
