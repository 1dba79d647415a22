"""Which metrics only private runs have measured."""

from __future__ import annotations

from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("results", "0024_code_of_operators")]

    operations = [
        migrations.AddField(
            model_name="metric",
            name="private",
            field=models.BooleanField(db_default=False, default=False),
        ),
    ]
