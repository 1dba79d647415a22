"""The files of one run of your own scripts → measurements. Pure."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from statistics import median

from results.domain.errors import ParseError
from results.domain.exit_status import ending
from results.domain.kinds.specs import Reading
from results.domain.measurement.parsed_trial import Gap, Measurement, Part
from results.domain.messages import gettext_lazy as _
from workers.pgbench.parse import run_part

from .output import declared, measurements, read_output
from .passes import Client, Execution, complaint, read_client
from .sections import sections
from .spec import COMMAND, PGBENCH, QUERIES

_TAIL = 600


def parse(reading: Reading) -> Part:
    """By the form: what pgbench printed, how long each query took, or the metrics that a command printed. What broke
    off says so in `failure`. Raises ParseError for output that is not what it should be."""
    form = str(reading.parameters["form"])
    if form == PGBENCH:
        names = [section.name for section in sections(str(reading.parameters["text"]), PGBENCH)]
        return run_part(reading, names, connect=bool(reading.parameters["connect"]))
    return _command(reading) if form == COMMAND else _queries(reading)


def _command(reading: Reading) -> Part:
    failure = _ending(reading, _("The command"), reading.files.get("stderr", ""))
    if failure:
        return Part(failure=failure)
    printed = read_output(reading.files.get("stdout", ""))
    return Part(measurements=(_taken(reading), *measurements(printed)), metrics=declared(printed))


def _queries(reading: Reading) -> Part:
    names = [section.name for section in sections(str(reading.parameters["text"]), QUERIES)]
    passes = int(reading.parameters["passes"])
    clients = {
        number: read_client(reading.files.get(f"client-{number}.stdout", ""), number, f"client-{number}.stdout")
        for number in range(1, int(reading.parameters["clients"]) + 1)
    }
    if failure := _query_failure(reading, clients, names, passes):
        return Part(failure=failure)
    done = [execution for client in clients.values() for execution in client.executions]
    return Part(
        measurements=tuple(_timings(reading, done, names, passes)),
        gaps=tuple(_uneven(done, names)),
    )


def _query_failure(reading: Reading, clients: dict[int, Client], names: Sequence[str], passes: int) -> str:
    for number, client in clients.items():
        error_message = complaint(reading.files.get(f"client-{number}.stderr", ""))
        if error_message:
            return _("{query}: {error}", query=_position(number, client, names), error=error_message)
    running = next(((n, client) for n, client in clients.items() if client.begun), None)
    where = _position(*running, names) if running else "psql"
    if ending := _ending(reading, where, ""):
        return ending
    for number, client in clients.items():
        if len(client.executions) != passes * len(names):
            done = len(client.executions)
            return _(
                "Client {number} ended after {done} of {queries} queries, without an error.",
                number=number,
                done=done,
                queries=passes * len(names),
            )
    return ""


def _position(number: int, client: Client, names: Sequence[str]) -> str:
    if client.begun is None or client.begun[1] > len(names):
        return _("Client {number}", number=number)
    turn, query = client.begun
    return _("Query {query} (client {number}, pass {turn})", query=names[query - 1], number=number, turn=turn)


def _ending(reading: Reading, what: str, stderr: str) -> str:
    """Return why it failed, with the end of its output; '' where it did not."""
    words = stderr.strip()[-_TAIL:]
    if reading.files.get("timed_out", "").strip():
        message = _(
            "{what} was still running at the deadline of {deadline_s:g} s, and was ended.",
            what=what,
            deadline_s=reading.parameters["deadline_s"],
        )
        return _("{message} {output}", message=message, output=words) if words else message
    text = reading.files.get("exit", "").strip()
    if not text.isdigit():
        raise ParseError(_("not an exit status"), file="exit", line=1, text=text)
    if text == "0":
        return ""
    return _("{what} {ended}: {why}", what=what, ended=ending(int(text)), why=words or _("it gave no reason"))


def _timings(reading: Reading, done: Sequence[Execution], names: Sequence[str], passes: int) -> Iterator[Measurement]:
    yield _taken(reading)
    for number, name in enumerate(names, 1):
        executions = [execution for execution in done if execution.number == number]
        yield Measurement("script.query.seconds", median(execution.seconds for execution in executions), label=name)
        if len({execution.rows for execution in executions}) == 1:
            yield Measurement("script.query.rows", executions[0].rows, label=name)
    totals: dict[tuple[int, int], float] = {}
    for execution in done:
        key = execution.turn, execution.client
        totals[key] = totals.get(key, 0.0) + execution.seconds
    yield Measurement("script.pass.seconds", median(totals.values()))
    for turn in range(1, passes + 1):
        over_clients = [seconds for (pass_number, _), seconds in totals.items() if pass_number == turn]
        yield Measurement("script.pass.seconds", median(over_clients), label=str(turn))
    yield Measurement("script.queries_per_hour", len(done) * 3600 / (reading.window[1] - reading.window[0]))


def _uneven(done: Sequence[Execution], names: Sequence[str]) -> Iterator[Gap]:
    for number, name in enumerate(names, 1):
        rows = {execution.rows for execution in done if execution.number == number}
        if len(rows) > 1:
            reason = _(
                "query {query} returned from {fewest} to {most} rows: no count is kept",
                query=name,
                fewest=min(rows),
                most=max(rows),
            )
            yield Gap("script", "client", reason)


def _taken(reading: Reading) -> Measurement:
    return Measurement("script.seconds", reading.window[1] - reading.window[0])
