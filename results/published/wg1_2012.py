"""PGECons WG1, report of fiscal year 2012: scale-up of 9.2 on 80 cores, and servers side by side. Pure."""

from __future__ import annotations

from collections.abc import Mapping
from itertools import count, takewhile

from results.parameters import Scalar
from results.published.tables import Derived, Figure, PublishedTrial, Remark, Report, Row, Table, postgres, rows

REPORT = Report(
    "WG1 activity report, fiscal year 2012", "PostgreSQL Enterprise Consortium, WG1 (performance)", 2013, "CC BY 2.1 JP"
)

_READ: Mapping[str, Scalar] = {"variant": "count", "row_count": 10000, "scale": 1000, "duration_s": 300}
_TPCB: Mapping[str, Scalar] = {"script": "tpcb-like", "clients": 100}
_VERSION_IN_DOUBT = Remark(
    "The row is called PostgreSQL 9.1; the section's list of software has 9.2.1 only. Kept as printed.", (2,)
)
_LENGTH_IN_DOUBT = Remark("The command has -t 300 (transactions a client), the text below it -T 300 (seconds).")


def _tps(row: Row, column: str = "tps", node: str = "") -> Figure:
    return Figure("tps", row.number(column), row.line, column, node)


def _scale_up(number: str, threading: str) -> Table:
    trials = tuple(
        PublishedTrial(
            {"clients": int(row["clients"])},
            (
                _tps(row),
                *(
                    (Figure("cpu.busy", row.number("cpu_percent"), row.line, "cpu_percent"),)
                    if "cpu_percent" in row.cells
                    else ()
                ),
            ),
            more={"threads": int(row["threads"])},
        )
        for row in rows(f"wg1-2012-table-{number}")
    )
    caption = f"Read scale-up on 80 cores, hyper-threading {threading}"
    fixed = {**_READ, **postgres("9.2.1"), "topology": "single", "hyper_threading": threading}
    return Table(f"wg1-2012-table-{number}", REPORT, f"Table {number}", caption, "read_scaleup", "tps", fixed, trials)


def _cascade() -> Table:
    slug = "wg1-2012-table-3.1"
    trials = tuple(
        PublishedTrial({"nodes": int(row["standby_nodes"]) + 2}, (_tps(row),), more={"standbys": row["standby_nodes"]})
        for row in rows(slug)
    )
    fixed = {**_TPCB, **postgres("9.2.1"), "scale": 100, "duration_s": 30, "threads": 10}
    return Table(
        slug, REPORT, "Table 3.1", "Cascading replication, one to four standbys", "pgbench", "tps",
        {**fixed, "topology": "cascading replication"}, trials,
        notes=(Remark("Clients talk to the primary alone. Nodes: it, the cascading standby, and those behind that."),),
    )  # fmt: skip


def _with_and_without() -> Table:
    slug = "wg1-2012-table-3.2"
    trials = tuple(
        PublishedTrial(
            {"topology": "single" if row["replication"] == "none" else "cascading replication"},
            (_tps(row),),
            more={"nodes": 1 if row["replication"] == "none" else 6},
        )
        for row in rows(slug)
    )
    fixed = {**_TPCB, **postgres("9.2.1"), "scale": 100, "duration_s": 30, "threads": 10}
    return Table(
        slug, REPORT, "Table 3.2", "TPC-B-like without and with cascading replication", "pgbench", "tps", fixed, trials,
        notes=(Remark("The second row is the last of table 3.1 again.", (3,)),),
    )  # fmt: skip


def _pool(number: str, caption: str, workload: str, fixed: Mapping[str, Scalar], *notes: Remark) -> Table:
    slug = f"wg1-2012-table-{number}"
    return Table(
        slug, REPORT, f"Table {number}", caption, workload, "tps", fixed,
        tuple(_pool_trial(row) for row in rows(slug)), notes=(*notes, _LENGTH_IN_DOUBT),
    )  # fmt: skip


