"""How levels and axes are called."""

from __future__ import annotations

import pytest

from results.queries.shared.metrics import MetricRow
from webapp.labels import axis_title, short_levels


def test_what_is_the_same_in_all_levels_or_not_set_is_no_part_of_their_names() -> None:
    levels = ["4 · default · heap", "4 · 64MB · heap", "8 · default · heap"]
    assert list(short_levels("clients,setting.work_mem,access_method", levels).values()) == ["4", "4 · 64MB", "8"]


def test_a_level_that_would_be_called_like_another_keeps_its_whole_name() -> None:
    levels = ["default · 64MB", "64MB · default", "default · default"]
    assert list(short_levels("setting.a,setting.b", levels).values()) == levels


def test_levels_of_one_dimension_are_themselves() -> None:
    assert short_levels("setting.work_mem", ["default", "64MB"]) == {"default": "default", "64MB": "64MB"}


@pytest.mark.parametrize(
    ("label_noun", "title"),
    [("query", "query"), ("", "part")],
)
def test_an_axis_of_labels_is_called_by_what_they_name(label_noun: str, title: str) -> None:
    metric = MetricRow("query.time", "s", "lower", "Time", label_noun=label_noun)
    assert axis_title("label", metric) == title
    assert axis_title("setting.work_mem,label", metric) == f"work_mem · {title}"
