"""PGECons WG1, report of fiscal year 2019: 11 against 12, table access methods, parallel queries. Pure."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import groupby

from results.parameters import Scalar
from results.published.tables import (
    Answer,
    Derived,
    Figure,
    PublishedTrial,
    Remark,
    Report,
    Row,
    Table,
    postgres,
    rows,
)

REPORT = Report(
    "WG1 activity report, fiscal year 2019", "PostgreSQL Enterprise Consortium, WG1 (performance)", 2020, "CC BY 2.1 JP"
)
_PAGE, _MB = 8192, 1024**2
_BUILDS = {"12": "zheap build (12)", "13devel": "zedstore build (13devel)"}
_UPDATES = {"12": "some 43,000", "13devel": "6,000"}
_SSB: Mapping[str, Scalar] = {"scale_factor": 100, "topology": "single"}
_MINORS = {"11": "11.7", "12": "12.2"}


def _scale_up() -> Table:
    slug = "wg1-2019-section-4.5"
    old, new = rows(slug)
    trials = tuple(
        PublishedTrial(
            {"version": row["version"]},
            (
                Figure("tps", row.number("mean_tps"), row.line, "mean_tps"),
                Figure("latency.mean", row.number("mean_latency_ms") * 1000, row.line, "mean_latency_ms"),
            ),
            more=postgres(row["version"]),
        )
        for row in (old, new)
    )
    derived = tuple(
        Derived(new.line, column, f"12.1 against 11.6 in {column}, percent", said, 100 * _relative(new, old, column))
        for column, said in (("mean_tps", "-7.15"), ("mean_latency_ms", "7.5"))
    )
    fixed: dict[str, Scalar] = {
        "variant": "count",
        "row_count": 10000,
        "scale": 2000,
        "duration_s": 300,
        "topology": "single",
    }
    return Table(
        slug, REPORT, "Section 4.5", "Read scale-up, means over 1 to 192 clients", "read_scaleup", "tps",
        {**fixed, "over_clients": "1 to 192"}, trials, derived,
    )  # fmt: skip


def _relative(row: Row, base: Row, column: str) -> float:
    return row.number(column) / base.number(column) - 1


def _maintenance() -> Table:
    slug = "wg1-2019-section-5-maintenance"
    trials = tuple(
        PublishedTrial(
            {"access_method": method, "installation": _BUILDS[version]},
            tuple(
                Figure(
                    "maintenance.seconds", r.number("milliseconds") / 1000, r.line, "milliseconds", "", r["operation"]
                )
                for r in several
            ),
            more={**postgres(version, _BUILDS[version]), "updates_before": _UPDATES[version]},
        )
        for (method, version), several in _by(rows(slug), "access_method", "base_version")
    )
    return Table(
        slug, REPORT, "Section 5.7 and 5.9", "Maintenance of heap, zheap and zedstore", "access_method",
        "maintenance.seconds", {"rows": 1000000, "topology": "single"}, trials,
        notes=(Remark("The tables had not the same updates before VACUUM: see the notes in the file."),),
    )  # fmt: skip


def _sizes() -> Table:
    slug = "wg1-2019-section-5-sizes"
    trials = tuple(
        PublishedTrial(
            {"access_method": method, "installation": _BUILDS[version], "fillfactor": int(fillfactor)},
            tuple(_size(row) for row in several),
            more=postgres(version, _BUILDS[version]),
        )
        for (method, version, fillfactor), several in _by(rows(slug), "access_method", "base_version", "fillfactor")
    )
    return Table(
        slug, REPORT, "Section 5.7 and 5.9", "Sizes of heap, zheap and zedstore", "access_method", "size.table",
        {"rows": 1000000, "topology": "single"}, trials,
        notes=(
            Remark("Pages are of 8 kB and counted by VACUUM after updates; sizes in MB are of tables just filled."),
            Remark("No size of a heap in the build of zedstore is given.", (6, 7)),
        ),
    )  # fmt: skip


def _size(row: Row) -> Figure:
    pages = row["unit"] == "pages"
    value = row.number("pages_or_size") * (_PAGE if pages else _MB)
    return Figure("size.table", value, row.line, "pages_or_size", "", "foo, after updates" if pages else "foo, filled")


# the report's rows → our checks that each of them covers
_CHECKS = {
    "maintenance: VACUUM/ANALYZE/CLUSTER/REINDEX": (
        "Maintenance",
        {"vacuum": "VACUUM", "analyze": "ANALYZE", "cluster": "CLUSTER", "reindex": "REINDEX"},
    ),
    "fillfactor": ("Storage", {"fillfactor": "Fill factor"}),
    "pgstattuple": ("Storage", {"pgstattuple": "pgstattuple"}),
    "declarative partitioning": ("Queries", {"partitioning": "Declarative partitioning with pruning"}),
    "parallel query": ("Queries", {"parallel_query": "Parallel query"}),
    "backup and point-in-time recovery": (
        "Backup, replication, recovery",
        {"base_backup": "Base backup, point-in-time recovery"},
    ),
    "streaming replication": ("Backup, replication, recovery", {"streaming": "Streaming replication"}),
    "logical replication": ("Backup, replication, recovery", {"logical": "Logical replication"}),
}


_OUTCOMES = {"yes": "yes", "no": "cannot"}
_ONLY_PARTLY = ("fillfactor", "zedstore")  # which takes the fill factor and makes nothing of it


def _capabilities() -> Table:
    slug = "wg1-2019-section-5-capabilities"
    found = {row["capability"]: row for row in rows(slug)}
    trials = tuple(
        PublishedTrial(
            {"access_method": method, "installation": _BUILDS[version]},
            answers=tuple(_answers(found, method)),
            more=postgres(version, _BUILDS[version]),
        )
        for method, version in (("zheap", "12"), ("zedstore", "13devel"))
    )
    return Table(
        slug, REPORT, "Section 5.7.11 and 5.9", "What zheap and zedstore can do", "capabilities", "tps",
        {"topology": "single"}, trials,
        notes=(
            Remark("The report answers VACUUM, ANALYZE, CLUSTER and REINDEX together.", (2,)),
            Remark("A fill factor that zedstore accepts and ignores is a yes in the report, and partly here.", (8,)),
        ),
    )  # fmt: skip


def _answers(found: Mapping[str, Row], method: str) -> Iterator[Answer]:
    for name, (group, checks) in _CHECKS.items():
        row = found[name]
        note = row[f"{method}_note"]
        message = row["zheap_note"] if note == "same" else note
        outcome = "partly" if (name, method) == _ONLY_PARTLY else _OUTCOMES[row[method]]
        for capability, title in checks.items():
            yield Answer(capability, title, group, outcome, message, row.line, method)


def _serial() -> Table:
    slug = "wg1-2019-table-6.14"
    found = rows(slug)
    trials = tuple(
        PublishedTrial(
            {"version": _MINORS[major]},
            tuple(
                Figure("ssb.query.seconds", row.number(column), row.line, column, "", row["query"])
                for row in found
                for column in (f"v{major}_seconds",)
            ),
            more=postgres(_MINORS[major]),
        )
        for major in ("11", "12")
    )
    derived = tuple(
        Derived(
            row.line,
            "published_ratio_v11_over_v12",
            "v11_seconds / v12_seconds",
            row["published_ratio_v11_over_v12"],
            row.number("v11_seconds") / row.number("v12_seconds"),
        )
        for row in found
    )
    fixed: dict[str, Scalar] = {"setting.max_parallel_workers": "0", "setting.max_parallel_workers_per_gather": "0"}
    return Table(
        slug, REPORT, "Table 6.14", "The queries without parallel workers, 11 and 12", "ssb", "ssb.query.seconds",
        {**_SSB, **fixed}, trials, derived,
        notes=(Remark("The ratio's heading names 11; it is the time of 11 divided by that of 12."),),
    )  # fmt: skip


def _passes() -> Table:
    slug = "wg1-2019-tables-6.15-6.18"
    trials = tuple(
        PublishedTrial(
            {
                "version": _MINORS[row["version"]],
                "clients": int(row["clients"]),
                "setting.max_parallel_workers": row["max_parallel_workers"],
            },
            (Figure("ssb.pass.seconds", row.number("mean_elapsed_seconds"), row.line, "mean_elapsed_seconds"),),
            more=postgres(_MINORS[row["version"]]),
        )
        for row in rows(slug)
    )
    return Table(
        slug, REPORT, "Tables 6.15 to 6.18", "Time of a pass by clients and max_parallel_workers", "ssb",
        "ssb.pass.seconds", _SSB, trials,
        notes=(Remark("The captions say parallel workers of each query; the figures are mean seconds of a pass."),),
    )  # fmt: skip


def _workers() -> Table:
    slug = "wg1-2019-table-6.19"
    figures = tuple(
        Figure("ssb.executions", row.number("queries"), row.line, "queries", "", f"{row['parallel_workers']} workers")
        for row in rows(slug)
    )
    return Table(
        slug, REPORT, "Table 6.19", "Workers that 650 executions got, five clients", "ssb", "ssb.executions",
        {**_SSB, **postgres("12.2"), "clients": 5, "setting.max_parallel_workers": "9"},
        (PublishedTrial({}, figures),),
        notes=(Remark("The table does not say of which version it is; the text beside it reads the source of 12."),),
    )  # fmt: skip


def _jit() -> Table:
    slug = "wg1-2019-tables-6.20-6.23"
    found = rows(slug)
    trials = tuple(
        PublishedTrial(
            {
                "version": _MINORS[row["version"]],
                "setting.max_parallel_workers": row["max_parallel_workers"],
                "clients": int(row["clients"]),
                "setting.jit": jit,
            },
            tuple(
                Figure(f"ssb.query.seconds.{which}", row.number(column), row.line, column, "", "q2.1")
                for which in ("min", "max")
                for column in (f"{which}_seconds_jit_{jit}",)
            ),
            more=postgres(_MINORS[row["version"]]),
        )
        for row in found
        for jit in ("off", "on")
    )
    derived = tuple(
        Derived(
            row.line,
            f"published_{which}_ratio",
            "without JIT / with JIT",
            row[f"published_{which}_ratio"],
            row.number(f"{which}_seconds_jit_off") / row.number(f"{which}_seconds_jit_on"),
        )
        for row in found
        for which in ("min", "max")
    )
    return Table(
        slug, REPORT, "Tables 6.20 to 6.23", "Query q2.1 without and with JIT", "ssb", "ssb.query.seconds.min", _SSB,
        trials, derived,
        notes=(
            Remark(
                "With two clients and nine workers, 11 and 12 have the very same smallest time without JIT, 21.8798 s: "
                "one of them may be copied from the other.",
                (2, 6),
            ),
        ),
    )  # fmt: skip


def _tables() -> Table:
    slug = "wg1-2019-table-6.9"
    figures = tuple(
        Figure(metric, row.number(column), row.line, column, "", row["table"])
        for row in rows(slug)
        for metric, column in (("size.table", "bytes_measured"), ("table.rows", "rows_measured"))
    )
    return Table(
        slug, REPORT, "Table 6.9", "Tables of the Star Schema Benchmark as loaded", "ssb", "size.table", _SSB,
        (PublishedTrial({}, figures),),
        notes=(
            Remark("customer has 175 rows fewer than its formula gives (3,000,000).", (2,)),
            Remark("The lines of an order are drawn: lineorder is near its formula (600,000,000), not at it.", (4,)),
            Remark("supplier's formula gives 1,000,000; the benchmark's own is SF × 2,000.", (6,)),
        ),
    )  # fmt: skip


def _by(found: Sequence[Row], *columns: str) -> list[tuple[tuple[str, ...], list[Row]]]:
    """Rows that agree in these columns, in the order of the file."""
    keys = list(dict.fromkeys(tuple(row[column] for column in columns) for row in found))
    ordered = sorted(found, key=lambda row: keys.index(tuple(row[column] for column in columns)))
    return [(key, list(several)) for key, several in groupby(ordered, lambda row: tuple(row[c] for c in columns))]


TABLES = (
    _scale_up(),
    _maintenance(),
    _sizes(),
    _capabilities(),
    _tables(),
    _serial(),
    _passes(),
    _workers(),
    _jit(),
)
