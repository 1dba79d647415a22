from django.db import migrations, models

# The levels of a configuration that its family shares, as texts. Followed, and so no part of it: the run and the
# server's version. The installation is what the plan calls it ('18'), not what that was on the day ('18.1').
FAMILY_LEVELS = """
CREATE FUNCTION family_levels(levels jsonb, dimensions jsonb) RETURNS jsonb
LANGUAGE sql IMMUTABLE PARALLEL SAFE
RETURN (
    SELECT jsonb_object_agg(key, coalesce(nullif(
        CASE jsonb_typeof(value)
            WHEN 'number' THEN trim_scale((value #>> '{}')::numeric)::text
            ELSE value #>> '{}'
        END, ''), 'default'))
    FROM jsonb_each(
        (levels || dimensions || jsonb_build_object(
            'installation', coalesce(levels ->> 'installation', dimensions ->> 'major')
        )) - ARRAY['run', 'version', 'major']
    )
)
"""
FAMILY_OF = """
CREATE FUNCTION family_of(levels jsonb, dimensions jsonb) RETURNS uuid
LANGUAGE sql IMMUTABLE PARALLEL SAFE
RETURN md5(family_levels(levels, dimensions)::text)::uuid
"""


class Migration(migrations.Migration):
    """Writes results_configuration anew, under a lock that nobody reads it through: 0.1 ms a configuration."""

    dependencies = [("results", "0032_report_languages")]

    operations = [
        migrations.RunSQL(FAMILY_LEVELS, "DROP FUNCTION family_levels(jsonb, jsonb)"),
        migrations.RunSQL(FAMILY_OF, "DROP FUNCTION family_of(jsonb, jsonb)"),
        migrations.AddField(
            "configuration",
            "family",
            models.GeneratedField(
                db_persist=True,
                expression=models.Func("levels", "dimensions", function="family_of"),
                output_field=models.UUIDField(),
            ),
        ),
    ]
