"""Every transaction's latency, from pgbench's log, folded on the agent into exact counts."""
