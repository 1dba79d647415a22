"""Entries of the audit log know the address, and are never changed or removed; tokens may expire."""

import results.models.audit
from django.db import migrations, models


# TRUNCATE is left to the owner of the table, who could drop the trigger as well.
FOR_GOOD = """
CREATE FUNCTION audit_log_is_for_good() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    RAISE EXCEPTION 'entries of the audit log are never changed or removed';
END $$;
CREATE TRIGGER audit_log_is_for_good BEFORE UPDATE OR DELETE ON results_auditentry
    FOR EACH ROW EXECUTE FUNCTION audit_log_is_for_good();
"""


class Migration(migrations.Migration):

    dependencies = [
        ('results', '0019_roles'),
    ]

    operations = [
        migrations.RunSQL(FOR_GOOD, "DROP FUNCTION audit_log_is_for_good() CASCADE"),
        migrations.AddField(
            model_name='apitoken',
            name='expires_at',
            field=models.DateTimeField(blank=True, null=True),
        ),
        migrations.AddField(
            model_name='auditentry',
            name='address',
            field=models.CharField(blank=True, db_default='', default=results.models.audit.acting_address, max_length=45),
        ),
        migrations.AddIndex(
            model_name='auditentry',
            index=models.Index(fields=['verb', 'at'], name='audit_by_verb'),
        ),
    ]
