"""Keys of configurations, trials, attempts, documents and noise hold the run, and so do the references between them: what
is stored of one run cannot refer to another one's, and the tables can be distributed or partitioned by runs. That their
run exists follows from it, and is no longer checked beside it.

In one transaction, which reads all rows of these tables: meanwhile whoever reads or stores any of them waits. Teiten never
stored a row that refers to another run's; where one is there all the same, PostgreSQL names it and nothing is changed."""

import django.db.models.deletion
from django.db import migrations, models

NUMBERED = ("configuration", "trial", "attempt", "document", "noise")  # what is identified by run and id
REFERENCES = (  # table, column, what it refers to, and the name that the constraint of this column alone had
    ("trial", "configuration_id", "configuration", "results_trial_configuration_id_54e7b7e1_fk_results_c"),
    ("trial", "attempt_id", "attempt", "results_trial_attempt_id_1abc7c48_fk_results_attempt_id"),
    ("attempt", "trial_id", "trial", "results_attempt_trial_id_f284e350_fk_results_trial_id"),
    ("document", "attempt_id", "attempt", "results_document_attempt_id_f9a34e89_fk_results_attempt_id"),
    ("noise", "configuration_id", "configuration", "results_noise_configuration_id_414680b6_fk_results_c"),
    ("noise", "twin_id", "configuration", "results_noise_twin_id_318e0c92_fk_results_configuration_id"),
    ("attemptvalues", "attempt_id", "attempt", "results_attemptvalues_attempt_id_fkey"),
    ("layeruse", "attempt_id", "attempt", "results_layeruse_attempt_id_4e1a0316_fk_results_attempt_id"),
    ("checkedbuild", "attempt_id", "attempt", "results_checkedbuild_attempt_id_2aafc683_fk_results_attempt_id"),
    ("packedhistogram", "attempt_id", "attempt", "results_packedhistogram_attempt_id_fkey"),
    ("seriesgroup", "attempt_id", "attempt", "results_seriesgroup_attempt_id_fkey"),
    ("upload", "trial_id", "trial", "results_upload_trial_id_c51669fb_fk_results_trial_id"),
)
WITHOUT_RUN = (  # references of tables that have no run: Django alone keeps them
    ("hostchange", "trial_id", "trial", "results_hostchange_trial_id_75991d85_fk_results_trial_id"),
    ("lease", "attempt_id", "attempt", "results_lease_attempt_id_f5ae970c_fk_results_attempt_id"),
)
IMPLIED = (  # what refers to something of the run that it belongs to; and the name of its own reference to the run
    ("trial", "results_trial_run_id_57c2f0e6_fk_results_run_id"),
    ("attempt", "results_attempt_run_id_5581117c_fk_results_run_id"),
    ("document", "results_document_run_id_db9b0477_fk_results_run_id"),
    ("noise", "results_noise_run_id_a7b63cf8_fk_results_run_id"),
    ("attemptvalues", "results_attemptvalues_run_id_fkey"),
    ("layeruse", "results_layeruse_run_id_6a01717c_fk_results_run_id"),
    ("checkedbuild", "results_checkedbuild_run_id_42dca14f_fk_results_run_id"),
    ("packedhistogram", "results_packedhistogram_run_id_fkey"),
    ("seriesgroup", "results_seriesgroup_run_id_fkey"),
)
UNIQUE = """
ALTER TABLE results_trial
    DROP CONSTRAINT results_trial_attempt_id_key,
    ADD CONSTRAINT one_trial_an_attempt UNIQUE (attempt_id, run_id);
ALTER TABLE results_attempt
    DROP CONSTRAINT one_attempt_a_number,
    ADD CONSTRAINT one_attempt_a_number UNIQUE (trial_id, number, run_id);
ALTER TABLE results_document
    DROP CONSTRAINT one_document_a_label,
    ADD CONSTRAINT one_document_a_label UNIQUE (attempt_id, kind, node, label, run_id);
ALTER TABLE results_noise
    DROP CONSTRAINT one_noise_a_metric,
    ADD CONSTRAINT one_noise_a_metric UNIQUE (configuration_id, metric_id, node, label, run_id);
"""
UNIQUE_BACK = """
ALTER TABLE results_trial
    DROP CONSTRAINT one_trial_an_attempt,
    ADD CONSTRAINT results_trial_attempt_id_key UNIQUE (attempt_id);
ALTER TABLE results_attempt
    DROP CONSTRAINT one_attempt_a_number,
    ADD CONSTRAINT one_attempt_a_number UNIQUE (trial_id, number);
ALTER TABLE results_document
    DROP CONSTRAINT one_document_a_label,
    ADD CONSTRAINT one_document_a_label UNIQUE (attempt_id, kind, node, label);
ALTER TABLE results_noise
    DROP CONSTRAINT one_noise_a_metric,
    ADD CONSTRAINT one_noise_a_metric UNIQUE (configuration_id, metric_id, node, label);
"""
# Other indexes begin with the same columns.
NEEDLESS = (
    ("configuration", "run_id", "15714a2d"),
    ("trial", "run_id", "57c2f0e6"),
    ("trial", "configuration_id", "54e7b7e1"),
    ("attempt", "run_id", "5581117c"),
    ("attempt", "trial_id", "f284e350"),
    ("document", "run_id", "db9b0477"),
    ("noise", "configuration_id", "414680b6"),
    ("noise", "run_id", "a7b63cf8"),
)
BY_ID = ("configuration", "trial", "document", "noise")  # attempts have one already: attempt_environment


