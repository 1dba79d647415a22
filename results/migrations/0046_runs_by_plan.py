from django.contrib.postgres.operations import AddIndexConcurrently
from django.db import migrations, models
from django.db.models.deletion import SET_NULL

WITHOUT_ORDER = "results_run_plan_id_da0cfcaf"  # Django's name of a foreign key's own index, the same everywhere


class Migration(migrations.Migration):
    """The newest runs of a plan are found without its others. Locks nothing: the index is made, and the one that it
    replaces dropped, beside what goes on."""

    atomic = False
    dependencies = [("results", "0045_detached_ranges")]

    operations = [
        AddIndexConcurrently("run", models.Index(fields=["plan", "id"], name="run_by_plan")),
        migrations.SeparateDatabaseAndState(
            state_operations=[
                migrations.AlterField(
                    "run",
                    "plan",
                    models.ForeignKey(
                        null=True, on_delete=SET_NULL, related_name="runs", db_index=False, to="results.plan"
                    ),
                )
            ],
            database_operations=[
                migrations.RunSQL(
                    f"DROP INDEX CONCURRENTLY IF EXISTS {WITHOUT_ORDER}",
                    f"CREATE INDEX CONCURRENTLY {WITHOUT_ORDER} ON results_run (plan_id)",
                )
            ],
        ),
    ]
