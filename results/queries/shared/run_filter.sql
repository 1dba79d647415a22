-- The runs that a search finds, the newest first.
SELECT run.id, run.standing FROM results_run AS run WHERE {conditions} ORDER BY run.id DESC