def statements():
    for table, _, _, name in (*REFERENCES, *WITHOUT_RUN):
        yield f"ALTER TABLE results_{table} DROP CONSTRAINT {name}"
    for table in NUMBERED:
        yield f"ALTER TABLE results_{table} DROP CONSTRAINT results_{table}_pkey, ADD PRIMARY KEY (run_id, id)"
    for table in BY_ID:
        yield f"CREATE INDEX {table}_by_id ON results_{table} (id)"
    yield UNIQUE
    for table, column, name in NEEDLESS:
        yield f"DROP INDEX results_{table}_{column}_{name}"
    for table, column, to, _ in REFERENCES:
        yield (
            f"ALTER TABLE results_{table} ADD FOREIGN KEY (run_id, {column}) "
            f"REFERENCES results_{to} (run_id, id) DEFERRABLE INITIALLY DEFERRED"
        )
    for table, name in IMPLIED:
        yield f"ALTER TABLE results_{table} DROP CONSTRAINT {name}"


def statements_back():
    for table, column, _, _ in REFERENCES:
        yield f"ALTER TABLE results_{table} DROP CONSTRAINT results_{table}_run_id_{column}_fkey"
    for table in NUMBERED:
        yield f"ALTER TABLE results_{table} DROP CONSTRAINT results_{table}_pkey, ADD PRIMARY KEY (id)"
    yield "UPDATE results_hostchange SET trial_id = NULL WHERE trial_id NOT IN (SELECT id FROM results_trial)"
    yield "DELETE FROM results_lease WHERE attempt_id NOT IN (SELECT id FROM results_attempt)"
    yield "SET CONSTRAINTS ALL IMMEDIATE"
    for table in BY_ID:
        yield f"DROP INDEX {table}_by_id"
    yield UNIQUE_BACK
    for table, column, name in NEEDLESS:
        yield f"CREATE INDEX results_{table}_{column}_{name} ON results_{table} ({column})"
    for table, column, to, name in (*REFERENCES, *WITHOUT_RUN):
        yield (
            f"ALTER TABLE results_{table} ADD CONSTRAINT {name} FOREIGN KEY ({column}) "
            f"REFERENCES results_{to} (id) DEFERRABLE INITIALLY DEFERRED"
        )
    for table, name in IMPLIED:
        yield (
            f"ALTER TABLE results_{table} ADD CONSTRAINT {name} FOREIGN KEY (run_id) "
            "REFERENCES results_run (id) DEFERRABLE INITIALLY DEFERRED"
        )


def with_runs(apps, schema_editor):
    for statement in statements():
        schema_editor.execute(statement)


def without_runs(apps, schema_editor):
    for statement in statements_back():
        schema_editor.execute(statement)


