"""Answers are let go as soon as they are sent."""

from __future__ import annotations

import gc
import weakref
from collections.abc import Iterator

import pytest
from django.test import RequestFactory
from django.test.client import ClientHandler

from tests import factories

pytestmark = pytest.mark.django_db


@pytest.fixture(autouse=True)
def by_hand() -> Iterator[None]:
    """No collection but those that the tests ask for."""
    gc.collect()
    gc.disable()
    yield
    gc.enable()


def test_a_comparison_is_freed_without_the_garbage_collector() -> None:
    made = factories.finished_run()
    environ = RequestFactory().get(f"/api/v1/comparison/?run={made.pk}").environ
    answer = ClientHandler()(environ)
    assert answer.status_code == 200
    alive = weakref.ref(answer)
    del answer
    assert alive() is None
