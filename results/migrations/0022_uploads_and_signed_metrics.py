"""Uploads by their Idempotency-Key, and which metrics may be negative: of what is stored, those that users named, their
own commands' and their tables'."""

import django.db.models.deletion
from django.conf import settings
from django.db import migrations, models


class Migration(migrations.Migration):

    dependencies = [
        migrations.swappable_dependency(settings.AUTH_USER_MODEL),
        ('results', '0021_trials_in_making'),
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
        migrations.CreateModel(
            name='Upload',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('key', models.CharField(max_length=200)),
                ('sha256', models.CharField(max_length=64)),
                ('at', models.DateTimeField(auto_now_add=True)),
                ('run', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='+', to='results.run')),
                ('trial', models.ForeignKey(null=True, on_delete=django.db.models.deletion.CASCADE, related_name='+', to='results.trial')),
                ('user', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='+', to=settings.AUTH_USER_MODEL)),
            ],
            options={
                'ordering': ['id'],
                'constraints': [models.UniqueConstraint(fields=('user', 'key'), name='one_upload_a_key')],
            },
        ),
    ]
