"""Which layers an environment has is stored once, whoever stores it first."""

from __future__ import annotations

import time
from threading import Thread
from typing import Any

import pytest
from django.db import connections, transaction

from results import models
from results.agents import store_layers
from results.domain.environment.layers import Layer, LayerKind, environment_hash
from results.environments import store_environments
from tests.databases import somebody_waits

LAYERS = [Layer(LayerKind.KERNEL, {"release": f"6.12.{number}"}) for number in range(8)]
USES = [("primary", layer.hash) for layer in LAYERS]
ROWS = {(environment_hash(USES), *use) for use in USES}


@pytest.mark.django_db(transaction=True)
@pytest.mark.parametrize("gives_up", [False, True])
def test_of_two_who_store_the_same_at_once_one_does(gives_up: bool) -> None:
    store_layers(LAYERS)

    def store_too() -> None:
        try:
            store_environments([[*reversed(USES)]])
        finally:
            connections.close_all()

    thread = Thread(target=store_too)
    with transaction.atomic():
        store_environments([USES])
        thread.start()
        while thread.is_alive() and not somebody_waits():
            time.sleep(0.01)
        assert thread.is_alive()
        transaction.set_rollback(gives_up)
    thread.join()
    assert set(models.EnvironmentLayer.objects.values_list("environment", "node", "layer_id")) == ROWS


@pytest.mark.django_db
def test_several_are_one_statement_and_one_without_layers_none(django_assert_num_queries: Any) -> None:
    store_layers(LAYERS)
    with django_assert_num_queries(1):
        store_environments([USES, USES[:3], []])
    assert models.EnvironmentLayer.objects.count() == len(USES) + 3
    with django_assert_num_queries(0):
        store_environments([[]])
