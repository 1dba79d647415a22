-- Until when there are partitions, seconds from now on, how many, and the rows that are in them already.
SELECT (SELECT count(*) FROM pg_inherits WHERE inhparent = 'append_rows'::regclass) AS partitions,
       (SELECT extract(epoch FROM max(substring(pg_get_expr(relpartbound, pg_class.oid) FROM $$TO \('([^']+)'\)$$)
                                          ::timestamptz) - now())
          FROM pg_inherits JOIN pg_class ON pg_class.oid = inhrelid
         WHERE inhparent = 'append_rows'::regclass) AS seconds,
       (SELECT count(*) FROM append_rows) AS rows
