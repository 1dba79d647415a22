"""Run pgpool-II for one trial, as a job of the attempt on the agent of the role `pooler`."""

from __future__ import annotations

import asyncio
import time
from dataclasses import dataclass, replace
from pathlib import Path

from results.domain.errors import CommandError, ParseError, TrialError, VerifyError
from results.domain.matrix.program_needs import ProgramNeed
from results.domain.measurement.parsed_trial import Check
from results.domain.messages import SEMICOLON, linked
from results.domain.messages import gettext_lazy as _
from workers.interfaces import Stage
from workers.pgpool import failover, process
from workers.pgpool.answers import read_rows
from workers.pgpool.program import PROGRAM
from workers.postgres import cluster, password
from workers.postgres.server import SUPERUSER, Server
from workers.remote import programs
from workers.remote.job import Job
from workers.replication.failover import PROMOTE
from workers.replication.failover_parameters import failover_options
from workers.servers import access

from . import configuration
from .configuration import Backend, Location
from .spec import POOLER, SPARE_CHILDREN

_HERE = Path(__file__).parent
_START = (_HERE / "start.sh").read_text()
_PORT = cluster.FREE_PORT + '\nfree_port "$1" 0\n'
_PATIENCE_S = 20.0
_POLL_S = 0.1
_MARGIN = 10  # connections that a server needs besides pgpool-II's


@dataclass(frozen=True)
class ProgramPath:
    """The path of pgpool-II on its agent."""

    path: str


async def find(stage: Stage) -> None:
    """Find and record the agent's pgpool-II. Raises VerifyError when it has none."""
    remote = stage.agents[POOLER]
    need = ProgramNeed(POOLER, remote.address.name, PROGRAM, _("the topology {name}", name="pgpool"))
    program, _space, version = (await programs.require(remote, [need]))[PROGRAM.name].partition(" ")
    stage.keep(ProgramPath(program))
    stage.recorder.note("pgpool", version.removeprefix("pgpool-II version ").strip())


async def start(stage: Stage) -> None:
    """Start pgpool-II and wait until every server is up in its role. Raises TrialError with its log when they do not
    come up, VerifyError when the servers take fewer connections than it opens."""
    remote, parameters = stage.agents[POOLER], stage.spec.topology_parameters
    children = _children(stage)
    await _require_connections(stage, children)
    job = f"{stage.job_dir(remote)}/pgpool"
    listen, _lines = access.listening(stage, POOLER, connection=str(parameters["connection"]))
    port = int((await remote.script(_PORT, job)).stdout)
    location = Location(f"{job}/data", cluster.socket_dir(remote, job), listen, port)
    backends = [_backend(stage, node) for node in stage.spec.servers]
    conf = configuration.pgpool_conf(parameters, location, backends, children=children, user=SUPERUSER)
    hosts = dict.fromkeys(client.address.host for client in stage.clients) if listen == "*" else (listen,)
    texts = {"pgpool.conf": conf, "pool_hba.conf": configuration.pool_hba(hosts if listen else ()), "pcp.conf": ""}
    for name, text in texts.items():
        await remote.put(f"{location.directory}/{name}", text, 0o600)
    await remote.put(f"{location.directory}/pool_passwd", await _passwords(stage), 0o600, secret=True)
    if failover_options(parameters):
        await _put_failover(stage, location)
    stage.poolers[POOLER] = Server(
        remote=remote,
        installation=replace(stage.spec.installation, client_bin=stage.spec.client_bin_of(POOLER)),
        data_dir=location.directory,
        port=port,
        socket_dir=location.sockets,
        host=(remote.address.host if listen == "*" else listen) or location.sockets,
    )
    environment = {
        "PGPOOL": stage.kept(ProgramPath).path,
        "SOCKETS": location.sockets,
        "DIRECTORY": location.directory,
        "LOG": stage.poolers[POOLER].log_path,
    }
    await Job.start(remote, job, _START, deadline_s=stage.lifetime_s, env=environment)
    await _wait_until_ready(stage)
    if listen:
        await _hand_out(stage)


async def checks(stage: Stage) -> list[Check]:
    """Check pgpool-II's mode and switches, that every server is up in its role, and that it answers a query. Raises
    CommandError, TrialError."""
    await process.require_alive(stage)
    settings = configuration.expected_settings(stage.spec.topology_parameters)
    pooler = stage.poolers[POOLER]
    script = "".join(f"PGPOOL SHOW {name};\n" for name in settings) + "SELECT current_database();\n"
    *answers, database = (await pooler.execute(script, database=stage.database)).splitlines()
    shown = dict(zip(settings, answers, strict=True))
    states = zip(stage.spec.servers, _expected_states(stage), await _states(stage), strict=True)
    return [
        *(Check(name, POOLER, value, shown[name], shown[name] == value) for name, value in settings.items()),
        Check(_("query through pgpool-II"), POOLER, stage.database, database, database == stage.database),
        *(
            Check(_("queries from {node}", node=POOLER), node, state, actual, actual == state)
            for node, state, actual in states
        ),
    ]


