"""Where imported runs come from, and what their bundles call a trial. No run that there is was imported."""

import django.contrib.postgres.fields
import django.db.models.deletion
from django.db import migrations, models


class Migration(migrations.Migration):

    dependencies = [
        ('results', '0015_reports'),
    ]

    operations = [
        migrations.CreateModel(
            name='RunImport',
            fields=[
                ('run', models.OneToOneField(on_delete=django.db.models.deletion.CASCADE, primary_key=True, related_name='imported', serialize=False, to='results.run')),
                ('archive', models.CharField(blank=True, max_length=200)),
                ('archive_sha256', models.CharField(max_length=64, unique=True)),
                ('archive_bytes', models.BigIntegerField()),
                ('teiten', models.CharField(max_length=40)),
                ('address', models.CharField(blank=True, max_length=300)),
                ('source_run', models.BigIntegerField()),
                ('agents', django.contrib.postgres.fields.ArrayField(base_field=models.CharField(max_length=63), default=list, size=None)),
                ('at', models.DateTimeField(auto_now_add=True)),
                ('actor', models.CharField(max_length=200)),
            ],
            options={
                'ordering': ['run'],
            },
        ),
        migrations.AddField(
            model_name='trial',
            name='bundle_key',
            field=models.CharField(blank=True, db_default='', default='', max_length=41),
        ),
    ]
