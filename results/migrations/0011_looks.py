"""At how many blocks somebody added more to a run: looks that its verdicts have to pay for. From the audit log."""

from django.db import migrations, models


FROM_AUDIT = """
UPDATE results_run AS run
SET looks = added.looks
FROM (
    SELECT of_run.id, jsonb_agg(of_run.blocks - of_run.since ORDER BY of_run.entry) AS looks
    FROM (
        SELECT
            extended.id, extended.blocks, entry.id AS entry,
            sum((entry.detail ->> 'blocks')::integer) OVER (PARTITION BY extended.id ORDER BY entry.id DESC) AS since
        FROM results_run AS extended
        JOIN results_auditentry AS entry
            ON entry.verb = 'add blocks' AND entry.object = 'run ' || extended.id AND entry.detail ? 'blocks'
    ) AS of_run
    GROUP BY of_run.id
) AS added
WHERE added.id = run.id
"""


class Migration(migrations.Migration):
    dependencies = [("results", "0010_parts_and_prereleases")]

    operations = [
        migrations.AddField("run", "looks", models.JSONField(db_default=[], default=list)),
        migrations.RunSQL(FROM_AUDIT, migrations.RunSQL.noop),
    ]
