"""pgbench as a tool, shared by every workload that drives it: versions, options, its tables, running it, reading what
it printed. What a workload adds of its own lies in its folder; `workers/workloads/pgbench` is the one that offers
pgbench with all its options.

Pure: version, program, parameters, metrics, report, progress, background_report, parse, several, service, restarts.
Acting on agents: run, background, detached, tables, surviving.
"""
