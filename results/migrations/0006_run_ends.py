from django.db import migrations, models

# What is known of runs that ended before: who cancelled a run is in the audit log. A run whose trials were retried after
# that was called finished, and so was one of which no trial was done.
ENDS = [
    """
    UPDATE results_run AS run SET cancelled_at = entry.at
    FROM (SELECT object, max(at) AS at FROM results_auditentry WHERE verb = 'cancel run' GROUP BY object) AS entry
    WHERE entry.object = 'run ' || run.id
    """,
    """
    UPDATE results_run AS run SET state = CASE
        WHEN trial.cancelled AND (run.cancelled_at IS NOT NULL OR NOT (trial.done OR trial.failed)) THEN 'cancelled'
        WHEN trial.failed AND NOT trial.done THEN 'failed'
        ELSE 'finished'
    END
    FROM (
        SELECT
            run_id, bool_or(state = 'done') AS done, bool_or(state = 'failed') AS failed,
            bool_or(state = 'cancelled') AS cancelled
        FROM results_trial
        GROUP BY run_id
    ) AS trial
    WHERE trial.run_id = run.id AND run.state = 'finished'
    """,
    "UPDATE results_run SET cancelled_at = ended_at WHERE state = 'cancelled' AND cancelled_at IS NULL",
]


class Migration(migrations.Migration):

    dependencies = [
        ('results', '0005_duration_of_a_part'),
    ]

    operations = [
        migrations.AddField(
            model_name='run',
            name='cancelled_at',
            field=models.DateTimeField(blank=True, null=True),
        ),
        migrations.RunSQL(ENDS, migrations.RunSQL.noop, elidable=True),
    ]
