"""Storage places: the folders, named by the agent's operator, in which servers keep data, WAL and tablespace."""

from __future__ import annotations

from collections.abc import Mapping

from results.domain.kinds.host_factors import DATA, PLACED, TABLESPACE, WAL
from results.domain.measurement.parsed_trial import Check
from results.domain.messages import COMMA, linked
from results.domain.messages import gettext_lazy as _
from workers.postgres.server import Server


async def make_tablespace(server: Server, folder: str) -> None:
    """Make a tablespace in this folder, for all new tables and indexes of the cluster. Raises CommandError.

    The cluster keeps it for good: clusters whose parts lie in other folders are other clusters.
    """
    location = f"{folder}/tablespaces/{server.cluster_name}"
    state = (await server.query(_STATE))[0]
    if not state["there"] and not state["standby"]:  # a standby has its primary's tablespaces
        await server.remote.remove(location)
        await server.remote.script('mkdir -p -- "$1" && chmod 700 -- "$1"', location)
        await server.execute(_TABLESPACE, variables={"location": location})


async def checks(server: Server, database: str, folders: Mapping[str, str], node: str) -> list[Check]:
    """Return whether data, WAL and tablespace lie where the plan wants them, by the file system. Raises CommandError.

    folders: data, wal, tablespace → folder, of those that have one
    """
    files = {DATA: server.data_dir, WAL: f"{server.data_dir}/{_wal_folder(server)}"}
    results: list[Check] = []
    for part in PLACED:
        if part not in folders:
            continue
        if part == TABLESPACE:
            row = (await server.query(_WHERE, database=database))[0]
            files[part] = row["location"] or ""
            other_tables = linked(COMMA, row["other_tables"][:5])
            all_there = _("all tables are there")
            text = _("not all tables are there: {tables}", tables=other_tables) if other_tables else all_there
            results.append(Check(_("host.tablespace of tables"), node, all_there, text, not other_tables))
        answer = await server.remote.script(_LOCATED, folders[part], files[part], check=False)
        expected, actual, *_rest = [*answer.stdout.splitlines(), "", ""]
        results.append(
            Check(
                f"host.{part}", node, expected, actual or answer.stderr.strip(), bool(expected) and expected == actual
            )
        )
    return results


def _wal_folder(server: Server) -> str:
    return "pg_wal" if server.installation.version_num >= 100000 else "pg_xlog"


_TABLESPACE = """
CREATE TABLESPACE teiten LOCATION :'location';
ALTER ROLE CURRENT_USER SET default_tablespace = 'teiten';
"""

_STATE = """
SELECT pg_is_in_recovery() AS standby, EXISTS (SELECT FROM pg_tablespace WHERE spcname = 'teiten') AS there
"""

_WHERE = """
SELECT (SELECT pg_tablespace_location(oid) FROM pg_tablespace WHERE spcname = 'teiten') AS location,
       coalesce(
           json_agg(c.relname ORDER BY c.relname) FILTER (WHERE t.spcname IS DISTINCT FROM 'teiten'), '[]'
       ) AS other_tables
  FROM pg_class AS c
  JOIN pg_namespace AS n ON n.oid = c.relnamespace
  LEFT JOIN pg_tablespace AS t ON t.oid = c.reltablespace
 WHERE c.relkind IN ('r', 'i', 'm') AND n.nspname NOT IN ('pg_catalog', 'information_schema', 'pg_toast')
"""

# Prints the folder and the files' folder as they really are, each with its device's number; equal where the files lie
# below the folder.
_LOCATED = """
folder=$(readlink -f -- "$1") && file=$(readlink -f -- "$2") || exit
echo "$folder (device $(stat -c %d -- "$folder"))"
case $file/ in
    "$folder"/*) echo "$folder (device $(stat -c %d -- "$file"))" ;;
    *) echo "$file (device $(stat -c %d -- "$file"))" ;;
esac
"""
