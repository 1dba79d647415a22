BEGIN;
DROP TABLE :name;
ALTER TABLE :"schema".teiten_shared RENAME TO :"relation";
COMMIT;
ANALYZE :name;
