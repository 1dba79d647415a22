"""What the workload of your own scripts declares. Pure."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Mapping
from dataclasses import replace

from results.domain.errors import Problem
from results.domain.kinds.parameters import SQL_CODE, Kind, Parameter, Scalar
from results.domain.kinds.specs import Longest, WorkloadSpec, by_duration, half_a_minute
from results.domain.measurement.metrics import Better, Metric
from results.domain.messages import gettext_lazy as _
from results.domain.messages import pgettext_lazy
from workers.pgbench import metrics as pgbench
from workers.pgbench import parameters as shared
from workers.pgbench import program

from .sections import sections

PGBENCH, QUERIES, COMMAND = "pgbench", "queries", "command"
OWN = "own."
LONGEST_TEXT = 200_000
_MOST_PSQL = 500  # clients of the form `queries`: each is a process of its own
_METRIC = r"(own\.)?[A-Za-z][A-Za-z0-9_.-]{0,58}"


def _only(parameter: Parameter, *forms: str) -> Parameter:
    return replace(parameter, only_with={"form": forms})


PARAMETERS = (
    Parameter(
        pgettext_lazy("parameter", "form"),
        Kind.CHOICE,
        PGBENCH,
        _(
            "pgbench: one script or several, by weight. queries: SQL queries in order, each timed, by psql. command: a "
            "shell script on the client's agent that prints metrics of its own."
        ),
        choices=(PGBENCH, QUERIES, COMMAND),
    ),
    Parameter(
        pgettext_lazy("parameter", "text"),
        Kind.SCRIPT,
        "",
        _(
            "The script. Several scripts or queries each stand under a line '-- script: name @weight' or '-- query: "
            "name'; uploaded files are joined so, in the order of the numbers in their names. A command prints lines "
            "'metric value unit', or JSON."
        ),
        shell_with={"form": (COMMAND,)},
        code=_(
            r"a command is a shell script; psql and pgbench run programs by \! and \shell, the server by COPY … TO "
            "PROGRAM"
        ),
    ),
    Parameter(
        pgettext_lazy("parameter", "setup"),
        Kind.SCRIPT,
        "",
        _("SQL, run by psql in the empty database: makes the data."),
        loads=True,
        code=SQL_CODE,
    ),
    Parameter(
        "scale",
        Kind.INTEGER,
        1,
        _(
            "The size, as the setup and the script understand it: :scale in SQL and pgbench, $TEITEN_SCALE in a "
            "command."
        ),
        minimum=1,
        maximum=1_000_000_000,
        loads=True,
    ),
    replace(
        shared.CLIENTS, help=_("Concurrent connections; $TEITEN_CLIENTS in a command. Of the form queries at most 500.")
    ),
    _only(
        Parameter(
            pgettext_lazy("parameter", "passes"),
            Kind.INTEGER,
            3,
            _("How often each client runs all queries in order."),
            1,
            10_000,
        ),
        QUERIES,
    ),
    _only(
        Parameter(
            pgettext_lazy("parameter", "headline"),
            Kind.TEXT,
            "",
            _("The metric that pages show first; empty: the time taken."),
            pattern=f"({_METRIC})?",
        ),
        COMMAND,
    ),
    Parameter(
        pgettext_lazy("parameter", "deadline_s"),
        Kind.NUMBER,
        3600,
        _("What has not ended then is ended, and the trial fails: the setup, and queries or a command as a whole."),
        1,
        7 * 86400,
        unit="s",
    ),
    *(
        _only(parameter, PGBENCH)
        for parameter in (
            shared.DEFINE,
            shared.PROTOCOL,
            shared.RATE,
            shared.LATENCY_LIMIT_MS,
            shared.CONNECT,
            shared.TRANSACTIONS,
            shared.MAX_TRIES,
            shared.PER_STATEMENT,
        )
    ),
)

METRICS = (
    Metric(
        "script.seconds",
        "s",
        Better.LOWER,
        _("Time taken"),
        _("From the start of queries or command to the end."),
        parts="script.query.seconds",
    ),
    Metric(
        "script.query.seconds",
        "s",
        Better.LOWER,
        _("Time of a query"),
        _("By psql's own clock, its statements together. Median over clients and passes. Label: the query."),
        0.05,
        label_noun=_("query"),
    ),
    Metric(
        "script.query.rows",
        "1",
        Better.NEITHER,
        _("Rows of a query"),
        _("Of its last statement, in every pass. Label: the query."),
        label_noun=_("query"),
    ),
    Metric(
        "script.pass.seconds",
        "s",
        Better.LOWER,
        _("Time of a pass"),
        _("All queries once, their times added. Median over clients and passes. Labels: the passes, over the clients."),
        label_noun=_("pass"),
    ),
    Metric(
        "script.queries_per_hour",
        "1/h",
        Better.HIGHER,
        _("Queries an hour"),
        _("All clients together: queries divided by the measured window."),
    ),
    *pgbench.METRICS,
)


def problems(parameters: Mapping[str, Scalar]) -> Iterator[Problem]:
    """What is wrong with the script for its form."""
    text, form = str(parameters["text"]), str(parameters["form"])
    for name in ("text", "setup"):
        if len(str(parameters[name])) > LONGEST_TEXT:
            what = _("It is longer than {longest:,} characters.", longest=LONGEST_TEXT)
            yield Problem(name, what, _("Put data into the setup's SQL by generate_series, or onto the agent."))
    if not text.strip():
        yield Problem("text", _("The script is empty."), _("Write it, or upload its files."))
    elif form != COMMAND:
        yield from _section_problems(text, form)
    if form == QUERIES and int(parameters["clients"]) > _MOST_PSQL:
        what = _("{clients} clients run queries.", clients=parameters["clients"])
        yield Problem("clients", what, _("At most {most} do.", most=_MOST_PSQL))


def _section_problems(text: str, form: str) -> Iterator[Problem]:
    try:
        parts = sections(text, form)
    except ValueError as error:
        yield Problem("text", error.args[0], _("Each part stands under '-- script: name' or '-- query: name'."))
        return
    if form == QUERIES and any(section.weight is not None for section in parts):
        todo = _("Every query is run in every pass: leave out '@weight'.")
        yield Problem("text", _("A query has no weight."), todo)
    if form == PGBENCH and not any(weight_of(section.weight) for section in parts):
        todo = _("Give at least one script a weight of 1 or more.")
        yield Problem("text", _("Every script has the weight 0."), todo)


def weight_of(weight: int | None) -> int:
    """A script without a weight has 1, as in pgbench."""
    return 1 if weight is None else weight


def digest(text: str) -> str:
    """SHA-256 of a script, hex."""
    return hashlib.sha256(text.encode()).hexdigest()


def provided(parameters: Mapping[str, Scalar]) -> dict[str, str]:
    """The script's hash, and the setup's where there is one."""
    texts = {"script": str(parameters["text"]), "setup": str(parameters["setup"])}
    return {name: digest(text) for name, text in texts.items() if text or name == "script"}


def measured_s(parameters: Mapping[str, Scalar], duration_s: float) -> float | None:
    """Queries and commands last until they are done."""
    return by_duration(parameters, duration_s) if parameters["form"] == PGBENCH else None


def typical_s(parameters: Mapping[str, Scalar], duration_s: float) -> float:
    """Queries of half a second; a command of half a minute."""
    if parameters["form"] != QUERIES:
        return half_a_minute(parameters, duration_s)
    queries = str(parameters["text"]).count("-- query:") or 1
    return 0.5 * queries * int(parameters["passes"])


def longest(parameters: Mapping[str, Scalar], duration_s: float) -> Longest:
    """Setup, queries and commands may take what the plan says; a load of pgbench's so many transactions."""
    stated_s = float(parameters["deadline_s"])
    if parameters["form"] == PGBENCH:
        return replace(shared.longest(parameters, duration_s), load_s=stated_s)
    return Longest(load_s=stated_s, warm_s=stated_s, measure_s=stated_s, stated=True)


