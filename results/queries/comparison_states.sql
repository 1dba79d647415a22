-- How many trials of the selection are in which state.
SELECT trial.state, count(*) AS trials
FROM chosen
JOIN results_trial AS trial ON trial.configuration_id = chosen.id
GROUP BY trial.state
