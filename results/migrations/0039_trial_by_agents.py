from django.contrib.postgres.operations import AddIndexConcurrently
from django.db import migrations, models


class Migration(migrations.Migration):
    atomic = False
    dependencies = [("results", "0038_series_view")]
    operations = [
        AddIndexConcurrently(
            model_name="trial",
            index=models.Index(
                condition=models.Q(state="waiting"), fields=["agents", "run", "position"], name="trial_by_agents"
            ),
        ),
    ]
