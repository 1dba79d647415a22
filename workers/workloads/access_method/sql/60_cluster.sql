\timing on
CLUSTER VERBOSE foo USING foo_id;
