"""Where servers keep data, WAL and tablespace: folders that the agent's operator named."""

from __future__ import annotations

from collections.abc import Mapping

from results.domain.kinds.host_factors import DATA, PLACED, TABLESPACE, WAL
from results.domain.measurement.parsed_trial import Check
from workers.postgres.server import Server


async def make_tablespace(server: Server, folder: str) -> None:
    """New tables and indexes go there from now on. The cluster has this tablespace for good: where its parts lie is
    what clusters are told apart by. Raises CommandError."""
    place = f"{folder}/tablespaces/{server.cluster_name}"
    state = (await server.query(_STATE))[0]
    if not state["there"] and not state["standby"]:  # a standby has what its primary has
        await server.remote.script('rm -rf -- "$1" && mkdir -p -- "$1" && chmod 700 -- "$1"', place)
        await server.execute(_TABLESPACE, variables={"place": place})


async def checks(server: Server, database: str, folders: Mapping[str, str], node: str) -> list[Check]:
    """For each of data, wal, tablespace that has a folder: the file system's own word for where its files are. Raises
    CommandError."""
    files = {DATA: server.data_dir, WAL: f"{server.data_dir}/{_wal_folder(server)}"}
    found: list[Check] = []
    for part in PLACED:
        if part not in folders:
            continue
        if part == TABLESPACE:
            row = (await server.query(_WHERE, database=database))[0]
            files[part] = row["location"] or ""
            others = ", ".join(row["others"][:5])
            text = f"not all tables are there: {others}" if others else "all tables are there"
            found.append(Check("host.tablespace of tables", node, "all tables are there", text, not others))
        answer = await server.remote.script(_LOCATED, folders[part], files[part], check=False)
        wanted, actual, *_ = [*answer.stdout.splitlines(), "", ""]
        found.append(
            Check(f"host.{part}", node, wanted, actual or answer.stderr.strip(), bool(wanted) and wanted == actual)
        )
    return found


def _wal_folder(server: Server) -> str:
    return "pg_wal" if server.installation.version_num >= 100000 else "pg_xlog"


_TABLESPACE = """
CREATE TABLESPACE teiten LOCATION :'place';
ALTER ROLE CURRENT_USER SET default_tablespace = 'teiten';
"""

_STATE = """
SELECT pg_is_in_recovery() AS standby, EXISTS (SELECT FROM pg_tablespace WHERE spcname = 'teiten') AS there
"""

_WHERE = """
SELECT (SELECT pg_tablespace_location(oid) FROM pg_tablespace WHERE spcname = 'teiten') AS location,
       coalesce(
           json_agg(c.relname ORDER BY c.relname) FILTER (WHERE t.spcname IS DISTINCT FROM 'teiten'), '[]'
       ) AS others
  FROM pg_class AS c
  JOIN pg_namespace AS n ON n.oid = c.relnamespace
  LEFT JOIN pg_tablespace AS t ON t.oid = c.reltablespace
 WHERE c.relkind IN ('r', 'i', 'm') AND n.nspname NOT IN ('pg_catalog', 'information_schema', 'pg_toast')
"""

# What is expected of files that lie below a folder, and how these lie: real folder and the device's number.
_LOCATED = """
folder=$(readlink -f -- "$1") && file=$(readlink -f -- "$2") || exit
echo "$folder (device $(stat -c %d -- "$folder"))"
case $file/ in
    "$folder"/*) echo "$folder (device $(stat -c %d -- "$file"))" ;;
    *) echo "$file (device $(stat -c %d -- "$file"))" ;;
esac
"""
