CREATE INDEX lineorder_custkey ON lineorder (lo_custkey);
CREATE INDEX lineorder_partkey ON lineorder (lo_partkey);
CREATE INDEX lineorder_suppkey ON lineorder (lo_suppkey);
CREATE INDEX lineorder_orderdate ON lineorder (lo_orderdate);
