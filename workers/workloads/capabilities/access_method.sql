-- [definition]
SELECT a.amname AS name, n.nspname AS schema, p.proname AS handler, coalesce(e.extname, '') AS extension
  FROM pg_am AS a
  JOIN pg_proc AS p ON p.oid = a.amhandler
  JOIN pg_namespace AS n ON n.oid = p.pronamespace
  LEFT JOIN pg_depend AS d ON d.classid = 'pg_am'::regclass AND d.objid = a.oid AND d.deptype = 'e'
  LEFT JOIN pg_extension AS e ON e.oid = d.refobjid
 WHERE a.amtype = 't' AND a.amname = coalesce(nullif(:'name', ''), current_setting('default_table_access_method'))
-- [make]
SELECT NOT EXISTS (SELECT FROM pg_am WHERE amname = :'name') AS missing, :'extension' <> '' AS by_extension \gset
\if :missing
    \if :by_extension
        CREATE EXTENSION IF NOT EXISTS :"extension" CASCADE;
    \else
        CREATE ACCESS METHOD :"name" TYPE TABLE HANDLER :"schema".:"handler";
    \endif
\endif
-- [database]
CREATE DATABASE :"database" TEMPLATE template1;
ALTER DATABASE :"database" SET default_table_access_method = :'name';
-- [database before 12]
CREATE DATABASE :"database" TEMPLATE template1;
-- [rows]
SELECT t::text FROM :"table" AS t;
\echo ~ end ~
-- [others]
SELECT c.relname || ' is stored by ' || coalesce(a.amname, 'nothing')
  FROM pg_class AS c
  LEFT JOIN pg_am AS a ON a.oid = c.relam
 WHERE c.relkind IN ('r', 'm') AND c.relnamespace = 'public'::regnamespace
   AND a.amname IS DISTINCT FROM :'name'::name;
-- [drop]
SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = :'database' \g /dev/null
DROP DATABASE IF EXISTS :"database";
