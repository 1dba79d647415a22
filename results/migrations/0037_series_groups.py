"""Tables for series that share their times, and for the scripts that commands share; `results_commands` puts commands
together. Foreign keys that another index begins with lose their own. The next migration moves the series."""

import django.contrib.postgres.fields
import django.db.models.deletion
from django.db import migrations, models

import results.models.measurements

COMMANDS = """
CREATE FUNCTION results_commands(stored jsonb) RETURNS jsonb LANGUAGE sql STABLE AS $$
    -- The commands of an attempt as they ran: texts that are stored once are put in the place of their ids.
    SELECT coalesce(jsonb_agg(
        CASE jsonb_typeof(one -> 'command')
            WHEN 'array' THEN one || jsonb_build_object('command', (
                SELECT string_agg(coalesce(shared.text, piece #>> '{}'), '' ORDER BY position)
                FROM jsonb_array_elements(one -> 'command') WITH ORDINALITY AS pieces (piece, position)
                LEFT JOIN results_commandtext AS shared
                    ON shared.id = CASE jsonb_typeof(piece) WHEN 'number' THEN piece::bigint END
            ))
            ELSE one
        END ORDER BY number
    ), '[]')
    FROM jsonb_array_elements(stored) WITH ORDINALITY AS commands (one, number)
$$
"""
WHOLE = """
UPDATE results_attempt SET commands = results_commands(commands)
WHERE commands @? '$[*].command[*] ? (@.type() == "number")'
"""


def foreign_key(model, name, related_name, to, index):
    """Let go of the index of a foreign key, or make it again. Django would check the key again in every row."""
    column = f"results_{model} ({name}_id)"
    field = models.ForeignKey(
        db_index=False, on_delete=django.db.models.deletion.CASCADE, related_name=related_name, to=to
    )
    return migrations.SeparateDatabaseAndState(
        [migrations.RunSQL(f"DROP INDEX {index}", f"CREATE INDEX {index} ON {column}")],
        [migrations.AlterField(model_name=model, name=name, field=field)],
    )


class Migration(migrations.Migration):
    dependencies = [("results", "0036_stacks_and_blocks")]

    operations = [
        migrations.CreateModel(
            name="CommandText",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("hash", models.CharField(max_length=64, unique=True)),
                ("text", models.TextField()),
            ],
        ),
        migrations.RunSQL([COMMANDS], [WHOLE, "DROP FUNCTION results_commands"]),
        migrations.CreateModel(
            name="SeriesGroup",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                (
                    "run",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE, related_name="+", to="results.run"
                    ),
                ),
                (
                    "attempt",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="series_groups",
                        to="results.attempt",
                    ),
                ),
                ("node", models.CharField(max_length=63)),
                ("start_s", models.FloatField()),
                ("step_s", models.FloatField()),
                ("length", models.IntegerField()),
                (
                    "times_s",
                    django.contrib.postgres.fields.ArrayField(
                        base_field=results.models.measurements.RealField(), null=True, size=None
                    ),
                ),
                (
                    "names",
                    django.contrib.postgres.fields.ArrayField(base_field=models.CharField(max_length=63), size=None),
                ),
                (
                    "labels",
                    django.contrib.postgres.fields.ArrayField(base_field=models.CharField(max_length=200), size=None),
                ),
                (
                    "units",
                    django.contrib.postgres.fields.ArrayField(base_field=models.CharField(max_length=20), size=None),
                ),
                (
                    "values",
                    django.contrib.postgres.fields.ArrayField(
                        base_field=results.models.measurements.RealField(), size=None
                    ),
                ),
            ],
            options={"ordering": ["attempt", "id"]},
        ),
        foreign_key("document", "attempt", "documents", "results.attempt", "results_document_attempt_id_f9a34e89"),
        foreign_key("histogram", "attempt", "histograms", "results.attempt", "results_histogram_attempt_id_572a649e"),
        foreign_key("layeruse", "attempt", "layer_uses", "results.attempt", "results_layeruse_attempt_id_4e1a0316"),
        foreign_key("measurement", "attempt", "measurements", "results.attempt", "results_measurement_attempt_id_5bce1bef"),
        foreign_key("measurement", "run", "+", "results.run", "results_measurement_run_id_e80f8a91"),
    ]
