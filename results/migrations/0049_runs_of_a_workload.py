"""The newest runs of a workload are found without passing by those of others. Runs can be read meanwhile."""

from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("results", "0048_keys_of_runs")]

    operations = [
        migrations.AddIndex("run", models.Index(fields=["workload", "id"], name="run_by_workload")),
    ]
