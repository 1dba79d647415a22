"""From a cell to why, over the API."""

from __future__ import annotations

from typing import Any

import pytest
from django.test import Client
from rest_framework.test import APIClient

from results import models
from results.domain.environment.layers import Layer, LayerKind
from tests.environments import replace_layers
from tests.watched import SECONDS, measured, watched_run

WHY = "/api/v1/comparison/why/"


@pytest.fixture
def run(db: None, settings: Any) -> models.Run:
    settings.TEITEN_OPEN_READING = True
    return watched_run()


def test_every_number_is_that_of_a_trial(run: models.Run, anonymous: APIClient) -> None:
    content = anonymous.get(WHY, {"run": run.pk, "at": "4"}).json()
    (wal,) = [one for one in content["movements"] if (one["name"], one["node"]) == ("wal", "primary")]
    assert (wal["state"], wal["formula"], round(wal["ratio"], 3)) == ("moved", "wal.bytes / transactions", 1.1)
    assert wal["verdict"]["kind"] == "worse"
    for side in ("base", "other"):
        trials = {one["id"]: one for one in content[side]["trials"]}
        assert len(trials) == content[side]["n"] == 5
        for value in wal[side]:
            of_trial = measured(models.Trial.objects.select_related("configuration").get(pk=value["trial_id"]))
            values = {metric: number for metric, _, label, number in of_trial if not label}
            assert value["value"] == values["wal.bytes"] / values["transactions"]
            assert trials[value["trial_id"]]["value"] == pytest.approx(values["transactions"] / SECONDS)
        assert anonymous.get(next(iter(trials.values()))["link"]).json()["id"] in trials


def test_it_is_the_pages_answer(run: models.Run, anonymous: APIClient) -> None:
    content = anonymous.get(WHY, {"run": run.pk, "at": "1"}).json()
    assert (content["base"]["series"], content["other"]["series"]) == ("postgresql-16.9", "postgresql-18.1")
    assert (content["metric"]["name"], round(content["ratio"], 3)) == ("tps", 1.125)
    assert content["verdict"]["kind"] == "better"
    message = {
        state: {one["said"] for one in content["movements"] if one["state"] == state} for state in ("same", "none")
    }
    assert "blocks hit" in message["same"] and "blocks read" in message["none"]
    (pair,) = content["plans"]
    join, *others = pair["pairs"]
    assert (pair["label"], join["left"], join["right"]) == ("q1", 0, 0)
    assert "node" in join["differs"] and not any("node" in one["differs"] for one in others)
    kinds = [pair[side]["plan"]["lines"][0]["kind"] for side in ("base", "other")]
    assert kinds == ["Hash Join", "Nested Loop"]
    assert anonymous.get(content["links"]["self"]).json() == content
    page = Client().get(content["links"]["page"])
    assert page.status_code == 200 and "1,128" in page.content.decode()


def test_settings_that_differ_are_told_by_node(run: models.Run, anonymous: APIClient) -> None:
    newer = models.Attempt.objects.filter(trial__configuration__dimensions__major="18")
    replace_layers(newer, settings=("primary", Layer(LayerKind.SETTINGS, {"jit": "off"})))
    settings = anonymous.get(WHY, {"run": run.pk}).json()["settings"]
    assert settings["primary"]["jit"] == {"base": None, "other": "off"}


def test_a_cell_that_is_not_there_and_one_without_another(run: models.Run, anonymous: APIClient) -> None:
    gone = anonymous.get(WHY, {"run": run.pk, "at": "7"})
    assert (gone.status_code, gone.json()["error"]["where"]) == (400, "at")
    alone = anonymous.get(WHY, {"run": run.pk, "series": "none"})
    assert (alone.status_code, alone.json()["error"]["where"]) == (400, "baseline")
    nothing = anonymous.get(WHY)
    assert nothing.status_code == 400


def test_its_queries_are_the_comparisons_and_eleven(
    run: models.Run, anonymous: APIClient, django_assert_num_queries: Any
) -> None:
    for one in (run, watched_run(12)):
        with django_assert_num_queries(5 + 11):
            assert anonymous.get(WHY, {"run": one.pk}).status_code == 200


def test_a_stranger_reads_it_only_where_reading_is_open(run: models.Run, anonymous: APIClient, settings: Any) -> None:
    settings.TEITEN_OPEN_READING = False
    assert anonymous.get(WHY, {"run": run.pk}).status_code == 401
