"""In which metrics the work of pgbench itself is a part: another version of it withholds their verdict. Of what the
kinds of 1.0 declare; others say it when their next trial is stored."""

from django.db import migrations, models


BY_PGBENCH = """
UPDATE results_metric
SET client_overhead = true
WHERE name IN (
        'tps', 'tps.including', 'latency.mean', 'latency.sd', 'latency.max', 'schedule.lag', 'schedule.lag.max',
        'skipped', 'late', 'connection.time', 'connection.mean', 'statement.latency', 'nopm', 'tpm',
        'append.rows_per_second', 'ledger.tps', 'index_scan.latency', 'update.latency', 'commit.latency', 'tpcb.tps',
        'tpcb.latency', 'tpcb.statement', 'cpu.per_transaction', 'context_switches.per_transaction', 'tps.per_node', 'transactions',
        'cpu.user', 'cpu.system', 'cpu.iowait', 'cpu.steal', 'cpu.idle', 'cpu.busy', 'context_switches', 'interrupts',
        'run_queue', 'load_average'
    )
    OR name ~ '^latency[.]p[0-9.]+$'
"""


class Migration(migrations.Migration):
    dependencies = [("results", "0011_looks")]

    operations = [
        migrations.AddField("metric", "client_overhead", models.BooleanField(db_default=False, default=False)),
        migrations.RunSQL(BY_PGBENCH, migrations.RunSQL.noop),
    ]
