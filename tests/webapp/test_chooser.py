"""How choices of a page are called."""

from __future__ import annotations

from webapp.chooser import title


def test_a_dimension_is_called_by_its_setting_or_its_words() -> None:
    assert title("setting.work_mem,access_method") == "work_mem · access method"


def test_labels_are_called_by_what_the_metric_says_they_are() -> None:
    assert title("label", "query") == "query"
    assert title("clients,label", "step") == "clients · step"
    assert title("label") == "label"
