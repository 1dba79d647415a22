ANALYZE customer;
ANALYZE supplier;
ANALYZE part;
ANALYZE date;
ANALYZE lineorder;
