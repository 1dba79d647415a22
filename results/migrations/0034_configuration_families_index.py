from django.contrib.postgres.operations import AddIndexConcurrently
from django.db import migrations, models


class Migration(migrations.Migration):
    """Locks nothing: the index is made beside what goes on."""

    atomic = False
    dependencies = [("results", "0033_configuration_families")]

    operations = [
        AddIndexConcurrently(
            "configuration", models.Index(fields=["family", "run"], name="configuration_by_family")
        ),
    ]
