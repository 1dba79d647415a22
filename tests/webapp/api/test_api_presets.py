"""The ready views and published tables as JSON."""

from __future__ import annotations

from typing import Any

import pytest
from django.test import Client

from results import models
from results.published.catalogue import TABLES
from results.published.load import load
from tests import factories
from workers.registry import known_metrics

pytestmark = pytest.mark.django_db


@pytest.fixture
def loaded() -> None:
    load(TABLES, known_metrics(), "tests")


def of(client: Client, path: str) -> Any:
    answer = client.get(f"/api/v1/{path}")
    assert answer.status_code == 200
    return answer.json()


def test_versions_have_the_ratios_of_table_6_14_to_four_digits(loaded: None, client: Client) -> None:
    by_slug = of(client, "versions/?workload=ssb")
    rows = {row["name"]: row for row in by_slug["rows"] if row["metric"]["name"] == "ssb.query.seconds"}
    place = by_slug["versions"].index("12")
    speeds = {name: f"{row['cells'][place]['speed']:.4f}" for name, row in rows.items()}
    assert speeds["q1.1"] == "1.0393" and speeds["q2.1"] == "0.8873" and speeds["q4.3"] == "0.9280"
    assert len(speeds) == 13
    assert client.get(rows["q1.1"]["cells"][place]["comparison"]).status_code == 200


def test_access_methods_and_topologies(loaded: None, client: Client) -> None:
    tables = {table["metric"]["name"]: table for table in of(client, "access-methods/")["tables"]}
    lines = {line["name"]: line["cells"] for line in tables["maintenance.seconds"]["lines"]}
    place = tables["maintenance.seconds"]["columns"].index(["zheap", "zheap build (12)"])
    assert lines["VACUUM"][place]["ratio"] == pytest.approx(272.954 / 821.434)
    run = models.Run.objects.get(publication__slug="wg1-2012-table-3.13")
    table = next(table for table in of(client, "topologies/")["tables"] if table["run_id"] == run.pk)
    four = next(line for line in table["lines"] if line["nodes"] == 4)
    assert (four["total"], four["per_node"]) == (2359.38, pytest.approx(589.845))
    assert client.get(table["comparison"]).status_code == 200


def test_publications_say_where_they_are_from_and_what_is_in_doubt(
    loaded: None, client: Client, django_assert_num_queries: Any
) -> None:
    with django_assert_num_queries(2):
        by_slug = {row["slug"]: row for row in of(client, "publications/")["results"]}
    assert len(by_slug) == len(TABLES)
    table = by_slug["wg1-2012-table-3.13"]
    assert [one["published"] for one in table["derived"] if not one["agrees"]] == ["430.2"]
    assert "recomputed 589.845" in table["remarks"][0]["text"]
    assert client.get(table["links"]["file"]).status_code == 200


def test_runs_and_trials_say_whose_figures_they_are(loaded: None, client: Client) -> None:
    run = models.Run.objects.get(publication__slug="zfs-arc-2019")
    trial = run.trials.first()
    expected = {"slug": "zfs-arc-2019", "year": 2019}
    for publication in (
        of(client, f"runs/{run.pk}/")["run"]["publication"],
        of(client, f"trials/{trial.pk}/")["publication"],
        next(row for row in of(client, "runs/")["results"] if row["id"] == run.pk)["publication"],
        of(client, f"trials/?run={run.pk}")["results"][0]["publication"],
    ):
        assert {name: publication[name] for name in expected} == expected
    measured = factories.finished_run()
    assert of(client, f"runs/{measured.pk}/")["run"]["publication"] is None
    assert of(client, f"trials/{measured.trials.first().pk}/")["publication"] is None
    published = next(f for f in of(client, f"comparison/?run={run.pk}")["facets"] if f["name"] == "published")
    assert published["values"] == [{"value": "zfs-arc-2019", "trials": 20}]  # of the first level of what would be mixed
