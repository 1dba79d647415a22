-- What is really there, read from the table itself.
SET client_min_messages = warning;
CREATE EXTENSION IF NOT EXISTS pgstattuple;
SELECT row_to_json(found) FROM pgstattuple(:'table') AS found;
