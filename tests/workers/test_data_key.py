"""Which trials may share loaded data."""

from __future__ import annotations

from dataclasses import replace

from tests.workers.bundle.test_declared import SPEC
from workers.data import data_key


def test_settings_that_shape_the_data_tell_it_apart_and_others_do_not() -> None:
    def key(**settings: str) -> str:
        return data_key(replace(SPEC, settings=settings))[1]

    assert key() == key(work_mem="1GB")
    assert len({key(), key(default_statistics_target="10"), key(default_statistics_target="1000")}) == 3
    assert key(default_toast_compression="lz4") != key()
