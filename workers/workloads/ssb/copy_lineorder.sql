COPY lineorder (
    lo_orderkey, lo_custkey, lo_orderdate, lo_orderpriority, lo_shippriority, lo_ordtotalprice, lo_linenumber,
    lo_quantity, lo_discount, lo_tax, lo_shipmode, lo_extendedprice, lo_revenue, lo_supplycost, lo_partkey, lo_suppkey,
    lo_commitdate
) FROM STDIN
