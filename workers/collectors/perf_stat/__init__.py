"""What the processor did for the load: events counted by perf stat."""
