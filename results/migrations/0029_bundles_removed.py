from django.db import migrations, models


class Migration(migrations.Migration):
    """Two columns with constant defaults: PostgreSQL rewrites no row, and the lock lasts a moment."""

    dependencies = [
        ('results', '0028_missed_runs'),
    ]

    operations = [
        migrations.AddField(
            model_name='attempt',
            name='bundle_removed_at',
            field=models.DateTimeField(null=True),
        ),
        migrations.AddField(
            model_name='attempt',
            name='bundle_removed_by',
            field=models.CharField(blank=True, db_default='', default='', max_length=300),
        ),
    ]
