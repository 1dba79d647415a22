"""pgpool-II, run by a topology and queried by a collector: its program, its SHOW commands, its failover."""
