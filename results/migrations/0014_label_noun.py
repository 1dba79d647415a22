"""What the labels of a metric name (queries, steps, tables), for titles of axes and lists. Of what the kinds of 1.0
declare; others say it when their next trial is stored."""

from django.db import migrations, models

BY_NOUN = """
UPDATE results_metric SET label_noun = declared.noun
FROM (VALUES
    ('column', '^scan[.](heap[.])?(seconds|blocks|blocks[.]read)$'),
    ('rows', '^(index_scan|update|commit)[.]latency$'),
    ('command', '^maintenance[.]seconds$'),
    ('step', '^(bulk_insert[.]seconds|bulk[.](seconds|rows_per_s|bytes_per_s|wal))$'),
    ('step', '^(ssb[.]jit[.]seconds|ssb[.]load[.](seconds|rows_per_second)|load[.]seconds)$'),
    ('table', '^(bulk[.](rows|file_bytes|table_bytes|index_bytes)|load[.]rows)$'),
    ('table', '^(size[.](table|index|indexes|total)|growth[.](bytes|percent)|dead_tuples|dead_tuples[.]found)$'),
    ('table', '^(free_space|updates[.]hot)$'),
    ('statement', '^(tpcb[.]statement|statement[.](latency|failed|retries|calls|mean))$'),
    ('capability', '^check[.]seconds$'),
    ('query', '^(script[.]query[.](seconds|rows)|ssb[.]query[.](rows|seconds(|[.]min|[.]max)))$'),
    ('query', '^ssb[.](workers[.]planned|explained[.](planned|launched))$'),
    ('workers', '^ssb[.](workers|explained)[.]share$'),
    ('pass', '^script[.]pass[.]seconds$'),
    ('transaction', '^tpm$'),
    ('script', '^(tps|transactions|latency[.](mean|sd|max|p[0-9.]+))$'),
    ('reason', '^(failed|checkpoints)$'),
    ('wait event', '^waits$'),
    ('device', '^disk[.](read|write|utilisation)$'),
    ('interface', '^network[.](received|sent)$'),
    ('stage', '^replication[.](lag|lag_bytes)([.]max)?$'),
    ('phase', '^phase[.]seconds$'),
    ('function', '^perf[.]share$'),
    ('moment', '^failover[.]tps$')
) AS declared (noun, names)
WHERE results_metric.name ~ declared.names
"""


class Migration(migrations.Migration):
    dependencies = [("results", "0013_standing")]

    operations = [
        migrations.AddField(
            "metric", "label_noun", models.CharField(blank=True, db_default="", default="", max_length=63)
        ),
        migrations.RunSQL(BY_NOUN, migrations.RunSQL.noop),
    ]
