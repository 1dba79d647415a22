"""Layers of the environment: what they are told apart by."""

from __future__ import annotations

from importlib import import_module

import pytest
from django.db import connection

from results import models
from results.domain.environment.layers import environment_hash
from tests import factories


def test_one_hash_stands_for_all_layers_in_any_order() -> None:
    uses = [("primary", "b"), ("client", "a"), ("primary", "a")]
    assert environment_hash(uses) == environment_hash([*reversed(uses), uses[0]])
    assert environment_hash(uses) != environment_hash(uses[:2])


@pytest.mark.django_db
def test_attempts_stored_before_get_the_same_hash_from_the_migration() -> None:
    made = factories.finished_run()
    stored = dict(models.Attempt.objects.values_list("pk", "environment"))
    assert all(len(digest) == 64 for digest in stored.values())
    with connection.cursor() as cursor:
        cursor.execute("CREATE TEMPORARY TABLE results_layeruse AS TABLE results_layeruse")  # as it was then, no view
        cursor.execute("UPDATE results_attempt SET environment = ''")
        cursor.execute(import_module("results.migrations.0003_comparisons").ENVIRONMENTS)
    assert dict(models.Attempt.objects.values_list("pk", "environment")) == stored
    assert made.trials.count() == len(stored)
