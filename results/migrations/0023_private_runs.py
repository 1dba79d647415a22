"""Runs may be private. None that there is was."""

from django.db import migrations, models


class Migration(migrations.Migration):

    dependencies = [
        ("results", "0022_uploads_and_signed_metrics"),
    ]

    operations = [
        migrations.AddField(
            model_name="run",
            name="private",
            field=models.BooleanField(db_default=False, default=False),
        ),
        migrations.AddIndex(
            model_name="run",
            index=models.Index(condition=models.Q(("private", True)), fields=["created_by"], name="run_private"),
        ),
        migrations.AddConstraint(
            model_name="run",
            constraint=models.CheckConstraint(
                condition=models.Q(("private", True), ("standing", "kept"), _negated=True), name="no_private_run_kept"
            ),
        ),
    ]
