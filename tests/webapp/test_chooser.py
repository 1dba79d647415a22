"""How choices of a page are called."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from django.apps import apps

from results.domain.messages import use_catalogues
from webapp.chooser import title
from webapp.forms.words import key as written
from webapp.forms.words import label
from webapp.templatetags.teiten import configuration


def test_a_dimension_is_called_by_its_setting_or_its_words() -> None:
    assert title("setting.work_mem,access_method") == "work_mem · access method"


def test_labels_are_called_by_what_the_metric_says_they_are() -> None:
    assert title("label", "query") == "query"
    assert title("clients,label", "step") == "clients · step"
    assert title("label") == "label"


@pytest.fixture
def japanese() -> Iterator[None]:
    names = {"scale_factor": "スケールファクタ", "duration_s": "測定時間（秒）", "_s": "（秒）"}
    use_catalogues(lambda _, text: names.get(text, text), lambda _, plural, __: plural)
    yield
    apps.get_app_config("results").ready()


@pytest.mark.parametrize(("key", "english"), [("scale_factor", "scale factor"), ("duration_s", "duration s")])
def test_a_parameter_is_called_by_its_words_in_english(key: str, english: str) -> None:
    assert title(key) == english
    assert configuration({key: "10"}) == f"{key} 10"
    assert (label(key), written(key)) == (english.removesuffix(" s"), "")


@pytest.mark.usefixtures("japanese")
@pytest.mark.parametrize(("key", "name"), [("scale_factor", "スケールファクタ"), ("duration_s", "測定時間（秒）")])
def test_a_parameter_is_called_by_its_name_in_the_readers_language_with_its_key_in_the_form(
    key: str, name: str
) -> None:
    assert title(f"{key},setting.work_mem") == f"{name} · work_mem"
    assert configuration({key: "10"}) == f"{name} 10"
    assert (label(key), written(key)) == (name.removesuffix("（秒）"), key)
