"""Which Teiten handed on a run that a third one had measured. No run that there is was handed on so."""

from django.db import migrations, models


class Migration(migrations.Migration):

    dependencies = [
        ('results', '0017_imports'),
    ]

    operations = [
        migrations.AddField(
            model_name='runimport',
            name='exported_by',
            field=models.JSONField(null=True),
        ),
    ]
