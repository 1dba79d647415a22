"""No text in CSV is a formula of a spreadsheet, and no number is changed."""

from __future__ import annotations

import csv
import io
import json
from typing import Any

import pytest
from django.test import Client

from results import models
from tests import factories
from webapp.spreadsheets import shown_as_text

FORMULA = "=cmd|' /C calc'!A0"


@pytest.mark.parametrize("text", [FORMULA, "@SUM(1)", "+1+1", "-2+3", "-x", "=", "\t=1", "\r=1", "-1 ms", "--"])
def test_a_text_that_begins_as_a_formula_is_marked(text: str) -> None:
    assert shown_as_text(text) == f"'{text}"


@pytest.mark.parametrize("cell", ["-1", "+2.5e-3", "-.5", "-inf", "nan", "16.9", "a=b", "", -1.5, None, 0])
def test_numbers_and_other_texts_stay(cell: Any) -> None:
    assert shown_as_text(cell) is cell


@pytest.fixture
def run(db: None) -> models.Run:
    """A finished run with a level that is a formula, which no plan may have."""
    made = factories.finished_run()
    for configuration in models.Configuration.objects.filter(dimensions__clients=1):
        configuration.dimensions["clients"] = configuration.name = FORMULA
        configuration.save()
    return made


def rows(client: Client, path: str) -> list[dict[str, str]]:
    answer = client.get(f"/api/v1/{path}")
    assert answer.status_code == 200
    return list(csv.DictReader(io.StringIO(answer.getvalue().decode())))


def test_a_comparison_and_a_table_as_csv_have_no_formula(run: models.Run) -> None:
    compared = rows(Client(), f"comparison.csv?run={run.pk}&x=installation&series=clients")
    assert {row["series"] for row in compared} == {f"'{FORMULA}", "4"}
    medians = rows(Client(), f"runs/{run.pk}/medians/?metric=tps&format=csv")
    assert f"'{FORMULA}" in {row["name"] for row in medians}
    assert FORMULA not in {cell for row in medians for cell in row.values()}


def test_ndjson_has_the_text_itself(run: models.Run) -> None:
    answer = Client().get(f"/api/v1/runs/{run.pk}/medians/?metric=tps&format=ndjson")
    assert FORMULA in {json.loads(line)["name"] for line in answer.getvalue().decode().splitlines()}
