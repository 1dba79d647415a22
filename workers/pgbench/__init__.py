"""pgbench, shared by every workload that runs it: versions, options, its tables, runs, parsers of its output.

`workers/workloads/pgbench` is the workload that offers pgbench with all its options.

Pure: version, program, parameters, metrics, report, progress, background_report, parse, several, service, restarts.
Acting on agents: run, background, detached, tables, surviving.
"""
