"""Which metric holds the parts of another, and what its value without a label is called. A beta, a development version
or a fork is a major version by itself, and no column of the release that it came before."""

from django.db import migrations, models


BY_ITSELF = """
UPDATE results_configuration
SET dimensions = jsonb_set(dimensions, '{major}', dimensions -> 'version')
WHERE dimensions ->> 'version' !~ '^[0-9.]+$' AND dimensions ? 'major'
"""


class Migration(migrations.Migration):
    dependencies = [("results", "0009_clusters")]

    operations = [
        migrations.AddField("metric", "parts", models.CharField(blank=True, db_default="", default="", max_length=63)),
        migrations.AddField("metric", "whole", models.CharField(blank=True, db_default="", default="", max_length=63)),
        migrations.RunSQL(BY_ITSELF, migrations.RunSQL.noop),
    ]
