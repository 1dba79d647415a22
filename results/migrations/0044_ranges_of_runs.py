"""Series and histograms are partitioned by ranges of a thousand runs. What identifies a row of series is its place among
those of its attempt, and no longer a number of its own.

In one transaction: meanwhile both can be read, and whoever stores some waits. A trigger makes the partitions of a run
when it is inserted, unless `results.ranges` has made them ahead."""

import django.db.models.deletion
from django.db import migrations, models

HISTOGRAMS = """
ALTER TABLE results_packedhistogram RENAME TO results_packedhistogram_before;
CREATE TABLE results_packedhistogram (
    run_id bigint NOT NULL,
    attempt_id bigint NOT NULL,
    node varchar(63) NOT NULL,
    label varchar(200) NOT NULL,
    latencies_us bytea NOT NULL,
    counts bytea NOT NULL,
    heat_seconds bytea NOT NULL,
    heat_buckets bytea NOT NULL,
    heat_counts bytea NOT NULL
) PARTITION BY RANGE (run_id);
"""
SERIES = """
ALTER TABLE results_seriesgroup RENAME TO results_seriesgroup_before;
CREATE TABLE results_seriesgroup (
    run_id bigint NOT NULL,
    attempt_id bigint NOT NULL,
    place integer NOT NULL,
    node varchar(63) NOT NULL,
    start_s double precision NOT NULL,
    step_s double precision NOT NULL,
    length integer NOT NULL,
    times_s real[],
    names varchar(63)[] NOT NULL,
    labels varchar(200)[] NOT NULL,
    units varchar(20)[] NOT NULL,
    values real[] NOT NULL
) PARTITION BY RANGE (run_id);
"""
RANGES = """
CREATE FUNCTION results_make_range(run bigint) RETURNS boolean LANGUAGE plpgsql AS $$
-- Make the partitions that have the rows of a run, unless they are there. Return whether any was made.
DECLARE
    first bigint := run / 1000 * 1000;
    parent text;
    partition text;
    made boolean := false;
BEGIN
    FOREACH parent IN ARRAY ARRAY['results_packedhistogram', 'results_seriesgroup'] LOOP
        partition := parent || '_from_' || first;
        CONTINUE WHEN to_regclass(partition) IS NOT NULL;
        PERFORM pg_advisory_xact_lock(hashtext('ranges of runs'));
        CONTINUE WHEN to_regclass(partition) IS NOT NULL;  -- another session made it meanwhile
        -- attached, not created as a partition: who reads the table or writes to it does not wait for that
        EXECUTE format('CREATE TABLE %I (LIKE %I INCLUDING ALL)', partition, parent);
        EXECUTE format(
            'ALTER TABLE %I ATTACH PARTITION %I FOR VALUES FROM (%s) TO (%s)', parent, partition, first, first + 1000
        );
        made := true;
    END LOOP;
    RETURN made;
END
$$;
"""
FIRST_RANGES = """
SELECT results_make_range(first)
FROM generate_series(0, (SELECT coalesce(max(id), 0) FROM results_run) + 1000, 1000) AS first
"""
MOVE = """
INSERT INTO results_packedhistogram
    (run_id, attempt_id, node, label, latencies_us, counts, heat_seconds, heat_buckets, heat_counts)
SELECT run_id, attempt_id, node, label, latencies_us, counts, heat_seconds, heat_buckets, heat_counts
FROM results_packedhistogram_before ORDER BY run_id, attempt_id, node, label;
INSERT INTO results_seriesgroup
    (run_id, attempt_id, place, node, start_s, step_s, length, times_s, names, labels, units, values)
SELECT
    run_id, attempt_id, row_number() OVER (PARTITION BY run_id, attempt_id ORDER BY id),
    node, start_s, step_s, length, times_s, names, labels, units, values
FROM results_seriesgroup_before;
DROP TABLE results_packedhistogram_before, results_seriesgroup_before;
"""
KEYS = """
ALTER TABLE results_packedhistogram ADD PRIMARY KEY (run_id, attempt_id, node, label);
ALTER TABLE results_packedhistogram ADD FOREIGN KEY (run_id) REFERENCES results_run DEFERRABLE INITIALLY DEFERRED;
ALTER TABLE results_packedhistogram
    ADD FOREIGN KEY (attempt_id) REFERENCES results_attempt DEFERRABLE INITIALLY DEFERRED;
CREATE INDEX results_packedhistogram_attempt_id ON results_packedhistogram (attempt_id);
ALTER TABLE results_seriesgroup ADD PRIMARY KEY (run_id, attempt_id, place);
ALTER TABLE results_seriesgroup ADD FOREIGN KEY (run_id) REFERENCES results_run DEFERRABLE INITIALLY DEFERRED;
ALTER TABLE results_seriesgroup ADD FOREIGN KEY (attempt_id) REFERENCES results_attempt DEFERRABLE INITIALLY DEFERRED;
CREATE INDEX results_seriesgroup_attempt_id ON results_seriesgroup (attempt_id);
"""
HISTOGRAM_VIEW = """
CREATE VIEW results_histogram AS
SELECT
    run_id, attempt_id, node, label,
    results_ascending(latencies_us) AS latencies_us, results_whole_numbers(counts) AS counts,
    results_ascending(heat_seconds)::integer[] AS heat_seconds,
    results_whole_numbers(heat_buckets)::integer[] AS heat_buckets,
    results_whole_numbers(heat_counts) AS heat_counts
FROM results_packedhistogram
"""
SERIES_VIEW = """
CREATE VIEW results_series AS
SELECT
    series_group.run_id, series_group.attempt_id, one.name, series_group.node, one.label, one.unit,
    series_group.start_s, series_group.step_s, series_group.length,
    series_group.values[one.number * series_group.length + 1 : (one.number + 1) * series_group.length] AS values,
    series_group.times_s
FROM results_seriesgroup AS series_group
CROSS JOIN LATERAL (
    SELECT name, label, unit, position::int - 1 AS number
    FROM unnest(series_group.names, series_group.labels, series_group.units) WITH ORDINALITY
        AS series (name, label, unit, position)
) AS one
"""
TRIGGER = """
CREATE FUNCTION results_make_ranges() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    PERFORM results_make_range(first) FROM (SELECT DISTINCT id / 1000 * 1000 AS first FROM made ORDER BY 1) AS ranges;
    RETURN NULL;
END
$$;
CREATE TRIGGER ranges_of_runs AFTER INSERT ON results_run REFERENCING NEW TABLE AS made
FOR EACH STATEMENT EXECUTE FUNCTION results_make_ranges();
"""
BACK = """
DROP TRIGGER ranges_of_runs ON results_run;
DROP FUNCTION results_make_ranges;
DROP VIEW results_histogram;
DROP VIEW results_series;
ALTER TABLE results_packedhistogram RENAME TO results_packedhistogram_ranges;
ALTER TABLE results_seriesgroup RENAME TO results_seriesgroup_ranges;
CREATE TABLE results_packedhistogram (LIKE results_packedhistogram_ranges);
INSERT INTO results_packedhistogram SELECT * FROM results_packedhistogram_ranges;
CREATE TABLE results_seriesgroup (
    LIKE results_seriesgroup_ranges, id bigint GENERATED BY DEFAULT AS IDENTITY PRIMARY KEY
);
INSERT INTO results_seriesgroup SELECT * FROM results_seriesgroup_ranges ORDER BY run_id, attempt_id, place;
DROP TABLE results_packedhistogram_ranges, results_seriesgroup_ranges;
ALTER TABLE results_packedhistogram
    ADD PRIMARY KEY (run_id, attempt_id, node, label),
    ADD FOREIGN KEY (run_id) REFERENCES results_run DEFERRABLE INITIALLY DEFERRED,
    ADD FOREIGN KEY (attempt_id) REFERENCES results_attempt DEFERRABLE INITIALLY DEFERRED;
CREATE INDEX results_packedhistogram_attempt_id ON results_packedhistogram (attempt_id);
ALTER TABLE results_seriesgroup
    DROP COLUMN place,
    ADD FOREIGN KEY (run_id) REFERENCES results_run DEFERRABLE INITIALLY DEFERRED,
    ADD FOREIGN KEY (attempt_id) REFERENCES results_attempt DEFERRABLE INITIALLY DEFERRED;
CREATE INDEX results_seriesgroup_run_id ON results_seriesgroup (run_id);
CREATE INDEX results_seriesgroup_attempt_id ON results_seriesgroup (attempt_id);
DROP FUNCTION results_make_range;
"""


