"""Errors that were stored are shown in the reader's language, whatever others wrote into a bundle."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

import pytest
from django.apps import apps

from results.domain.errors import TrialError, restored
from results.domain.failure_cause import cause
from results.domain.messages import gettext_lazy as _
from results.domain.messages import localized, use_catalogues

JAPANESE = {
    "Agent {agent} has no {tool}.": "エージェント{agent}に{tool}がありません。",
    "Install it.": "インストールしてください。",
}


@pytest.fixture(autouse=True)
def _japanese() -> Iterator[None]:
    use_catalogues(lambda _context, text: JAPANESE.get(text, text), lambda text, plural, number: plural)
    yield
    apps.get_app_config("results").ready()


def stored(**changed: Any) -> dict[str, Any]:
    error = TrialError(_("Agent {agent} has no {tool}.", agent="db1", tool="perf"), why="exit 3", todo=_("Install it."))
    fields: dict[str, Any] = json.loads(json.dumps(error.as_dict() | changed))
    return fields


def test_sentences_are_in_the_readers_language() -> None:
    shown = restored(stored())
    assert localized(shown["what"]) == "エージェントdb1にperfがありません。"
    assert localized(shown["todo"]) == "インストールしてください。"
    assert localized(cause(stored())) == "エージェントdb1にperfがありません。 exit 3"
    assert restored(shown) == shown
    assert localized(cause(shown)) == localized(cause(stored()))


def test_a_sentence_that_was_changed_since_stays() -> None:
    assert localized(restored(stored(what="Another."))["what"]) == "Another."


@pytest.mark.parametrize(
    "messages",
    ["junk", [1], {"what": 5}, {"what": {"id": "{a} {b}", "values": {"a": 1}}}, {"what": {"id": "{a:{b}}"}}],
)
def test_whatever_else_a_bundle_has_of_it_does_no_harm(messages: Any) -> None:
    error = stored(messages=messages)
    assert localized(restored(error)["what"]) == error["what"]
    assert cause(error) == "Agent db1 has no perf. exit 3"


@pytest.mark.parametrize("form", ["{a:999999999}", "{a:{b}}"])
def test_no_place_makes_a_value_long(form: str) -> None:
    error = stored(messages={"what": {"id": form, "values": {"a": "x", "b": 10**9}}})
    assert restored(error)["what"] == error["what"]
