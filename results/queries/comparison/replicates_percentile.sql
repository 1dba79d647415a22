-- One percentile of every trial, computed before; see percentiles.py.
WITH measured AS (
    SELECT attempt_id, '' AS node, label, value
    FROM unnest(%(counted)s::bigint[], %(labels)s::text[], %(percentiles)s::float8[]) AS of_trial (attempt_id, label, value)
)