def _pool_trial(row: Row) -> PublishedTrial:
    alone = row.cells.get("system", "").startswith("PostgreSQL")
    kind = "single" if alone else "pgpool-II replication"
    levels: dict[str, Scalar] = {"topology": kind, "nodes": int(row["nodes"])}
    if "storage_placement" in row.cells:
        levels["storage"] = row["storage_placement"]
    more = {**postgres("9.1" if alone else "9.2.1"), "clients": int(row["connections"])}
    return PublishedTrial(levels, (_tps(row),), more=more)


def _xc(number: str, caption: str, fixed: Mapping[str, Scalar], *notes: Remark) -> Table:
    slug = f"wg1-2012-table-{number}"
    found = rows(slug)
    return Table(
        slug, REPORT, f"Table {number}", caption, "pgbench", "tps", fixed,
        tuple(_xc_trial(row) for row in found),
        derived=tuple(d for row in found for d in _per_node(row)), notes=notes,
    )  # fmt: skip


def _xc_trial(row: Row) -> PublishedTrial:
    alone = row["system"].startswith("PostgreSQL")
    nodes = tuple(_tps(row, column, column.removesuffix("_tps")) for column in _node_columns(row))
    levels: dict[str, Scalar] = {"topology": "single" if alone else "Postgres-XC", "nodes": int(row["nodes"])}
    more = postgres("9.1", "" if alone else "Postgres-XC 1.0.1")
    return PublishedTrial(levels, (_tps(row, "total_tps"), *nodes), more=more)


def _node_columns(row: Row) -> list[str]:
    return list(takewhile(lambda name: row.cells.get(name), (f"node{number}_tps" for number in count(1))))


def _per_node(row: Row) -> tuple[Derived, ...]:
    nodes, total = int(row["nodes"]), row.number("total_tps")
    of = f"{row['system']}, {nodes} node{'' if nodes == 1 else 's'}"
    each = [row.number(column) for column in _node_columns(row)]
    mean = row["mean_tps_per_node"]
    if not each:
        return (Derived(row.line, "mean_tps_per_node", f"{of}: total / nodes", mean, total / nodes),)
    whole = sum(each)
    return (
        Derived(row.line, "total_tps", f"{of}: sum of the nodes", row["total_tps"], whole, 0.005 * nodes),
        Derived(row.line, "mean_tps_per_node", f"{of}: sum of the nodes / nodes", mean, whole / nodes, 0.005),
    )


TABLES = (
    _scale_up("2.2", "on"),
    _scale_up("2.3", "off"),
    _cascade(),
    _with_and_without(),
    _pool(
        "3.6", "pgpool-II replication, updating", "pgbench", {**_TPCB, "scale": 1000, "threads": 20}, _VERSION_IN_DOUBT
    ),
    _pool(
        "3.7",
        "pgpool-II replication, reading",
        "read_scaleup",
        {"variant": "count", "row_count": 2000, "scale": 1000, "threads": 20},
        _VERSION_IN_DOUBT,
    ),
    _pool(
        "3.8",
        "pgpool-II replication, updating, storage apart",
        "pgbench",
        {**_TPCB, "scale": 1000, "threads": 20},
        Remark("The same figures as in table 3.6."),
    ),
    _pool(
        "3.9",
        "pgpool-II replication, updating, storage shared",
        "pgbench",
        {**_TPCB, "scale": 1000, "threads": 20},
        Remark(
            "Its caption is that of table 3.8, storage apart; its footnote says that three nodes share one RAID group."
        ),
    ),
    _xc(
        "3.13",
        "Postgres-XC, updating",
        {**_TPCB, "scale": 100, "duration_s": 600, "threads": 10},
        Remark(
            "430.20 is what the first three nodes' sum gives when it is divided by four (430.21): the fourth node was "
            "left out of the mean.",
            (6,),
        ),
    ),
    _xc(
        "3.14",
        "Postgres-XC, reading",
        {"script": "select-only", "clients": 100, "scale": 1000, "duration_s": 300, "threads": 10},
    ),
)
