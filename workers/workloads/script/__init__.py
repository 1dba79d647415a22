"""Your own: pgbench scripts, a folder of queries, or a command on the agent."""
