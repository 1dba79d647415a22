CREATE FOREIGN TABLE :"schema".:"part" PARTITION OF :"schema".teiten_shared FOR VALUES :bounds
  SERVER :"shard" OPTIONS (schema_name :'schema', table_name :'relation');
