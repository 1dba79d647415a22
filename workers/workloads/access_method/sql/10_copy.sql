BEGIN;
\timing on
\copy foo FROM 'rows'
COMMIT;
