"""Accounts keep the language that was chosen while they were signed in; until then none is."""

from django.db import migrations, models


class Migration(migrations.Migration):

    dependencies = [
        ("results", "0030_watch_language"),
    ]

    operations = [
        migrations.AddField(
            model_name="member",
            name="language",
            field=models.CharField(blank=True, default="", max_length=10),
        ),
    ]
