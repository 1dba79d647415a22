-- A moment by the server's clock (µs since 1970) and the bytes of WAL until then. :edge is begin or end.
SELECT :'edge', :'step', :'table', (extract(epoch FROM clock_timestamp()) * 1000000)::bigint,
       pg_current_wal_insert_lsn() - '0/0'::pg_lsn;
