\timing on
ANALYZE (VERBOSE) :"table";
