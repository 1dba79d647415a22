-- What is asked of a run alone: the counts are of public runs, of any day.
run.publication_id IS NULL AND NOT run.private
AND (%(since)s::date IS NULL OR (run.started_at AT TIME ZONE 'UTC')::date >= %(since)s)
AND (%(until)s::date IS NULL OR (run.started_at AT TIME ZONE 'UTC')::date <= %(until)s)
