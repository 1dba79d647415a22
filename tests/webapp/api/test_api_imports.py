"""Imports by the API: preview, import, list, and who may."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from rest_framework.test import APIClient

from results import models
from results.domain.imports.values import SourceFile
from tests.imported import COLUMNS, TABLE, recorded, text_file, uploads

Visitor = Callable[[str], APIClient]
URL = "/api/v1/imports/"
NAMES = ("pgbench-15-c2.txt", "pgbench-15-c4.txt")


@pytest.fixture(autouse=True)
def _bundles(bundles: Path) -> None:
    """Archives go below the test's own folder."""


def body(*files: SourceFile, **fields: str) -> dict[str, Any]:
    return {"file": uploads(*(files or recorded(*NAMES))), **fields}


def test_an_import_is_previewed_made_listed_and_read(
    visitor: Visitor, django_assert_max_num_queries: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    client = visitor("run")
    shown = client.post(f"{URL}preview/", body(name="db9"), format="multipart").json()
    assert (shown["program"], shown["name"], shown["headline"]) == ("pgbench", "db9", "tps")
    assert [one["name"] for one in shown["configurations"]] == [
        "clients=2, threads=2, transactions=50",
        "clients=4, threads=1, transactions=25",
    ]
    values = shown["configurations"][0]["trials"][0]["values"]
    assert {"metric": "tps", "label": "", "value": 1972.347685, "unit": "tps"} in values
    assert models.Run.objects.count() == 0
    answer = client.post(URL, body(name="db9", note="8 cores"), format="multipart")
    made = answer.json()
    assert answer.status_code == 201
    assert (made["program"], made["note"], made["imported_by"]) == ("pgbench", "8 cores", "ada")
    with django_assert_max_num_queries(3):
        assert client.get(URL).json()["results"] == [made]
    detail = client.get(made["links"]["self"]).json()
    assert [one["source"] for one in detail["its_trials"]] == list(NAMES)
    monkeypatch.setattr("webapp.api.imports.MOST_TRIALS", 1)
    assert [one["source"] for one in client.get(made["links"]["self"]).json()["its_trials"]] == list(NAMES[:1])
    run = client.get(made["links"]["run"]).json()
    assert run["run"]["publication"]["program"] == "pgbench"


def test_a_table_is_imported_with_its_mapping(visitor: Visitor) -> None:
    answer = visitor("run").post(URL, body(text_file("old.csv", TABLE), **COLUMNS), format="multipart")
    assert (answer.status_code, answer.json()["trials"]) == (201, 3)


def test_a_column_that_is_not_there_is_an_error(visitor: Visitor) -> None:
    answer = visitor("run").post(URL, body(text_file("o.csv", TABLE), **{"role.nope": "factor"}), format="multipart")
    error = answer.json()["error"]
    assert (answer.status_code, error["kind"], error["where"]) == (422, "import", "role.nope")
    assert error["todo"]


def test_a_decimal_mark_that_no_cell_decides_must_be_said(visitor: Visitor) -> None:
    client, table = visitor("run"), text_file("c.csv", "clients;latency.mean\n1;1,198\n2;1,178\n")
    mapping = {"role.latency.mean": "metric", "unit.latency.mean": "ms"}
    error = client.post(URL, body(table, **mapping), format="multipart").json()["error"]
    assert (error["where"], error["what"]) == ("decimal", "The decimal mark is not known.")
    assert "'1,198'" in error["why"]
    assert client.post(URL, body(table, decimal=",", **mapping), format="multipart").status_code == 201


def test_an_encoding_in_doubt_must_be_said(visitor: Visitor) -> None:
    client, table = visitor("run"), text_file("m.csv", "modèle,tps\npetit,10\n", "latin-1")
    error = client.post(URL, body(table), format="multipart").json()["error"]
    assert (error["where"], error["why"]) == ("encoding", "m.csv may be Shift_JIS (CP932), Latin-1.")
    mapping = {"role.modèle": "factor", "name.modèle": "model", "encoding": "latin-1"}
    assert client.post(URL, body(table, **mapping), format="multipart").status_code == 201


def test_an_unknown_field_is_an_error(visitor: Visitor) -> None:
    answer = visitor("run").post(URL, body(agent="db1"), format="multipart")
    assert (answer.status_code, answer.json()["error"]["what"]) == (422, "There is no field 'agent'.")


def test_the_same_file_twice_is_a_conflict(visitor: Visitor) -> None:
    client = visitor("run")
    assert client.post(URL, body(), format="multipart").status_code == 201
    answer = client.post(URL, body(), format="multipart")
    assert (answer.status_code, answer.json()["error"]["kind"]) == (409, "state")
    assert models.Run.objects.count() == 1


@pytest.mark.parametrize(("scope", "status"), [("anonymous", 401), ("revoked", 401), ("read", 403)])
@pytest.mark.parametrize("path", [URL, f"{URL}preview/"])
def test_only_the_scope_run_imports(scope: str, status: int, path: str, visitor: Visitor) -> None:
    assert visitor(scope).post(path, body(), format="multipart").status_code == status
    assert models.Publication.objects.count() == 0
