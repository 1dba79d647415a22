from django.db import migrations

# TPC-B of the access-method profile runs for the plan's duration: a dimension of what was measured before as well.
PARTS = """
UPDATE results_configuration
SET dimensions = dimensions || jsonb_build_object('tpcb.duration_s', spec -> 'duration_s')
WHERE spec ->> 'workload' = 'access_method' AND spec -> 'parameters' -> 'tpcb' = 'true'
"""
BACK = """
UPDATE results_configuration SET dimensions = dimensions - 'tpcb.duration_s' WHERE dimensions ? 'tpcb.duration_s'
"""


class Migration(migrations.Migration):

    dependencies = [
        ('results', '0004_host_factors'),
    ]

    operations = [
        migrations.RunSQL(PARTS, BACK, elidable=True),
    ]
