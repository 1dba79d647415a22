SET enable_seqscan = off;
SET enable_indexscan = on;
SET enable_indexonlyscan = on;
SET enable_bitmapscan = on;
SET max_parallel_workers_per_gather = 0;
