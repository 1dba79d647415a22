"""What pgpool-II counts: statements sent to each server, hits in its query cache."""
