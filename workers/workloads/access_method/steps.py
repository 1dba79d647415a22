"""The profile as a list of steps, in order. Pure."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from enum import StrEnum

from results.domain.kinds.parameters import Scalar

COLUMNS = ("id", "val10", "val20")  # a running number, 32 random digits, the same text in every row
_ROWS_PER_SCALE = (
    5_000  # TPC-B's scale beside foo's rows, and updates for each row, as in the report: 200 for 1,000,000
)
_WIDE_PER_ROW, _UPDATES_PER_ROW = 5, 0.62


class Kind(StrEnum):
    """How a step's output is read."""

    TIMED = "timed"  # psql's \timing of each statement
    PLAN = "plan"  # EXPLAIN, to know that the index is used
    SCAN = "scan"  # EXPLAIN ANALYZE of a sequential scan
    LATENCY = "latency"  # pgbench -r
    SIZES = "sizes"
    STATISTICS = "statistics"
    CONTENTS = "contents"  # pgstattuple
    FILL = "fill"  # pgbench -i
    TPCB = "tpcb"  # pgbench's own script
    QUIET = "quiet"  # nothing to read


@dataclass(frozen=True)
class Value:
    """What a step tells: a metric (or the beginning of several metrics' names) and its label.

    statement: the first word of the statement that is meant, where pgbench times several."""

    metric: str
    label: str = ""
    statement: str = ""


@dataclass(frozen=True)
class Step:
    """One step of the profile.

    file: in sql/.
    values: what is read of it; of a TIMED step, one for each timed statement.
    needs: steps without which it is left out.
    must: a refusal of it is a failure of the trial.
    cold: caches are emptied before it, where the plan wants that.
    times: transactions of a LATENCY step."""

    name: str
    kind: Kind
    file: str = ""
    values: tuple[Value, ...] = ()
    variables: Mapping[str, str] = field(default_factory=dict)
    needs: tuple[str, ...] = ()
    must: bool = False
    cold: bool = False
    times: int = 0


