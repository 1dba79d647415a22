"""Whole numbers as the warehouse packs them: seven bits a byte, the lowest first, and the eighth bit where more follow.
Ascending ones are packed as differences. What is written here is read by PostgreSQL too (`results_whole_numbers` and
`results_ascending` of migration 0040). Pure."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray


def packed(numbers: Sequence[int]) -> bytes:
    """Return numbers of 0 to 2^63 - 1 as bytes. Raises ValueError for a negative one, OverflowError for one beyond."""
    array = np.asarray(numbers, dtype=np.int64)
    if (array < 0).any():
        raise ValueError(f"{array.min()} is negative")
    return _packed(array.astype(np.uint64))


def packed_ascending(numbers: Sequence[int]) -> bytes:
    """Return numbers of 64 bits as bytes, few where each is a little larger than the one before. Any order is kept."""
    array = np.asarray(numbers, dtype=np.int64)
    differences = array.copy()
    differences[1:] -= array[:-1]
    return _packed(_unsigned(differences))


def packed_each(numbers: NDArray[np.int64], lengths: NDArray[np.int64]) -> list[bytes]:
    """Return each of several lists, which stand one after the other, as `packed` does.

    lengths: of the lists, none of which is empty
    """
    if (numbers < 0).any():
        raise ValueError(f"{numbers.min()} is negative")
    return _packed_each(numbers.astype(np.uint64), lengths)


def packed_ascending_each(numbers: NDArray[np.int64], lengths: NDArray[np.int64]) -> list[bytes]:
    """Return each of several lists, which stand one after the other, as `packed_ascending` does.

    lengths: of the lists, none of which is empty
    """
    differences = np.diff(numbers, prepend=0)
    firsts = np.cumsum(lengths) - lengths
    differences[firsts] = numbers[firsts]
    return _packed_each(_unsigned(differences), lengths)


def whole_numbers(data: bytes) -> list[int]:
    """Return what `packed` packed."""
    return _unpacked(data).astype(np.int64).tolist()


def ascending(data: bytes) -> list[int]:
    """Return what `packed_ascending` packed."""
    numbers = _unpacked(data)
    differences = (numbers >> np.uint64(1)).astype(np.int64) ^ -(numbers & np.uint64(1)).astype(np.int64)
    return np.cumsum(differences).tolist()


def _unsigned(numbers: NDArray[np.int64]) -> NDArray[np.uint64]:
    """Return 0, -1, 1, -2 … as 0, 1, 2, 3 …"""
    return ((numbers << 1) ^ (numbers >> 63)).astype(np.uint64)


def _packed(numbers: NDArray[np.uint64]) -> bytes:
    groups, written = _groups(numbers)
    return groups[written].tobytes()


def _packed_each(numbers: NDArray[np.uint64], lengths: NDArray[np.int64]) -> list[bytes]:
    groups, written = _groups(numbers)
    indexes = np.flatnonzero(written)
    data = groups.ravel()[indexes].tobytes()
    ends = np.searchsorted(indexes, np.cumsum(lengths) * groups.shape[1]).tolist()
    return [data[begin:end] for begin, end in pairwise([0, *ends])]


def _groups(numbers: NDArray[np.uint64]) -> tuple[NDArray[np.uint8], NDArray[np.bool_]]:
    """Return as many bytes of each number as the largest takes, and which of them are written."""
    count = -(-int(numbers.max(initial=1)).bit_length() // 7)
    shifts = np.arange(count, dtype=np.uint64) * np.uint64(7)
    rest = numbers[:, np.newaxis] >> shifts
    groups = (rest & np.uint64(127)).astype(np.uint8)
    more = rest[:, 1:] > 0
    groups[:, :-1] |= more.astype(np.uint8) << 7
    return groups, np.hstack([np.ones((len(numbers), 1), dtype=bool), more])


def _unpacked(data: bytes) -> NDArray[np.uint64]:
    groups = np.frombuffer(data, dtype=np.uint8)
    if not len(groups):
        return np.zeros(0, dtype=np.uint64)
    ends = np.flatnonzero(groups < 128)
    firsts = np.concatenate([[0], ends[:-1] + 1])
    places = np.arange(len(groups)) - np.repeat(firsts, ends - firsts + 1)
    bits = (groups & 127).astype(np.uint64) << (places * 7).astype(np.uint64)
    return np.bitwise_or.reduceat(bits, firsts)
