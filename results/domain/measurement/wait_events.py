"""One name for a wait event, whatever PostgreSQL calls it in which version. Pure.

The name is that of the newest version. 17 derives all but those of lightweight locks from one list (WALSync became
WalSync); 13 renamed lightweight locks, which ended in "Lock" or were written with underscores before.
"""

from __future__ import annotations

import re
from functools import cache

WAITS = "waits"  # the metric and series of sessions by what they wait for
_CAPITALS = re.compile(r"[A-Z]+(?=[A-Z][a-z]|$)")
_RENAMED = {
    "AutoVacuumMain": "AutovacuumMain",
    "BaseBackupRead": "BasebackupRead",
    "BaseBackupSync": "BasebackupSync",
    "BaseBackupWrite": "BasebackupWrite",
    "BgWriterHibernate": "BgwriterHibernate",
    "BgWriterMain": "BgwriterMain",
    "BufFileRead": "BuffileRead",
    "BufFileTruncate": "BuffileTruncate",
    "BufFileWrite": "BuffileWrite",
    "ClogGroupUpdate": "XactGroupUpdate",
    "LibPQWalReceiverConnect": "LibpqwalreceiverConnect",
    "LibPQWalReceiverReceive": "LibpqwalreceiverReceive",
    "ProcArrayGroupUpdate": "ProcarrayGroupUpdate",
    "SysLoggerMain": "SysloggerMain",
}
_LWLOCKS = {
    "CLogControlLock": "XactSLRU",
    "buffer_content": "BufferContent",
    "buffer_mapping": "BufferMapping",
    "clog": "XactBuffer",
    "lock_manager": "LockManager",
    "parallel_append": "ParallelAppend",
    "parallel_query_dsa": "ParallelQueryDSA",
    "predicate_lock_manager": "PredicateLockManager",
    "proc": "LockFastPath",
    "tbm": "SharedTidBitmap",
    "wal_insert": "WALInsert",
}


@cache
def wait_event(label: str) -> str:
    """Return a wait as the newest version names it: 'IO: WALSync' → 'IO: WalSync'."""
    kind, separator, name = label.partition(": ")
    if not separator or kind in ("CPU", "Lock", "Extension", "InjectionPoint"):
        return label
    if kind == "LWLock":
        if name in _LWLOCKS:
            return f"{kind}: {_LWLOCKS[name]}"
        return f"{kind}: {name.removesuffix('Lock')}" if name[:1].isupper() else label
    newest = _RENAMED.get(name) or _CAPITALS.sub(lambda match: match[0].capitalize(), name)
    return f"{kind}: {newest}"
