"""Answers are let go as soon as they are sent."""

from __future__ import annotations

import gc
import weakref
from collections.abc import Iterator

import pytest
from django.core.signals import request_finished
from django.test import RequestFactory
from django.test.client import ClientHandler

from tests import factories
from webapp import garbage

pytestmark = pytest.mark.django_db


class Circle:
    def __init__(self) -> None:
        self.own = self


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


def test_a_server_looks_after_every_answer() -> None:
    before = gc.get_threshold()
    garbage.settle()
    gc.unfreeze()
    gc.set_threshold(*before)
    assert request_finished.disconnect(garbage.tidy), "it was not told of answers"


def test_circles_are_looked_for_after_an_answer_when_there_is_enough_of_them() -> None:
    few = Circle()
    kept = weakref.ref(few)
    del few
    garbage.tidy()
    assert kept() is not None
    many = [Circle() for _ in range(20_000)]
    del many
    garbage.tidy()
    assert kept() is None
