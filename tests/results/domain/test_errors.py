"""Errors are stored in English, and shown in the reader's language again."""

from __future__ import annotations

import json
from collections.abc import Iterator
from datetime import UTC, datetime

import pytest
from django.apps import apps

from results.domain.errors import PlanError, Problem, TeitenError, TrialError, restored
from results.domain.messages import Message, localized, use_catalogues
from results.domain.messages import gettext_lazy as _

JAPANESE = {
    "Agent {agent} is unknown.": "エージェント{agent}は登録されていません。",
    "Add it.": "追加してください。",
    "{problem} (and {count} more)": "{problem}(ほか{count}件)",
}


@pytest.fixture(autouse=True)
def _japanese() -> Iterator[None]:
    use_catalogues(lambda _, text: JAPANESE.get(text, text), lambda _, plural, __: JAPANESE.get(plural, plural))
    yield
    apps.get_app_config("results").ready()


def stored(error: TeitenError) -> dict[str, object]:
    return json.loads(json.dumps(error.as_dict()))


def test_what_is_stored_is_english_and_what_is_restored_can_be_translated() -> None:
    error = TrialError(_("Agent {agent} is unknown.", agent="db1"), where="prepare", why="ssh: no", todo=_("Add it."))
    fields = stored(error)
    assert (fields["what"], fields["todo"]) == ("Agent db1 is unknown.", "Add it.")
    again = restored(fields)
    assert {name: localized(again[name]) for name in ("what", "why", "todo")} == {
        "what": "エージェントdb1は登録されていません。",
        "why": "ssh: no",
        "todo": "追加してください。",
    }
    assert again.keys() == fields.keys() - {"messages"}


def test_an_error_of_an_earlier_version_stays_as_it_is() -> None:
    earlier = {"kind": "trial", "what": "Agent db1 is unknown.", "why": "", "todo": "Add it.", "retryable": False}
    assert [localized(restored(earlier)[name]) for name in ("what", "todo")] == [
        "Agent db1 is unknown.",
        "追加してください。",
    ]


def test_every_problem_of_a_plan_can_be_translated() -> None:
    unknown = _("Agent {agent} is unknown.", agent="db1")
    again = restored(stored(PlanError([Problem("agents", unknown, _("Add it.")), Problem("clients", "none")])))
    assert localized(again["what"]) == "エージェントdb1は登録されていません。(ほか1件)"
    assert localized(again["problems"][0]["what"]) == "エージェントdb1は登録されていません。"


def test_a_secret_among_the_values_is_stored_nowhere() -> None:
    error = TeitenError(_("Agent {agent} is unknown.", agent="postgresql://me:hunter2@db1/"))
    assert "hunter2" not in json.dumps(stored(error))


@pytest.mark.parametrize(
    "message",
    [
        _("{number:g} is not between 0 and 1", number=float("inf")),
        _("{text}", text="x" * 10_000),
        _("{name}={value}", name="password", value="hunter2"),
        _("{moment:%Y}", moment=datetime(2026, 1, 1, tzinfo=UTC)),
    ],
)
def test_what_could_not_be_made_again_is_kept_in_english_alone(message: Message) -> None:
    fields = stored(TeitenError(message))
    assert "messages" not in fields
    assert "hunter2" not in json.dumps(fields)
    assert localized(restored(fields)["what"]) == fields["what"] != ""
