"""Packed numbers lose nothing, whichever they are, and a histogram's take about two bytes each."""

from __future__ import annotations

import numpy as np
import pytest

from results.domain.measurement.packed_numbers import (
    ascending,
    packed,
    packed_ascending,
    packed_ascending_each,
    packed_each,
    whole_numbers,
)

MOST = 2**63 - 1


@pytest.mark.parametrize("numbers", [[], [0], [1, 127, 128, 16_383, 16_384], [MOST, 0, MOST], list(range(1_000))])
def test_numbers_come_back(numbers: list[int]) -> None:
    assert whole_numbers(packed(numbers)) == numbers
    assert ascending(packed_ascending(numbers)) == numbers


@pytest.mark.parametrize("numbers", [[-3, -2, 5], [500, 400, 400], [MOST, 0, MOST, -1]])
def test_what_does_not_ascend_comes_back_all_the_same(numbers: list[int]) -> None:
    assert ascending(packed_ascending(numbers)) == numbers


def test_several_lists_are_packed_at_once_as_each_is_alone() -> None:
    lists = [[0], [1, 127, 128, 16_384], [MOST], [5, 5, 70_000], [3]]
    numbers, lengths = np.concatenate(lists), np.array(list(map(len, lists)))
    assert packed_each(numbers, lengths) == list(map(packed, lists))
    assert packed_ascending_each(numbers, lengths) == list(map(packed_ascending, lists))
    with pytest.raises(ValueError, match="-1 is negative"):
        packed_each(np.array([3, -1]), np.array([1, 1]))


def test_numbers_take_a_byte_as_long_as_they_are_small() -> None:
    assert packed([0, 1, 127, 128]) == bytes([0, 1, 127, 128, 1])
    assert packed_ascending([1_000, 1_001, 1_000, 1_063]) == bytes([208, 15, 2, 1, 126])


def test_a_negative_number_is_refused() -> None:
    with pytest.raises(ValueError, match="-1 is negative"):
        packed([3, -1])


def test_a_number_of_more_than_64_bits_is_refused() -> None:
    with pytest.raises(OverflowError):
        packed([2**63])
