from django.contrib.postgres.operations import AddIndexConcurrently
from django.db import migrations, models


class Migration(migrations.Migration):
    atomic = False

    dependencies = [
        ('results', '0035_newest_answers_and_agents'),
    ]

    operations = [
        AddIndexConcurrently(
            model_name='document',
            index=models.Index(condition=models.Q(('kind', 'stacks')), fields=['run', 'attempt'], name='document_stacks'),
        ),
        AddIndexConcurrently(
            model_name='trial',
            index=models.Index(fields=['block', 'id'], name='trial_by_block'),
        ),
    ]
