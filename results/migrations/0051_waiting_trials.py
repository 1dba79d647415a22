"""The first trial that waits is found without passing by those before it that ended. Trials can be read meanwhile."""

from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("results", "0050_layers_of_environments")]

    operations = [
        migrations.AddIndex(
            "trial",
            models.Index(fields=["run", "position"], condition=models.Q(state="waiting"), name="trial_waiting"),
        ),
    ]
