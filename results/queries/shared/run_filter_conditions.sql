-- What a run must be that a search finds. Published and imported figures have neither plan, agent nor date.
(
    %(plans)s::text[] = '{}'
    OR (
        run.publication_id IS NULL
        AND coalesce((SELECT name FROM results_plan WHERE id = run.plan_id), run.name) = ANY(%(plans)s)
    )
)
AND (
    %(agents)s::text[] = '{}'
    OR run.agents && ARRAY(SELECT id FROM results_agent WHERE name = ANY(%(agents)s))
)
AND (%(tags)s::text[] = '{}' OR run.tags::text[] && %(tags)s::text[])
AND (%(workloads)s::text[] = '{}' OR run.workload = ANY(%(workloads)s))
AND (%(state)s = '' OR run.state = %(state)s)
AND (%(standing)s = '' OR run.standing = %(standing)s)
AND (%(archived)s = 'any' OR run.archived = (%(archived)s = 'yes'))
AND (%(name)s = '' OR strpos(lower(run.name), lower(%(name)s)) > 0)
AND (%(since)s::date IS NULL OR (run.started_at AT TIME ZONE 'UTC')::date >= %(since)s)
AND (%(until)s::date IS NULL OR (run.started_at AT TIME ZONE 'UTC')::date <= %(until)s)
