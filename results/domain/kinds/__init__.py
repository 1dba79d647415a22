"""What workloads, topologies and collectors declare, and what plans may set."""