def headline_of(parameters: Mapping[str, Scalar]) -> str:
    """Of pgbench tps, of queries the time of a pass, of a command what the parameter says."""
    if parameters["form"] == COMMAND:
        return own_name(str(parameters["headline"])) if parameters["headline"] else "script.seconds"
    return "tps" if parameters["form"] == PGBENCH else "script.pass.seconds"


def own_name(name: str) -> str:
    """A metric's name as printed → as stored: in a room of its own, so that it never is one of Teiten's."""
    return name if name.startswith(OWN) else f"{OWN}{name}"


def disk_bytes(parameters: Mapping[str, Scalar]) -> int | None:
    """Nobody knows what a setup makes; without one there is nothing."""
    return None if str(parameters["setup"]).strip() else 0


def run_by_pgbench(parameters: Mapping[str, Scalar]) -> bool:
    """Scripts of pgbench may have any number of clients and servers; queries and commands have one client."""
    return parameters["form"] == PGBENCH


SPEC = WorkloadSpec(
    name="script",
    title=_("Your own script, queries or command"),
    help=_(
        "pgbench scripts with a setup of their own, a folder of SQL queries, or a command on the client's agent that "
        "prints its metrics."
    ),
    parameters=PARAMETERS,
    metrics=METRICS,
    disk_bytes=disk_bytes,
    several=run_by_pgbench,
    measured_s=measured_s,
    longest=longest,
    typical_s=typical_s,
    headline_of=headline_of,
    problems=problems,
    provided=provided,
    programs={"client": (program.PGBENCH,)},
)
