"""Files of other programs that users import: whose they are stands beside the tables of reports."""

import django.db.models.deletion
from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("results", "0016_imported_runs")]

    operations = [
        migrations.AddField(
            "publication", "program", models.CharField(blank=True, db_default="", default="", max_length=40)
        ),
        migrations.AddField("publication", "note", models.TextField(blank=True, db_default="", default="")),
        migrations.AddField("publication", "measured_on", models.DateField(null=True)),
        migrations.CreateModel(
            name="ImportedFile",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("name", models.CharField(max_length=255)),
                ("sha256", models.CharField(max_length=64, unique=True)),
                ("size_bytes", models.BigIntegerField()),
                (
                    "publication",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="files",
                        to="results.publication",
                    ),
                ),
            ],
            options={"ordering": ["publication", "name"]},
        ),
    ]
