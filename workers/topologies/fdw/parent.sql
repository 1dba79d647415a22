-- What takes the table's place when its rows are on the shards.
CREATE TABLE :"schema".teiten_shared (LIKE :name INCLUDING DEFAULTS) PARTITION BY :method (:key);
