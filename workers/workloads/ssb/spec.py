"""What the Star Schema Benchmark declares: parameters and metrics. Pure."""

from __future__ import annotations

from collections.abc import Mapping

from results.domain.kinds.parameters import Kind, Parameter, Scalar
from results.domain.kinds.programs import AWK
from results.domain.kinds.specs import GRACE_S, Longest, WorkloadSpec
from results.domain.measurement.metrics import TOTAL, Better, Metric
from results.domain.messages import gettext_lazy as _
from results.domain.messages import pgettext_lazy

from .sequence import ALL, IN_ORDER, QUERIES, SHUFFLED, selected_queries
from .sizes import sizes

GENERATOR = "1"  # raised with every change of the rows: kept data of another version is not taken for these
NO_INDEXES, KEYS, KEYS_AND_FACT_COLUMNS = "none", "keys", "keys and fact columns"

_QUERY = "|".join(query.replace(".", r"\.") for query in QUERIES)
_SLOW_QUERY_S = 30.0
_LINE_BYTES = 110  # of the fact table and its visibility map, measured on 15
_KEY_BYTES = 22  # a row of a btree
_PART_BYTES, _PERSON_BYTES = 120, 140

PARAMETERS = (
    Parameter(
        pgettext_lazy("parameter", "scale_factor"),
        Kind.NUMBER,
        1,
        _("Size of the data: 6,000,000 rows of the fact table, some 650 MB, for each 1."),
        minimum=0.001,
        maximum=1000,
        loads=True,
    ),
    Parameter(
        "seed",
        Kind.INTEGER,
        1,
        _("Decides every value of the data: the same rows for the same seed and scale factor."),
        minimum=0,
        maximum=2**31 - 1,
        loads=True,
    ),
    Parameter(
        pgettext_lazy("parameter", "generator"),
        Kind.CHOICE,
        GENERATOR,
        _("Version of the generator: another one makes other rows."),
        choices=(GENERATOR,),
        loads=True,
    ),
    Parameter("clients", Kind.INTEGER, 1, _("Sessions that run the queries at once."), minimum=1, maximum=1000),
    Parameter(
        pgettext_lazy("parameter", "passes"),
        Kind.INTEGER,
        1,
        _("How often each client runs all its queries."),
        minimum=1,
        maximum=1000,
    ),
    Parameter(
        pgettext_lazy("parameter", "warmup_passes"),
        Kind.INTEGER,
        0,
        _("Passes before the clock starts, by every client."),
        minimum=0,
        maximum=100,
    ),
    Parameter(
        pgettext_lazy("parameter", "queries"),
        Kind.TEXT,
        ALL,
        _("The queries of a pass: all, or some of the thirteen as 'q2.1, q3.4'."),
        pattern=rf"{ALL}|({_QUERY})(\s*,\s*({_QUERY}))*",
        words=(ALL, *QUERIES),
    ),
    Parameter(
        pgettext_lazy("parameter", "order"),
        Kind.CHOICE,
        IN_ORDER,
        _("In order: as listed, by every client. Shuffled: each pass of each client in an order of its own."),
        choices=(IN_ORDER, SHUFFLED),
    ),
    Parameter(
        pgettext_lazy("parameter", "order_seed"),
        Kind.INTEGER,
        1,
        _("Decides the shuffled orders."),
        minimum=0,
        maximum=2**31 - 1,
    ),
    Parameter(
        pgettext_lazy("parameter", "explain"),
        Kind.BOOLEAN,
        True,
        _(
            "Each query's plan, by one EXPLAIN (ANALYZE, BUFFERS) before the clock starts. It warms the caches, "
            "unless the plan has them dropped."
        ),
    ),
    Parameter(
        pgettext_lazy("parameter", "count_workers"),
        Kind.BOOLEAN,
        True,
        _(
            "The parallel workers that executions really get: where there are several clients, in one more pass by "
            "all of them before the clock starts, under EXPLAIN (ANALYZE, TIMING OFF); from 18 on of the timed "
            "executions too, by the server's own counters. Needs explain."
        ),
    ),
    Parameter(
        pgettext_lazy("parameter", "indexes"),
        Kind.CHOICE,
        KEYS,
        _("None; the primary keys of all tables; the keys and an index on each foreign-key column of the fact table."),
        choices=(NO_INDEXES, KEYS, KEYS_AND_FACT_COLUMNS),
        loads=True,
    ),
    Parameter(
        pgettext_lazy("parameter", "fact_access_method"),
        Kind.TEXT,
        "",
        _("Table access method of the fact table alone (12 and later); empty is that of all tables."),
        pattern=r"([a-z_][a-z0-9_]*)?",
        loads=True,
    ),
    Parameter(
        "vacuum",
        Kind.BOOLEAN,
        True,
        _("VACUUM after loading, so that the first query does not pay for every row's hint bits."),
        loads=True,
    ),
    Parameter(
        pgettext_lazy("parameter", "load_jobs"),
        Kind.INTEGER,
        1,
        _(
            "Generators that fill the fact table at once, each with its own share of the orders. The rows are the "
            "same, their places in the table are not."
        ),
        minimum=1,
        maximum=256,
        loads=True,
    ),
)

