"""What runs count for, and their tags. Runs that there are keep their place in every view: they are kept."""

import django.contrib.postgres.fields
from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("results", "0012_client_overhead")]

    operations = [
        migrations.AddField("run", "standing", models.CharField(db_default="kept", default="kept", max_length=12)),
        migrations.AlterField(
            "run", "standing", models.CharField(db_default="exploratory", default="exploratory", max_length=12)
        ),
        migrations.AddField(
            "run",
            "tags",
            django.contrib.postgres.fields.ArrayField(models.CharField(max_length=32), db_default=[], default=list),
        ),
        migrations.AddField("run", "archived", models.BooleanField(db_default=False, default=False)),
    ]
