"""How many runs there are of each kind is kept in a table, so that no page reads all runs for it.

In one transaction, of some seconds for ten thousand runs: meanwhile runs can be read, and whoever starts or ends one,
keeps, tags, archives or deletes it, waits."""

import django.contrib.postgres.fields
from django.db import migrations, models

KEYS = "plan_id, name, workload, standing, archived, published, tags, agents"
# Rows of {changes} are runs, each with `change`: 1 of one that is there now, -1 of one that was.
ALIKE = """
SELECT
    CASE WHEN run.publication_id IS NULL THEN coalesce(run.plan_id, 0) ELSE 0 END AS plan_id,
    CASE WHEN run.publication_id IS NULL AND run.plan_id IS NULL THEN run.name ELSE '' END AS name,
    run.workload, run.standing, run.archived, run.publication_id IS NOT NULL AS published, run.tags, run.agents,
    sum(run.change)::bigint AS runs
FROM ({changes}) AS run
WHERE NOT run.private
    AND NOT EXISTS (SELECT FROM results_publication WHERE id = run.publication_id AND program <> '')
GROUP BY 1, 2, 3, 4, 5, 6, 7, 8
HAVING sum(run.change) <> 0
"""
COUNT = """
CREATE FUNCTION {function}() RETURNS trigger LANGUAGE plpgsql AS $$
-- Add what a statement changed to the counts of runs. It waits for no other transaction that does so: where one holds the row
-- of a kind, another row of that kind is made.
DECLARE
    alike record;
    counted bigint;
BEGIN
    FOR alike IN {alike} LOOP
        SELECT id INTO counted FROM results_runcount AS kind
        WHERE ({keys_of_kind}) = ({keys_of_alike})
        LIMIT 1 FOR UPDATE SKIP LOCKED;
        IF counted IS NULL THEN
            INSERT INTO results_runcount ({keys}, runs) VALUES ({keys_of_alike}, alike.runs);
        ELSE
            UPDATE results_runcount SET runs = runs + alike.runs WHERE id = counted;
            DELETE FROM results_runcount WHERE id = counted AND runs = 0;
        END IF;
    END LOOP;
    RETURN NULL;
END
$$;
CREATE TRIGGER {function} AFTER {event} ON results_run REFERENCING {tables}
FOR EACH STATEMENT EXECUTE FUNCTION {function}();
"""
MADE = "SELECT *, 1 AS change FROM made"
GONE = "SELECT *, -1 AS change FROM gone"
EVENTS = (  # event, what the function is called after, what it changes, tables that the trigger gives
    ("INSERT", "inserted", MADE, "NEW TABLE AS made"),
    ("UPDATE", "updated", f"{MADE} UNION ALL {GONE}", "NEW TABLE AS made OLD TABLE AS gone"),
    ("DELETE", "deleted", GONE, "OLD TABLE AS gone"),
)
ALL_RUNS = "SELECT *, 1 AS change FROM results_run"


def count(apps, schema_editor):
    def keys_of(row):
        return ", ".join(f"{row}.{key}" for key in KEYS.split(", "))

    with schema_editor.connection.cursor() as cursor:
        cursor.execute("LOCK TABLE results_run IN SHARE ROW EXCLUSIVE MODE")
        for event, name, changes, tables in EVENTS:
            words = {
                "function": f"results_count_{name}_runs",
                "event": event,
                "alike": ALIKE.format(changes=changes),
                "keys": KEYS,
                "keys_of_kind": keys_of("kind"),
                "keys_of_alike": keys_of("alike"),
                "tables": tables,
            }
            cursor.execute(COUNT.format(**words))
        cursor.execute(f"INSERT INTO results_runcount ({KEYS}, runs) {ALIKE.format(changes=ALL_RUNS)}")
        cursor.execute("ANALYZE results_runcount")


def stop_counting(apps, schema_editor):
    with schema_editor.connection.cursor() as cursor:
        for _, name, _, _ in EVENTS:
            cursor.execute(f"DROP FUNCTION results_count_{name}_runs CASCADE")


class Migration(migrations.Migration):
    dependencies = [("results", "0046_runs_by_plan")]

    operations = [
        migrations.CreateModel(
            "RunCount",
            [
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("plan_id", models.BigIntegerField()),
                ("name", models.CharField(max_length=120)),
                ("workload", models.CharField(max_length=63)),
                ("standing", models.CharField(max_length=12)),
                ("archived", models.BooleanField()),
                ("published", models.BooleanField()),
                (
                    "tags",
                    django.contrib.postgres.fields.ArrayField(models.CharField(max_length=32), size=None),
                ),
                ("agents", django.contrib.postgres.fields.ArrayField(models.BigIntegerField(), size=None)),
                ("runs", models.BigIntegerField()),
            ],
            {
                "ordering": ["pk"],
                "indexes": [models.Index(fields=["plan_id", "workload", "name"], name="run_count_by_plan")],
            },
        ),
        migrations.AddIndex("run", models.Index(fields=["plan", "started_at"], name="run_by_start")),
        migrations.RunPython(count, stop_counting),
    ]
