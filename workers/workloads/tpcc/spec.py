"""What the TPC-C-like workload declares: parameters and metrics. Pure."""

from __future__ import annotations

from collections.abc import Mapping

from results.domain.kinds.parameters import Kind, Parameter, Scalar
from results.domain.kinds.programs import AWK
from results.domain.kinds.specs import WorkloadSpec
from results.domain.measurement.metrics import TOTAL, Better, Metric
from results.domain.messages import gettext_lazy as _
from results.domain.messages import pgettext_lazy
from workers.pgbench import metrics, parameters
from workers.pgbench.program import PGBENCH

# name → weight: the standard mix; the names are the scripts' file names and the labels on every page
MIX = {"new-order": 45, "payment": 43, "order-status": 4, "delivery": 4, "stock-level": 4}
READ_COMMITTED = "read committed"

_CUSTOMER_BYTES = 2_230  # a customer with an order of ten lines, a line of history, and indexes: measured on 15
_STOCK_BYTES = 380
_ITEM_BYTES = 130
_DISTRICTS = 10

PARAMETERS = (
    Parameter(
        pgettext_lazy("parameter", "warehouses"),
        Kind.INTEGER,
        1,
        _("Size of the data: some 105 MB for each warehouse."),
        minimum=1,
        maximum=100_000,
        loads=True,
    ),
    Parameter(
        pgettext_lazy("parameter", "data_seed"),
        Kind.INTEGER,
        1,
        _("Decides every random value of the data, and the constants of the non-uniform choices."),
        minimum=0,
        maximum=2**26 - 1,
        loads=True,
    ),
    Parameter(
        pgettext_lazy("parameter", "customers_per_district"),
        Kind.INTEGER,
        3000,
        _("Customers, and orders at the start, of each district. The specification's 3000, or fewer for a try."),
        minimum=10,
        maximum=3000,
        loads=True,
    ),
    Parameter(
        pgettext_lazy("parameter", "items"),
        Kind.INTEGER,
        100_000,
        _("Items, and lines of stock of each warehouse. The specification's 100,000, or fewer for a try."),
        minimum=100,
        maximum=100_000,
        loads=True,
    ),
    Parameter(
        pgettext_lazy("parameter", "foreign_keys"),
        Kind.BOOLEAN,
        False,
        _("Foreign keys between the tables."),
        loads=True,
    ),
    Parameter(
        "fillfactor",
        Kind.INTEGER,
        100,
        _("Fill factor of the tables."),
        minimum=10,
        maximum=100,
        unit="%",
        loads=True,
    ),
    Parameter(
        pgettext_lazy("parameter", "load_jobs"),
        Kind.INTEGER,
        2,
        _("Sessions that load at once."),
        minimum=1,
        maximum=256,
    ),
    parameters.CLIENTS,
    Parameter(
        pgettext_lazy("parameter", "home"),
        Kind.CHOICE,
        "fixed",
        _("The home warehouse: fixed = always the same for a client, random = another one for each transaction."),
        choices=("fixed", "random"),
    ),
    Parameter(
        pgettext_lazy("parameter", "isolation"),
        Kind.CHOICE,
        READ_COMMITTED,
        _("Isolation level of all transactions; above read committed only with pgbench 15 and later."),
        choices=(READ_COMMITTED, "repeatable read", "serializable"),
    ),
    parameters.MAX_TRIES,
    parameters.PROTOCOL,
    parameters.RATE,
    parameters.TRANSACTIONS,
    *parameters.BACKGROUND,
)

METRICS = (
    Metric(
        "nopm",
        "1/min",
        Better.HIGHER,
        _("New orders per minute"),
        _("Committed New-Orders, counted in the data, over pgbench's run time. Not a tpmC."),
        client_overhead=True,
    ),
    Metric(
        "tpm",
        "1/min",
        Better.HIGHER,
        _("Transactions per minute"),
        _("All five types, New-Orders that were rolled back as intended among them. Label: one type."),
        client_overhead=True,
        label_noun=_("transaction"),
    ),
    Metric("new_orders", "1", Better.NEITHER, _("New orders"), _("Committed New-Orders, counted in the data.")),
    Metric(
        "rolled_back",
        "1",
        Better.NEITHER,
        _("New-Orders rolled back as intended"),
        # xgettext:no-python-format
        _("For an unused item number, 1 % of them; counted by the server."),
    ),
    Metric(
        "deliveries_skipped",
        "1",
        Better.LOWER,
        _("Deliveries skipped"),
        _("Districts without an undelivered order when a Delivery came by; counted by the server."),
    ),
    Metric(
        "load.seconds",
        "s",
        Better.LOWER,
        _("Loading"),
        _("In the trial that loaded the data. Label: a table's COPY, or a phase after it."),
        0.05,
        whole=TOTAL,
        label_noun=_("step"),
    ),
    Metric(
        "load.rows",
        "1",
        Better.NEITHER,
        _("Rows loaded"),
        _("From COPY's own count. Label: the table."),
        label_noun=_("table"),
    ),
    *metrics.METRICS,
)


def disk_bytes(parameters: Mapping[str, Scalar]) -> int:
    """At the start, with indexes; orders are added while it runs."""
    items, customers = int(parameters["items"]), int(parameters["customers_per_district"]) * _DISTRICTS
    warehouse = customers * _CUSTOMER_BYTES + items * _STOCK_BYTES
    whole = int(parameters["warehouses"]) * warehouse + items * _ITEM_BYTES
    return int(whole * 100 / int(parameters["fillfactor"]))


SPEC = WorkloadSpec(
    name="tpcc",
    title=_("TPC-C-like"),
    help=_(
        "A wholesaler's orders, payments and deliveries: the tables, transactions and mix of the TPC-C specification, "
        "without its terminals, waiting times and audit."
    ),
    parameters=PARAMETERS,
    metrics=METRICS,
    disk_bytes=disk_bytes,
    headline="nopm",
    minimum_version=110000,
    longest=parameters.longest,
    programs={"client": (PGBENCH, AWK)},
)
