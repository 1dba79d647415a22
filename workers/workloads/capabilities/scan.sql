SET enable_seqscan = on;
SET enable_indexscan = off;
SET enable_indexonlyscan = off;
SET enable_bitmapscan = off;
SET max_parallel_workers_per_gather = 0;
SET synchronize_seqscans = off;
