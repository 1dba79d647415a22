"""Databases beside the tests' own, on the same server."""

from __future__ import annotations

import hashlib
import re
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any
from uuid import uuid4

from django.db import connection, connections

from bootstrap import agent, places
from tests.conftest import surrounding


@contextmanager
def empty_database(encoding: str = "UTF8") -> Iterator[str]:
    """Its alias, which is its name as well. It is dropped at the end."""
    name = f"migrations_{uuid4().hex[:12]}"
    _on_server(f'CREATE DATABASE "{name}" TEMPLATE template0 ENCODING {encoding}')
    connections.settings[name] = connections.settings["default"] | {"NAME": name}
    try:
        yield name
    finally:
        connections[name].close()
        del connections[name], connections.settings[name]
        _on_server(f'DROP DATABASE "{name}"')


def _on_server(statement: str) -> None:
    with connections["default"].cursor() as cursor:
        cursor.execute(statement)


@contextmanager
def as_warehouse(name: str) -> Iterator[None]:
    """Inside the block this database is the warehouse, for Teiten's own code, pages and API."""
    before = connection.settings_dict["NAME"]
    connection.close()
    connection.settings_dict["NAME"] = name
    try:
        yield
    finally:
        connection.close()
        connection.settings_dict["NAME"] = before


def somebody_waits() -> bool:
    """Whether a session in the tests' database waits for what another one has locked."""
    with connection.cursor() as cursor:
        cursor.execute(
            "SELECT EXISTS (SELECT FROM pg_locks AS waiting JOIN pg_locks AS own USING (pid) WHERE NOT waiting.granted"
            " AND own.database = (SELECT oid FROM pg_database WHERE datname = current_database()))"
        )
        return bool(cursor.fetchone()[0])


def contents(alias: str = "default") -> dict[str, tuple[int, str]]:
    """Table → how many rows it has, and a checksum of all of them."""
    known = {}
    with connections[alias].cursor() as cursor:
        for table in connections[alias].introspection.table_names(cursor):
            cursor.execute(f'SELECT "{table}"::text FROM "{table}" ORDER BY 1')
            rows = [row for (row,) in cursor.fetchall()]
            known[table] = (len(rows), hashlib.sha256("\n".join(rows).encode()).hexdigest())
    return known


def schema(database: str) -> list[str]:
    """Tables with their columns in order, indexes, constraints, sequences, functions, triggers: pg_dump's lines."""
    server = connections.settings["default"]
    around = places.known(Path(surrounding("TEITEN_STATE")))
    assert around is not None
    address = ["-h", server["HOST"], "-p", str(server["PORT"]), "-U", server["USER"], database]
    done = subprocess.run(
        [str(agent.server_bin(around) / "pg_dump"), "--schema-only", "--no-owner", *address],
        env={"PGPASSWORD": server["PASSWORD"], "LC_ALL": "C"},
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stderr
    # Each dump is guarded by a word of its own, drawn at random.
    return re.sub(r"^\\(un)?restrict .*$", "", done.stdout, flags=re.M).splitlines()


class Elsewhere:
    """Another machine: an empty database, its name, and an empty bundle folder."""

    def __init__(self, database: str, bundles: Path, settings: Any) -> None:
        self.database, self.bundles, self._settings = database, bundles, settings

    @contextmanager
    def here(self) -> Iterator[None]:
        """Inside the block Teiten is that of the other machine."""
        before = self._settings.TEITEN_BUNDLE_DIR
        self._settings.TEITEN_BUNDLE_DIR = self.bundles
        try:
            with as_warehouse(self.database):
                yield
        finally:
            self._settings.TEITEN_BUNDLE_DIR = before

    def files(self) -> list[Path]:
        return [path for path in self.bundles.rglob("*") if path.is_file()]
