"""The SQL of logical replication, one question or step a file."""

from __future__ import annotations

from pathlib import Path

_HERE = Path(__file__).parent

PUBLISH = (_HERE / "publish.sql").read_text()
PUBLISHED = (_HERE / "published.sql").read_text()
ROWS = (_HERE / "rows.sql").read_text()
COPIED = (_HERE / "copied.sql").read_text()
APPLIED = (_HERE / "applied.sql").read_text()
DATABASES = (_HERE / "databases.sql").read_text()
UNSUBSCRIBE = (_HERE / "unsubscribe.sql").read_text()
RELEASE = (_HERE / "release.sql").read_text()
SYNCHRONOUS = (_HERE / "synchronous.sql").read_text()
