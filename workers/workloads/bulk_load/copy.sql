-- Standard input into one table. :skipping: in the transaction that empties it, so that wal_level = minimal writes no WAL.
\set step copy
-- The one way to name the table of \copy by a variable; the names are this folder's own.
\set copy '\\copy ' :table ' FROM pstdin'
\set edge begin
\ir mark.sql
\if :skipping
BEGIN;
TRUNCATE :"table";
\endif
:copy
\set rows :ROW_COUNT
\if :skipping
COMMIT;
\endif
\set edge end
\ir mark.sql
\echo rows|:table|:rows
