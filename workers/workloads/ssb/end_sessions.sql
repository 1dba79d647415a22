-- A client that is gone does not end its query: the server would go on with it, into the next trial.
SELECT count(pg_terminate_backend(pid)) AS ended FROM pg_stat_activity WHERE application_name LIKE :'name'