@dataclass(frozen=True)
class Sizes:
    """What the parameters come to. A parameter of 0 stands for the report's proportion to `rows`."""

    rows: int
    wide_rows: int
    range_rows: int
    updates: int
    scale: int

    @classmethod
    def of(cls, parameters: Mapping[str, Scalar]) -> Sizes:
        rows = int(parameters["rows"])
        return cls(
            rows=rows,
            wide_rows=int(parameters["wide_rows"]) or rows * _WIDE_PER_ROW,
            range_rows=int(parameters["range_rows"]),
            updates=int(parameters["updates"]) or max(1, round(rows * _UPDATES_PER_ROW)),
            scale=int(parameters["tpcb_scale"]) or max(1, rows // _ROWS_PER_SCALE),
        )

    @property
    def variables(self) -> dict[str, str]:
        """For the SQL. starts: how many ranges there are; aid: the one whose plan is looked at."""
        starts = max(1, self.rows - self.range_rows + 1)
        named = {"rows": self.rows, "wide_rows": self.wide_rows, "span": self.range_rows, "starts": starts}
        return {name: str(value) for name, value in {**named, "aid": max(1, starts // 2)}.items()}


def steps(parameters: Mapping[str, Scalar], *, heap_baseline: bool) -> list[Step]:
    """Return every step in order.

    heap_baseline: whether there is a second wide table, stored as heap."""
    tables = ("wide", "wide_heap") if heap_baseline else ("wide",)
    result = [*_loading(tables), *_scanning(tables, int(parameters["scan_repetitions"])), *_by_index(parameters)]
    result += [*_maintaining(), *_growing(parameters)]
    return result + list(_tpcb()) if parameters["tpcb"] else result


def _loading(tables: tuple[str, ...]) -> Iterator[Step]:
    copied = (Value("bulk_insert.seconds", "foo: COPY"), Value("bulk_insert.seconds", "foo: COMMIT"))
    yield Step("copy foo", Kind.TIMED, "10_copy.sql", copied, must=True)
    index = (Value("maintenance.seconds", "CREATE INDEX"),)
    yield Step("index foo", Kind.TIMED, "11_index.sql", index, needs=("copy foo",))
    for table in tables:
        inserted = (Value("bulk_insert.seconds", f"{table}: INSERT"),)
        yield Step(f"insert {table}", Kind.TIMED, "12_insert_wide.sql", inserted, {"table": table}, must=True)
    for table in ("foo", *tables):
        yield from _settled(table)
    yield Step("sizes loaded", Kind.SIZES, "20_sizes.sql")


def _settled(table: str) -> Iterator[Step]:
    """Without it, the first readers of new rows pay for those after them, and the planner knows nothing."""
    yield Step(f"vacuum new {table}", Kind.QUIET, "13_vacuum.sql", variables={"table": table})
    yield Step(f"analyze new {table}", Kind.QUIET, "14_analyze.sql", variables={"table": table})


def _scanning(tables: tuple[str, ...], repetitions: int) -> Iterator[Step]:
    for _ in range(repetitions):
        for table in tables:
            metric = "scan" if table == "wide" else "scan.heap"
            for column in COLUMNS:
                variables, values = {"table": table, "column": column}, (Value(metric, column),)
                yield Step(f"scan {table} {column}", Kind.SCAN, "21_scan.sql", values, variables, cold=True)


def _by_index(parameters: Mapping[str, Scalar]) -> Iterator[Step]:
    for name, label, read, write in (
        ("row", "", "31_select_row.sql", "40_update_row.sql"),
        ("range", "range", "32_select_range.sql", "41_update_range.sql"),
    ):
        planned, times = f"plan {name}", int(parameters[f"{name}_repetitions"])
        selected = (Value("index_scan.latency", label, "SELECT"),)
        updated = (Value("update.latency", label, "UPDATE"), Value("commit.latency", label, "END"))
        yield Step(planned, Kind.PLAN, f"30_plan_{name}.sql", needs=("index foo",))
        for does, file, values in (("select", read, selected), ("update", write, updated)):
            yield Step(f"{does} {name}", Kind.LATENCY, file, values, needs=(planned,), cold=True, times=times)
    yield Step("sizes updated", Kind.SIZES, "20_sizes.sql")


def _maintaining() -> Iterator[Step]:
    yield from _dead("foo", "update row")
    for word, file in (
        ("VACUUM", "13_vacuum.sql"),
        ("ANALYZE", "14_analyze.sql"),
        ("CLUSTER", "60_cluster.sql"),
        ("REINDEX", "61_reindex.sql"),
        ("VACUUM FULL", "62_vacuum_full.sql"),
    ):
        needs = ("index foo",) if word in ("CLUSTER", "REINDEX") else ()
        yield Step(word, Kind.TIMED, file, (Value("maintenance.seconds", word),), {"table": "foo"}, needs)


def _dead(table: str, need: str) -> Iterator[Step]:
    values, variables = (Value("", table),), {"table": table}
    yield Step(f"statistics {table}", Kind.STATISTICS, "50_statistics.sql", values, variables, (need,))
    yield Step(f"pgstattuple {table}", Kind.CONTENTS, "51_pgstattuple.sql", values, variables, (need,))


def _growing(parameters: Mapping[str, Scalar]) -> Iterator[Step]:
    yield Step("fill grown", Kind.QUIET, "70_fill_grown.sql")
    yield from _settled("grown")
    yield Step("sizes before growth", Kind.SIZES, "20_sizes.sql")
    updates = Sizes.of(parameters).updates
    yield Step("grow", Kind.LATENCY, "71_grow.sql", needs=("fill grown",), times=updates)
    yield Step("sizes after growth", Kind.SIZES, "20_sizes.sql", needs=("grow",))
    yield from _dead("grown", "grow")


def _tpcb() -> Iterator[Step]:
    yield Step("fill pgbench", Kind.FILL, needs=("index foo",))
    filled = ("fill pgbench",)
    yield Step("settle pgbench", Kind.QUIET, "80_settle_tpcb.sql", needs=filled)
    yield Step("sizes before TPC-B", Kind.SIZES, "20_sizes.sql", needs=filled)
    yield Step("TPC-B", Kind.TPCB, needs=(*filled, "update row"), cold=True)
    yield Step("sizes after TPC-B", Kind.SIZES, "20_sizes.sql", needs=("TPC-B",))
