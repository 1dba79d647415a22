"""pgbench as a tool, shared by every workload that drives it: versions, options, its tables, running it, reading what
it printed.

Pure: version, parameters, metrics, report, progress, background_report, parse.
Acting on agents: run, background, detached, tables.
"""
