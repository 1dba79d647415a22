-- Of all attempts of the runs searched for: they may be few among many, which an order by time would have to pass by. What
-- counts is as in capabilities_newest.sql.
latest AS (
    SELECT checked.installation, checked.access_method, checked.agent,
        max(ARRAY[extract(epoch FROM checked.measured_at), checked.attempt_id]) AS attempt
    FROM results_run AS run
    JOIN results_checkedbuild AS checked ON checked.run_id = run.id
    JOIN results_trial AS trial ON trial.attempt_id = checked.attempt_id AND trial.state = 'done'
    WHERE {conditions} AND run.standing <> 'excluded' AND NOT run.private
        AND NOT EXISTS (SELECT FROM results_runimport WHERE run_id = run.id)
    GROUP BY checked.installation, checked.access_method, checked.agent, checked.capabilities
), newest AS (
    SELECT latest.installation, latest.access_method, latest.agent, checked.measured_at, checked.attempt_id
    FROM latest
    JOIN results_checkedbuild AS checked
        ON checked.attempt_id = latest.attempt[2]::bigint AND checked.access_method = latest.access_method
)