async def _wait_until_ready(stage: Stage) -> None:
    """Wait until pgpool-II answers and has every server up in its role."""
    expected = _expected_states(stage)
    actual: list[str] = [_("it does not answer")]
    until = time.monotonic() + _PATIENCE_S
    while time.monotonic() < until:
        await process.require_alive(stage)
        try:
            actual = await _states(stage)
        except CommandError as error:  # not yet
            actual = [error.why or error.words]
        if actual == expected:
            return
        await asyncio.sleep(_POLL_S)
    log_lines = await process.last_words(stage.poolers[POOLER])
    raise TrialError(
        _("pgpool-II does not have every server up on {agent}.", agent=stage.agents[POOLER].address.name),
        where="arrange",
        why=_(
            "Expected: {expected}. Actual: {actual}.\n{log}",
            expected=linked(SEMICOLON, expected),
            actual=linked(SEMICOLON, actual),
            log=log_lines,
        ),
        todo=_("Look at its log and the servers' logs, which are kept with the trial."),
    )


async def _states(stage: Stage) -> list[str]:
    columns = ("node_id", "status", "role")
    try:
        rows = read_rows(await process.show(stage, process.NODES), process.NODES, columns)
    except ParseError as error:
        raise TrialError(
            _("pgpool-II is too old."), where="arrange", why=error.words, todo=_("Install 4.2 or later.")
        ) from error
    return [f"{row['status']}, {row['role']}" for row in sorted(rows, key=lambda row: int(row["node_id"]))]


def _expected_states(stage: Stage) -> list[str]:
    mode = str(stage.spec.topology_parameters["mode"])
    return [f"up, {role}" for role in configuration.roles(mode, len(stage.spec.servers))]


def _children(stage: Stage) -> int:
    clients = int(stage.spec.parameters.get("clients", 1))
    return int(stage.spec.topology_parameters["num_init_children"]) or SPARE_CHILDREN + sum(
        load.clients or clients for load in stage.loads
    )


async def _require_connections(stage: Stage, children: int) -> None:
    [row] = await stage.primary.query("SELECT current_setting('max_connections')::int AS most")
    if row["most"] < children + _MARGIN:
        raise VerifyError(
            _(
                "The servers take {most} connections, and pgpool-II opens up to {children} at each.",
                most=row["most"],
                children=children,
            ),
            where="settings.max_connections",
            why=_("Each of its {children} processes keeps a connection to every server.", children=children),
            todo=_("Set max_connections to {most} or more.", most=children + _MARGIN),
        )


def _backend(stage: Stage, node: str) -> Backend:
    server = stage.servers[node]
    same = stage.agents[node].address.name == stage.agents[POOLER].address.name
    by_socket = same and stage.spec.topology_parameters["connection"] == "auto"
    return Backend(node, server.socket_dir if by_socket else server.host, server.port, server.data_dir)


async def _passwords(stage: Stage) -> str:
    """Return the text of pool_passwd; '' where no server asks for a password."""
    if not any(server.password_file for server in stage.servers.values()):
        return ""
    return configuration.pool_passwd(SUPERUSER, await password.password_of(stage.primary))


async def _put_failover(stage: Stage, location: Location) -> None:
    """Write what pgpool-II runs when it gives the primary up, and the servers' password where they ask for one."""
    remote = stage.agents[POOLER]
    psql = f"{stage.spec.client_bin_of(POOLER)}/psql"
    command = failover.command(location.directory, psql, SUPERUSER)
    await remote.put(f"{location.directory}/failover.sh", command, 0o600)
    await remote.put(f"{location.directory}/promote.sql", PROMOTE, 0o600)
    if any(server.password_file for server in stage.servers.values()):
        line = f"*:*:*:{SUPERUSER}:{await password.password_of(stage.primary)}\n"
        await remote.put(f"{location.directory}/pgpass", line, 0o600, secret=True)


async def _hand_out(stage: Stage) -> None:
    """Give every client's agent the servers' password for pgpool-II's port."""
    pooler = stage.poolers[POOLER]
    for client in stage.clients:
        await password.hand_to(client, stage.primary, stage.password_file(client, POOLER), port=pooler.port)
    stage.poolers[POOLER] = replace(pooler, password_file=stage.password_file(stage.client, POOLER))
