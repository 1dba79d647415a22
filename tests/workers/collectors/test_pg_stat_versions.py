"""What each version tells of its sessions."""

from __future__ import annotations

import pytest

from workers.collectors.pg_stat import collect
from workers.workloads.ssb.load import SESSIONS


@pytest.mark.parametrize(("version", "reported"), [(90524, False), (90624, False), (100023, True), (180004, True)])
def test_waits_are_told_where_the_client_is_one_of_them(version: int, reported: bool) -> None:
    assert (collect._activity(version)["client"] != "false") is reported


def test_no_load_is_called_as_the_collectors_own_sessions_are() -> None:
    assert not SESSIONS.startswith("teiten")
