"""Accounts have a role, tokens of programs one scope more.

Nobody loses a right: whoever was no administrator could publish until now and becomes a publisher, and what a token with
the scope `run` could do is what one with `publish` may. Accounts that are made later begin as readers.
"""

import django.db.models.deletion
from django.conf import settings
from django.db import migrations, models

SCOPES = [("read", "read"), ("run", "read and run"), ("publish", "read, run and publish"), ("admin", "everything")]
ROLES = [(role, role) for role in ("reader", "operator", "publisher", "administrator")]


def give_roles(apps, schema_editor):
    members, users, tokens = tables(apps, schema_editor)
    roles = [(pk, "administrator" if is_staff else "publisher") for pk, is_staff in users.values_list("pk", "is_staff")]
    members.bulk_create(members.model(user_id=pk, role=role) for pk, role in roles)
    tokens.filter(scope="run").update(scope="publish")


def take_roles(apps, schema_editor):
    """Operators and readers become members, who may more: there is nothing less but no account."""
    members, users, tokens = tables(apps, schema_editor)
    users.update(is_staff=False)
    users.filter(pk__in=members.filter(role="administrator").values("user_id")).update(is_staff=True)
    tokens.filter(scope="publish").update(scope="run")


def tables(apps, schema_editor):
    names = ("results", "Member"), ("auth", "User"), ("results", "ApiToken")
    return [apps.get_model(*name).objects.using(schema_editor.connection.alias) for name in names]


class Migration(migrations.Migration):

    dependencies = [
        migrations.swappable_dependency(settings.AUTH_USER_MODEL),
        ("results", "0018_exported_by"),
    ]

    operations = [
        migrations.CreateModel(
            name="Member",
            fields=[
                ("user", models.OneToOneField(
                    on_delete=django.db.models.deletion.CASCADE, primary_key=True, related_name="member",
                    serialize=False, to=settings.AUTH_USER_MODEL)),
                ("role", models.CharField(choices=ROLES, default="reader", max_length=13)),
            ],
        ),
        migrations.AlterField(
            model_name="apitoken",
            name="scope",
            field=models.CharField(choices=SCOPES, default="read", max_length=10),
        ),
        migrations.RunPython(give_roles, take_roles),
    ]
