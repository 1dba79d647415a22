"""The SQL of sharing out, one question or step a file."""

from __future__ import annotations

from pathlib import Path

_HERE = Path(__file__).parent

LARGE = (_HERE / "large.sql").read_text()
SHARED = (_HERE / "shared.sql").read_text()
PARENT = (_HERE / "parent.sql").read_text()
PART = (_HERE / "part.sql").read_text()
REPLACE = (_HERE / "replace.sql").read_text()
MAPPING = (_HERE / "mapping.sql").read_text()
DATABASES = (_HERE / "databases.sql").read_text()
IDENTITIES = (_HERE / "identities.sql").read_text()
REACHED = (_HERE / "reached.sql").read_text()
MOVE = (_HERE / "move.sh").read_text()
EXTENT = "SELECT count(*) AS rows, min(:key) AS first, max(:key) AS last FROM :name"
ENDS = "SELECT min(:key) AS first, max(:key) AS last FROM :name"
PLAN = "EXPLAIN (FORMAT JSON) SELECT count(*) FROM :name WHERE :key BETWEEN :first AND :last;"
