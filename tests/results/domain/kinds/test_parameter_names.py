"""Names of parameters in the reader's language."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from django.apps import apps

from results.domain.kinds.parameter_names import parameter_level, parameter_name
from results.domain.kinds.parameters import Kind, Parameter
from results.domain.messages import localized, pgettext_lazy, use_catalogues

JAPANESE = {"load": "負荷", "topology.{name}": "{name}"}


@pytest.fixture
def japanese() -> Iterator[None]:
    use_catalogues(
        lambda context, text: JAPANESE.get(text, text) if context == "parameter" else text, lambda _, plural, __: plural
    )
    yield
    apps.get_app_config("results").ready()


@pytest.mark.usefixtures("japanese")
@pytest.mark.parametrize(
    ("key", "name"),
    [("load", "負荷"), ("topology.load", "負荷"), ("fillfactor", "fillfactor"), ("host.load", "host.load")],
)
def test_a_key_has_a_name_in_the_readers_language_and_is_the_name_in_english(key: str, name: str) -> None:
    assert (parameter_name(key), localized(parameter_name(key))) == (key, name)


@pytest.mark.usefixtures("japanese")
def test_a_level_stands_behind_what_it_is_of() -> None:
    level = parameter_level("topology.load", "both")
    assert (level, localized(level)) == ("topology.load both", "負荷 both")


@pytest.mark.usefixtures("japanese")
def test_a_declared_name_stays_a_key_in_any_language() -> None:
    parameter = Parameter(pgettext_lazy("parameter", "load"), Kind.INTEGER, 1, "")
    assert type(parameter.name) is str
    assert localized(parameter.name) == "load"
