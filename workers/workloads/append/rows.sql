-- Counted row by row, whatever the statistics say.
SELECT count(*) FROM append_rows;