METRICS = (
    Metric(
        "ssb.pass.seconds",
        "s",
        Better.LOWER,
        _("Time of a pass"),
        _("Sum of the queries' times in one pass of one client; the median over passes and clients."),
        parts="ssb.query.seconds",
    ),
    Metric(
        "ssb.geometric_mean.seconds",
        "s",
        Better.LOWER,
        _("Geometric mean of the queries"),
        _("Of the medians of all queries, so that each weighs the same."),
    ),
    Metric(
        "ssb.queries_per_hour",
        "1/h",
        Better.HIGHER,
        _("Queries per hour"),
        _("Executions of all clients, divided by the measured window."),
    ),
    Metric("ssb.executions", "1", Better.NEITHER, _("Timed executions"), _("Clients × passes × queries.")),
    Metric(
        "ssb.query.seconds",
        "s",
        Better.LOWER,
        _("Time of a query"),
        _(
            "By psql on the client's agent, from sending the query to its last row. The median over passes and "
            "clients. Label: the query."
        ),
        0.03,
        label_noun=_("query"),
    ),
    Metric(
        "ssb.query.seconds.min",
        "s",
        Better.LOWER,
        _("Shortest time of a query"),
        _("By psql on the client's agent, from sending the query to its last row. Label: the query."),
        0.05,
        label_noun=_("query"),
    ),
    Metric(
        "ssb.query.seconds.max",
        "s",
        Better.LOWER,
        _("Longest time of a query"),
        _("By psql on the client's agent, from sending the query to its last row. Label: the query."),
        0.1,
        label_noun=_("query"),
    ),
    Metric(
        "ssb.query.rows", "1", Better.NEITHER, _("Rows of an answer"), _("Label: the query."), label_noun=_("query")
    ),
    Metric(
        "ssb.workers.planned",
        "1",
        Better.NEITHER,
        _("Workers planned"),
        _("Of all timed executions, as EXPLAIN planned their queries. Label: the query."),
        0.05,
        label_noun=_("query"),
    ),
    Metric(
        "ssb.workers.launched",
        "1",
        Better.NEITHER,
        _("Workers launched"),
        _("Of all timed executions together, by the server's own counters (pg_stat_database), 18 and later."),
        0.05,
    ),
    Metric(
        "ssb.workers.share",
        "%",
        Better.NEITHER,
        _("Executions by workers launched"),
        _(
            "Of the timed executions of the first versions' trials; no trial tells it any more. Label: the number of "
            "workers that an execution got."
        ),
        0.1,
        label_noun=_("workers"),
    ),
    Metric(
        "ssb.explained.planned",
        "1",
        Better.NEITHER,
        _("Workers planned, under EXPLAIN"),
        _("In one pass of all clients at once under EXPLAIN, before the clock starts. Label: the query."),
        0.05,
        label_noun=_("query"),
    ),
    Metric(
        "ssb.explained.launched",
        "1",
        Better.NEITHER,
        _("Workers launched, under EXPLAIN"),
        _("In one pass of all clients at once under EXPLAIN, before the clock starts. Label: the query."),
        0.05,
        label_noun=_("query"),
    ),
    Metric(
        "ssb.explained.share",
        "%",
        Better.NEITHER,
        _("Executions by workers launched, under EXPLAIN"),
        _(
            "In one pass of all clients at once under EXPLAIN, before the clock starts. Label: the number of workers "
            "that an execution got."
        ),
        0.1,
        label_noun=_("workers"),
    ),
    Metric(
        "ssb.jit.seconds",
        "s",
        Better.LOWER,
        _("Compiling (JIT)"),
        _("Of EXPLAIN before the clock starts, leader and workers together, all queries. Label: the step."),
        0.1,
        label_noun=_("step"),
    ),
    Metric("ssb.jit.functions", "1", Better.NEITHER, _("Functions compiled (JIT)"), _("As above.")),
    Metric(
        "ssb.load.seconds",
        "s",
        Better.LOWER,
        _("Loading"),
        _("Where this trial loaded the data itself. Label: the step."),
        0.05,
        whole=TOTAL,
        label_noun=_("step"),
    ),
    Metric(
        "ssb.load.rows_per_second",
        "1/s",
        Better.HIGHER,
        _("Rows loaded per second"),
        _("Generated and copied, by step. Label: lineorder or dimensions."),
        0.05,
        label_noun=_("step"),
    ),
)


