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
    member = apps.get_model("results", "Member")
    users = apps.get_model("auth", "User").objects.values_list("pk", "is_staff")
    roles = [(pk, "administrator" if is_staff else "publisher") for pk, is_staff in users]
    member.objects.bulk_create(member(user_id=pk, role=role) for pk, role in roles)
    apps.get_model("results", "ApiToken").objects.filter(scope="run").update(scope="publish")


def take_roles(apps, schema_editor):
    """Operators and readers become members, who may more: there is nothing less but no account."""
    users = apps.get_model("auth", "User").objects
    users.update(is_staff=False)
    administrators = apps.get_model("results", "Member").objects.filter(role="administrator")
    users.filter(pk__in=administrators.values("user_id")).update(is_staff=True)
    apps.get_model("results", "ApiToken").objects.filter(scope="publish").update(scope="run")


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
