"""Which layers an environment has stands once in the warehouse, and no longer with every attempt that ran in it;
`results_layeruse` becomes a view with a row a layer of an attempt, as it was.

In one transaction, which reads all layers of attempts: meanwhile whoever reads or stores attempts or layers waits. The
environment of an attempt is the hash of its layers; where it were another one it is corrected."""

import django.db.models.deletion
from django.db import migrations, models

LOCK = "LOCK TABLE results_attempt, results_layeruse, results_layer IN ACCESS EXCLUSIVE MODE"
TABLE = """
CREATE TABLE results_environmentlayer (
    environment varchar(64) NOT NULL,
    node varchar(63) NOT NULL,
    layer_id varchar(64) NOT NULL REFERENCES results_layer DEFERRABLE INITIALLY DEFERRED,
    PRIMARY KEY (environment, node, layer_id)
)
"""
# as `results.domain.environment.layers.environment_hash` makes it
HASHES = """
UPDATE results_attempt AS attempt SET environment = hashed.environment
FROM (
    SELECT
        ran.run_id, ran.id, count(used.line) AS layers,
        encode(sha256(convert_to(coalesce(string_agg(used.line, E'\\n' ORDER BY used.line COLLATE "C"), ''), 'UTF8')), 'hex')
            AS environment
    FROM results_attempt AS ran
    LEFT JOIN (SELECT run_id, attempt_id, node || ' ' || layer_id AS line FROM results_layeruse) AS used
        ON used.run_id = ran.run_id AND used.attempt_id = ran.id
    GROUP BY ran.run_id, ran.id
) AS hashed
WHERE attempt.run_id = hashed.run_id AND attempt.id = hashed.id AND attempt.environment <> hashed.environment
    AND (hashed.layers > 0 OR attempt.environment <> '')
"""
MOVE = """
INSERT INTO results_environmentlayer (environment, node, layer_id)
SELECT DISTINCT attempt.environment, used.node, used.layer_id
FROM results_layeruse AS used
JOIN results_attempt AS attempt ON attempt.run_id = used.run_id AND attempt.id = used.attempt_id
"""
VIEW = """
CREATE VIEW results_layeruse AS
SELECT attempt.run_id, attempt.id AS attempt_id, part.node, part.layer_id
FROM results_attempt AS attempt JOIN results_environmentlayer AS part ON part.environment = attempt.environment
"""
INDEX = """
DROP INDEX attempt_environment;
CREATE INDEX attempt_environment ON results_attempt (id) INCLUDE (environment, run_id)
"""
BACK = """
LOCK TABLE results_attempt, results_environmentlayer, results_layer IN ACCESS EXCLUSIVE MODE;
ALTER VIEW results_layeruse RENAME TO results_layeruse_view;
CREATE TABLE results_layeruse (
    node varchar(63) NOT NULL,
    attempt_id bigint NOT NULL,
    layer_id varchar(64) NOT NULL,
    run_id bigint NOT NULL
);
INSERT INTO results_layeruse (node, attempt_id, layer_id, run_id)
SELECT node, attempt_id, layer_id, run_id FROM results_layeruse_view ORDER BY attempt_id, node, layer_id;
DROP VIEW results_layeruse_view;
DROP TABLE results_environmentlayer;
ALTER TABLE results_layeruse
    ADD PRIMARY KEY (attempt_id, node, layer_id, run_id),
    ADD CONSTRAINT results_layeruse_layer_id_f6aa70f6_fk_results_layer_hash
        FOREIGN KEY (layer_id) REFERENCES results_layer DEFERRABLE INITIALLY DEFERRED,
    ADD FOREIGN KEY (run_id, attempt_id) REFERENCES results_attempt (run_id, id) DEFERRABLE INITIALLY DEFERRED;
CREATE INDEX results_layeruse_layer_id_f6aa70f6 ON results_layeruse (layer_id);
CREATE INDEX results_layeruse_layer_id_f6aa70f6_like ON results_layeruse (layer_id varchar_pattern_ops);
CREATE INDEX results_layeruse_run_id_6a01717c ON results_layeruse (run_id);
DROP INDEX attempt_environment;
CREATE INDEX attempt_environment ON results_attempt (id) INCLUDE (environment)
"""


def move(apps, schema_editor):
    with schema_editor.connection.cursor() as cursor:
        for statement in (LOCK, TABLE, HASHES, MOVE, "DROP TABLE results_layeruse", VIEW, INDEX):
            cursor.execute(statement)
        cursor.execute("ANALYZE results_environmentlayer")


def move_back(apps, schema_editor):
    with schema_editor.connection.cursor() as cursor:
        cursor.execute(BACK)


def reference(to, related_name):
    return models.ForeignKey(
        on_delete=django.db.models.deletion.DO_NOTHING, related_name=related_name, to=f"results.{to}"
    )


def key(*names):
    return models.CompositePrimaryKey(*names, blank=True, editable=False, primary_key=True, serialize=False)


class Migration(migrations.Migration):
    dependencies = [("results", "0049_runs_of_a_workload")]

    operations = [
        migrations.SeparateDatabaseAndState(
            [migrations.RunPython(move, move_back)],
            [
                migrations.DeleteModel("LayerUse"),
                migrations.CreateModel(
                    name="EnvironmentLayer",
                    fields=[
                        ("pk", key("environment", "node", "layer_id")),
                        ("environment", models.CharField(max_length=64)),
                        ("node", models.CharField(max_length=63)),
                        (
                            "layer",
                            models.ForeignKey(
                                db_index=False,
                                on_delete=django.db.models.deletion.PROTECT,
                                related_name="+",
                                to="results.layer",
                            ),
                        ),
                    ],
                    options={"ordering": ["environment", "node", "layer"]},
                ),
                migrations.CreateModel(
                    name="LayerUse",
                    fields=[
                        ("pk", key("attempt_id", "node", "layer_id", "run_id")),
                        ("node", models.CharField(max_length=63)),
                        ("run", reference("run", "+")),
                        ("attempt", reference("attempt", "layer_uses")),
                        ("layer", reference("layer", "uses")),
                    ],
                    options={"ordering": ["attempt", "node", "layer"], "managed": False},
                ),
                migrations.RemoveIndex("attempt", "attempt_environment"),
                migrations.AddIndex(
                    "attempt",
                    models.Index(fields=["id"], include=("environment", "run"), name="attempt_environment"),
                ),
            ],
        ),
    ]
