-- One statement between two marks.
\set edge begin
\ir mark.sql
:statement;
\set edge end
\ir mark.sql
