"""Wait events have one name in all versions."""

from __future__ import annotations

import pytest

from results.domain.measurement.wait_events import wait_event


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("IO: WALSync", "IO: WalSync"),
        ("IO: WALInitWrite", "IO: WalInitWrite"),
        ("IO: SLRURead", "IO: SlruRead"),
        ("IO: DSMFillZeroWrite", "IO: DsmFillZeroWrite"),
        ("IO: BufFileRead", "IO: BuffileRead"),
        ("IPC: BufferIO", "IPC: BufferIo"),
        ("Client: WalSenderWaitForWAL", "Client: WalSenderWaitForWal"),
        ("Client: SSLOpenServer", "Client: SslOpenServer"),
        ("LWLock: WALWriteLock", "LWLock: WALWrite"),
        ("LWLock: wal_insert", "LWLock: WALInsert"),
        ("LWLock: buffer_content", "LWLock: BufferContent"),
        ("LWLock: CLogControlLock", "LWLock: XactSLRU"),
    ],
)
def test_an_old_name_is_read_as_the_newest(old: str, new: str) -> None:
    assert wait_event(old) == new
    assert wait_event(new) == new


@pytest.mark.parametrize(
    "label",
    [
        "CPU: running",
        "IO: DataFileRead",
        "Client: ClientRead",
        "Lock: transactionid",
        "LWLock: pg_stat_statements",
        "Timeout: PgSleep",
        "",
    ],
)
def test_a_name_that_never_changed_stays(label: str) -> None:
    assert wait_event(label) == label
