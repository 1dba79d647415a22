"""Which metric holds the parts of another, and what its value without a label is called."""

from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("results", "0009_clusters")]

    operations = [
        migrations.AddField("metric", "parts", models.CharField(blank=True, db_default="", default="", max_length=63)),
        migrations.AddField("metric", "whole", models.CharField(blank=True, db_default="", default="", max_length=63)),
    ]
