-- Has the server tell this session of every transaction that begins or ends on its behalf: also those of its parallel
-- workers, of which each ends one. That is a few messages a query, none a row.
SET lc_messages = 'C';
\set SHOW_CONTEXT always
SET client_min_messages = debug5;
