"""A/A plans."""

from __future__ import annotations

import pytest

from results.domain.errors import PlanError
from results.domain.matrix import expand
from results.domain.plan import from_mapping
from results.domain.plan.aa import twinned
from tests import factories
from webapp.forms.levels import read_levels, write_levels
from workers.registry import kinds


def test_every_configuration_occurs_twice_and_the_two_are_the_same() -> None:
    plan = factories.a_plan()
    aa_run = expand(twinned(plan))
    assert len(aa_run) == 2 * len(expand(plan))
    assert [a.values == b.values for a, b in zip(aa_run[::2], aa_run[1::2], strict=True)] == [True] * 4
    assert [a.levels["twin"] != b.levels["twin"] for a, b in zip(aa_run[::2], aa_run[1::2], strict=True)] == [True] * 4


def test_it_has_five_blocks_at_least() -> None:
    assert twinned(factories.a_plan(replicates=2)).replicates == 5
    assert twinned(factories.a_plan(replicates=9)).replicates == 9


def test_it_is_a_plan_like_any_other() -> None:
    aa_plan = twinned(factories.a_plan())
    assert from_mapping(aa_plan.to_mapping(), kinds()) == aa_plan


def test_what_is_changed_in_the_plan_afterwards_holds_for_both() -> None:
    mapping = twinned(factories.a_plan()).to_mapping() | {"duration_s": 60}
    assert {c.values["duration_s"] for c in expand(from_mapping(mapping, kinds()))} == {60}


def test_the_form_shows_and_reads_a_level_that_sets_nothing() -> None:
    levels = twinned(factories.a_plan()).to_mapping()["factors"]["twin"]
    assert read_levels(None, write_levels(levels)) == levels


def test_twins_of_twins_are_refused() -> None:
    with pytest.raises(PlanError, match="twice already"):
        twinned(twinned(factories.a_plan()))
