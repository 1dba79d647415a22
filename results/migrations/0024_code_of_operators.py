"""Which agents take code from operators, and on whose rights scheduled plans run."""

from __future__ import annotations

import django.db.models.deletion
from django.conf import settings
from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [
        migrations.swappable_dependency(settings.AUTH_USER_MODEL),
        ("results", "0023_private_runs"),
    ]

    operations = [
        migrations.AddField(
            model_name="agent",
            name="allows_code",
            field=models.BooleanField(
                db_default=False,
                default=False,
                help_text="Whoever may run plans can then run any program under this agent's account: by scripts, "
                "queries and commands of a plan, and by settings that name a program, library or file. Without it, "
                "only administrators can; the workloads that come with Teiten run either way.",
            ),
        ),
        migrations.AddField(
            model_name="plan",
            name="scheduled_by",
            field=models.ForeignKey(
                null=True,
                on_delete=django.db.models.deletion.SET_NULL,
                related_name="+",
                to=settings.AUTH_USER_MODEL,
            ),
        ),
        migrations.AddField(
            model_name="plan",
            name="scheduled_by_admin",
            field=models.BooleanField(db_default=False, default=False),
        ),
        migrations.AddField(
            model_name="run",
            name="operators_code",
            field=models.BooleanField(db_default=False, default=False),
        ),
    ]
