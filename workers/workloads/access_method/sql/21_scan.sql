-- One column of every row, read in this session alone. One execution gives time and blocks: a second one would find
-- the caches filled. TIMING OFF: no clock is read for each row; the total is the server's own.
SET max_parallel_workers_per_gather = 0;
EXPLAIN (ANALYZE, VERBOSE, BUFFERS, TIMING OFF, FORMAT JSON) SELECT :"column" FROM :"table";
