"""Room for the longest name of a token with the longest name of its owner."""

from __future__ import annotations

from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("results", "0025_metrics_of_private_runs")]

    operations = [
        migrations.AlterField("auditentry", "actor", models.CharField(max_length=300)),
        migrations.AlterField("runimport", "actor", models.CharField(max_length=300)),
    ]