def disk_bytes(parameters: Mapping[str, Scalar]) -> int:
    """Tables and indexes as a heap stores them."""
    size = sizes(float(parameters["scale_factor"]))
    lines = 4 * size.orders
    people = size.customers + size.suppliers
    tables = lines * _LINE_BYTES + size.parts * _PART_BYTES + people * _PERSON_BYTES
    if parameters["indexes"] == NO_INDEXES:
        return tables
    columns = 4 if parameters["indexes"] == KEYS_AND_FACT_COLUMNS else 0
    # the columns' values repeat, and btrees before 13 do not fold what repeats
    return tables + (lines + size.parts + people) * _KEY_BYTES + columns * lines * _KEY_BYTES


def stored_by(parameters: Mapping[str, Scalar]) -> Mapping[str, str]:
    """The fact table may have an access method of its own."""
    method = str(parameters["fact_access_method"])
    return {"lineorder": method} if method else {}


def until_done(parameters: Mapping[str, Scalar], duration_s: float) -> float | None:
    """The passes decide how long it takes."""
    return None


def typical_s(parameters: Mapping[str, Scalar], duration_s: float) -> float:
    """Every query a third of a second for each 1 of the scale factor, the clients sharing two processors."""
    return _typical_pass_s(parameters) * int(parameters["passes"])


def typical_warm_s(parameters: Mapping[str, Scalar]) -> float:
    """As long a pass before the clock starts: those that warm up, and the one that is explained."""
    return _typical_pass_s(parameters) * (int(parameters["warmup_passes"]) + int(bool(parameters["explain"])))


def _typical_pass_s(parameters: Mapping[str, Scalar]) -> float:
    turns = max(1.0, int(parameters["clients"]) / 2)
    query_s = 0.05 + 0.35 * float(parameters["scale_factor"])
    return query_s * len(selected_queries(parameters)) * turns


def longest(parameters: Mapping[str, Scalar], duration_s: float) -> Longest:
    """Queries of a pass, each at half a minute for each 1 of the scale factor, all clients one after the other."""
    clients, queries = int(parameters["clients"]), len(selected_queries(parameters))
    pass_s = _SLOW_QUERY_S * max(1.0, float(parameters["scale_factor"])) * queries * clients
    explained = int(bool(parameters["explain"]))
    return Longest(
        warm_s=pass_s * (int(parameters["warmup_passes"]) + explained),
        measure_s=GRACE_S + pass_s * int(parameters["passes"]),
    )


SPEC = WorkloadSpec(
    name="ssb",
    title="Star Schema Benchmark",
    help=_(
        "Thirteen queries of a data warehouse over one fact table and four dimensions (O'Neil, O'Neil, Chen), by one "
        "client or many: how long each takes, what plan it has, which parallel workers it gets."
    ),
    parameters=PARAMETERS,
    metrics=METRICS,
    disk_bytes=disk_bytes,
    headline="ssb.pass.seconds",
    minimum_version=110000,
    measured_s=until_done,
    longest=longest,
    typical_s=typical_s,
    typical_warm_s=typical_warm_s,
    stored_by=stored_by,
    programs={"client": (AWK,)},
)