def move(apps, schema_editor):
    with schema_editor.connection.cursor() as cursor:
        cursor.execute("LOCK TABLE results_packedhistogram, results_seriesgroup IN SHARE ROW EXCLUSIVE MODE")
        cursor.execute("DROP VIEW results_histogram; DROP VIEW results_series")
        for statements in (HISTOGRAMS, SERIES, RANGES, FIRST_RANGES, MOVE, KEYS, HISTOGRAM_VIEW, SERIES_VIEW, TRIGGER):
            cursor.execute(statements)
        cursor.execute("ANALYZE results_packedhistogram, results_seriesgroup")


def move_back(apps, schema_editor):
    with schema_editor.connection.cursor() as cursor:
        for statements in (BACK, HISTOGRAM_VIEW, SERIES_VIEW):
            cursor.execute(statements)


class Migration(migrations.Migration):
    dependencies = [("results", "0042_values_of_attempts")]

    operations = [
        migrations.SeparateDatabaseAndState(
            [migrations.RunPython(move, move_back)],
            [
                migrations.AlterModelOptions("seriesgroup", {"ordering": ["attempt", "place"]}),
                migrations.RemoveField("seriesgroup", "id"),
                migrations.AddField("seriesgroup", "place", models.IntegerField(default=None), preserve_default=False),
                migrations.AlterField(
                    "seriesgroup",
                    "run",
                    models.ForeignKey(
                        db_index=False,
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="+",
                        to="results.run",
                    ),
                ),
                migrations.AddField(
                    "seriesgroup",
                    "pk",
                    models.CompositePrimaryKey(
                        "run_id", "attempt_id", "place", blank=True, editable=False, primary_key=True, serialize=False
                    ),
                ),
            ],
        ),
    ]
