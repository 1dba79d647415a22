"""A message is its English text, and can be shown in another language."""

from __future__ import annotations

import copy
import json
import pickle
from collections.abc import Iterator

import pytest
from django.apps import apps

from results.domain.messages import (
    BLANK,
    COMMA,
    DAMAGED,
    SEMICOLON,
    Message,
    from_json,
    gettext_lazy,
    linked,
    localized,
    ngettext_lazy,
    to_json,
    use_catalogues,
)

JAPANESE = {
    "Agent {agent} is unknown.": "エージェント{agent}は登録されていません。",
    "{number} trials failed": "{number}件の試行が失敗",
    "host key": "ホスト鍵",
    "100 % of {it}": "{it}の100%",
}


@pytest.fixture
def japanese() -> Iterator[None]:
    use_catalogues(lambda _, text: JAPANESE.get(text, text), lambda _, plural, __: JAPANESE.get(plural, plural))
    yield
    apps.get_app_config("results").ready()


@pytest.mark.usefixtures("japanese")
def test_a_message_is_english_and_is_shown_in_the_readers_language() -> None:
    message = gettext_lazy("Agent {agent} is unknown.", agent="db1")
    assert message == "Agent db1 is unknown." == str(message) == f"{message}"
    assert localized(message) == "エージェントdb1は登録されていません。"
    assert json.loads(json.dumps({"what": message})) == {"what": "Agent db1 is unknown."}


@pytest.mark.usefixtures("japanese")
def test_html_is_in_the_readers_language_and_escaped() -> None:
    message = gettext_lazy("Agent {agent} is unknown.", agent="<db1>")
    assert message.__html__() == "エージェント&lt;db1&gt;は登録されていません。"


@pytest.mark.usefixtures("japanese")
def test_a_number_decides_between_two_texts() -> None:
    assert [ngettext_lazy("{number} trial failed", "{number} trials failed", n) for n in (0, 1, 2)] == [
        "0 trials failed",
        "1 trial failed",
        "2 trials failed",
    ]
    assert localized(ngettext_lazy("{number} trial failed", "{number} trials failed", 1)) == "1件の試行が失敗"


@pytest.mark.usefixtures("japanese")
def test_messages_among_the_values_are_translated_too() -> None:
    message = gettext_lazy("100 % of {it}", it=gettext_lazy("host key"))
    assert (message, localized(message)) == ("100 % of host key", "ホスト鍵の100%")


def test_braces_and_per_cent_signs_without_values_stay_as_they_are() -> None:
    assert gettext_lazy("{agent} at 100 %") == "{agent} at 100 %" == localized(gettext_lazy("{agent} at 100 %"))


def test_what_is_no_message_and_what_is_empty_is_shown_as_it_is() -> None:
    assert (localized("fatal: no space"), localized(gettext_lazy(""))) == ("fatal: no space", "")


@pytest.mark.usefixtures("japanese")
@pytest.mark.parametrize("again", [copy.deepcopy, lambda message: pickle.loads(pickle.dumps(message))])
def test_a_copy_can_be_translated_as_well(again: object) -> None:
    message = again(ngettext_lazy("{number} trial failed", "{number} trials failed", 3))
    assert isinstance(message, Message)
    assert localized(message) == "3件の試行が失敗"


@pytest.mark.parametrize(
    "stored",
    [
        {"id": "{x.__reduce__}", "values": {"x": {"id": "y"}}},
        {"id": "{x[0]}", "values": {"x": "y"}},
        {"id": "{0}", "values": {}},
        {"id": "{x:9999999}", "values": {"x": "y"}},
        {"id": "{x:{y}}", "values": {"x": "y", "y": "9999999"}},
        {"id": "one", "plural": "{x.real}", "number": 2, "values": {"x": 1}},
        {"id": "one", "plural": "many", "number": "x"},
        {"id": "one", "context": 1},
        {"id": ["one"]},
        {"id": "{", "values": {"x": 1}},
        {"values": {}},
        {"id": "{x:c}", "values": {"x": 10**9}},
        {"id": "{x:f}", "values": {"x": 10**400}},
    ],
)
def test_what_others_stored_reaches_nothing_but_its_own_values(stored: dict[str, object]) -> None:
    with pytest.raises(DAMAGED):
        from_json(stored)


@pytest.mark.parametrize("form", ["{x:,}", "{x:.3f}", "{x:+.1f}", "{x:,.1f}", "{x:.15g}", "{x!r}", "{x}"])
def test_the_forms_of_numbers_are_stored_and_made_again(form: str) -> None:
    message = gettext_lazy(form, x=1234.5)
    assert from_json(to_json(message)) == message


def test_a_translation_with_other_places_is_not_shown() -> None:
    use_catalogues(lambda context, text: "{runs}件", lambda text, plural, number: "{runs}件")
    try:
        assert localized(gettext_lazy("{trials} trials", trials=3)) == "3 trials"
    finally:
        apps.get_app_config("results").ready()


@pytest.mark.usefixtures("japanese")
def test_parts_that_are_linked_are_one_message_however_many() -> None:
    keys = [gettext_lazy("host key"), "db1"]
    assert linked(SEMICOLON, keys) == "host key; db1"
    assert localized(linked(SEMICOLON, keys)) == "ホスト鍵; db1"
    assert (linked(COMMA, []), linked(COMMA, ["one"])) == ("", "one")
    many = linked(BLANK, keys * 5000)
    assert (many.count("host key"), localized(many).count("ホスト鍵")) == (5000, 5000)
    assert from_json(to_json(linked(" ", keys))) == "host key db1"
