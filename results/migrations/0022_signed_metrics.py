"""Which metrics may be negative. Of what is stored, those that users named: their own commands' and their tables'."""

from django.db import migrations, models


class Migration(migrations.Migration):

    dependencies = [
        ('results', '0018_exported_by'),
    ]

    operations = [
        migrations.AddField(
            model_name='metric',
            name='signed',
            field=models.BooleanField(db_default=False, default=False),
        ),
        migrations.RunSQL(
            "UPDATE results_metric SET signed = true WHERE name LIKE 'own.%' OR help = 'Imported from a table.'",
            reverse_sql=migrations.RunSQL.noop,
        ),
    ]
