\timing on
REINDEX (VERBOSE) INDEX foo_id;
