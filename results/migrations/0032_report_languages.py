from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [
        ("results", "0031_member_language"),
    ]

    operations = [
        *(
            migrations.AddField(model_name=model, name=name, field=models.JSONField(default=dict))
            for model, names in (("draft", ("titles", "sources")), ("edition", ("titles", "sources", "contents")))
            for name in names
        ),
        migrations.AlterField(
            model_name="edition", name="language", field=models.CharField(default="en", max_length=5)
        ),
    ]