def reference(to, *, on_delete=django.db.models.deletion.CASCADE, related_name="+", **options):
    return models.ForeignKey(
        db_constraint=False, on_delete=on_delete, related_name=related_name, to=f"results.{to}", **options
    )


def of_run(related_name="+", *, db_index=False, db_constraint=False):
    return models.ForeignKey(
        db_constraint=db_constraint,
        db_index=db_index,
        on_delete=django.db.models.deletion.CASCADE,
        related_name=related_name,
        to="results.run",
    )


class Migration(migrations.Migration):
    dependencies = [("results", "0047_run_counts")]

    operations = [
        migrations.SeparateDatabaseAndState(
            [migrations.RunPython(with_runs, without_runs)],
            [
                migrations.AlterField("configuration", "run", of_run("configurations", db_constraint=True)),
                migrations.AddIndex("configuration", models.Index(fields=["id"], name="configuration_by_id")),
                migrations.AlterField("trial", "run", of_run("trials")),
                migrations.AlterField(
                    "trial", "configuration", reference("configuration", related_name="trials", db_index=False)
                ),
                migrations.AlterField(
                    "trial",
                    "attempt",
                    reference("attempt", on_delete=django.db.models.deletion.SET_NULL, null=True, db_index=False),
                ),
                migrations.AddConstraint(
                    "trial", models.UniqueConstraint(fields=["attempt", "run"], name="one_trial_an_attempt")
                ),
                migrations.AddIndex("trial", models.Index(fields=["id"], name="trial_by_id")),
                migrations.AlterField("attempt", "run", of_run()),
                migrations.AlterField("attempt", "trial", reference("trial", related_name="attempts", db_index=False)),
                migrations.RemoveConstraint("attempt", "one_attempt_a_number"),
                migrations.AddConstraint(
                    "attempt", models.UniqueConstraint(fields=["trial", "number", "run"], name="one_attempt_a_number")
                ),
                migrations.AlterField("document", "run", of_run()),
                migrations.AlterField(
                    "document", "attempt", reference("attempt", related_name="documents", db_index=False)
                ),
                migrations.RemoveConstraint("document", "one_document_a_label"),
                migrations.AddConstraint(
                    "document",
                    models.UniqueConstraint(
                        fields=["attempt", "kind", "node", "label", "run"], name="one_document_a_label"
                    ),
                ),
                migrations.AddIndex("document", models.Index(fields=["id"], name="document_by_id")),
                migrations.AlterField("noise", "configuration", reference("configuration", db_index=False)),
                migrations.AlterField("noise", "twin", reference("configuration")),
                migrations.RemoveConstraint("noise", "one_noise_a_metric"),
                migrations.AddConstraint(
                    "noise",
                    models.UniqueConstraint(
                        fields=["configuration", "metric", "node", "label", "run"], name="one_noise_a_metric"
                    ),
                ),
                migrations.AlterField("noise", "run", of_run("noise")),
                migrations.AddIndex("noise", models.Index(fields=["id"], name="noise_by_id")),
                migrations.AlterField("attemptvalues", "run", of_run()),
                migrations.AlterField("attemptvalues", "attempt", reference("attempt")),
                migrations.AlterField("layeruse", "run", of_run(db_index=True)),
                migrations.AlterField("checkedbuild", "run", of_run(db_index=True)),
                migrations.AlterField("histogram", "run", of_run()),
                migrations.AlterField("seriesgroup", "run", of_run()),
                migrations.AlterField(
                    "layeruse", "attempt", reference("attempt", related_name="layer_uses", db_index=False)
                ),
                migrations.AlterField("checkedbuild", "attempt", reference("attempt", db_index=False)),
                migrations.AlterField("histogram", "attempt", reference("attempt", related_name="histograms")),
                migrations.AlterField("seriesgroup", "attempt", reference("attempt", related_name="series_groups")),
                migrations.AlterField("upload", "trial", reference("trial", null=True)),
                migrations.AlterField(
                    "hostchange",
                    "trial",
                    reference("trial", on_delete=django.db.models.deletion.SET_NULL, null=True),
                ),
                migrations.AlterField("lease", "attempt", reference("attempt", related_name="leases", null=True)),
            ],
        ),
    ]
