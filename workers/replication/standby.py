"""Physical standbys: cloned once from the primary, kept between trials, attached by streaming, awaited.

A standby's cluster is beside those of other servers (`workers.postgres.cluster`), with a file `copy-of` that holds the
primary's system identifier. Its upstream keeps WAL for it in a slot during a trial, and by `wal_keep_size` between
trials; a standby that has fallen behind that is cloned anew."""

from __future__ import annotations

import posixpath
from collections.abc import Collection
from pathlib import Path
from typing import Any

from results.domain.errors import TrialError
from results.domain.matrix.clusters import digest
from results.domain.measurement.parsed_trial import Check
from results.domain.messages import gettext_lazy as _
from results.domain.secrets import masked_end
from workers.interfaces import Stage
from workers.postgres import cluster, verify
from workers.postgres.server import Server
from workers.remote.connection import link_error
from workers.servers import access, nodes

_FIRST_WITH_KEEP_SIZE = 130000
_HERE = Path(__file__).parent
_CLONE = cluster.NO_REMOVAL + (_HERE / "clone.sh").read_text()
_STATE = (_HERE / "replication.sql").read_text()
_RELEASE = (_HERE / "release.sql").read_text()
_SLOTS = (_HERE / "slots.sql").read_text()
_SLOT = "SELECT pg_create_physical_replication_slot(:'slot', true) WHERE NOT EXISTS ({}) \\g /dev/null".format(
    "SELECT FROM pg_replication_slots WHERE slot_name = :'slot'"
)
_PATIENCE_S = 12.0  # without any progress; a standby that was refused retries after 5 s


def settings(stage: Stage, node: str) -> dict[str, str]:
    """Return the settings of every server that replicates, overridden by the plan's settings."""
    wal_keep = {"wal_keep_size": "1GB"}
    if stage.installation(node).version_num < _FIRST_WITH_KEEP_SIZE:
        wal_keep = {"wal_keep_segments": "64"}
    node_settings = {
        "wal_level": "replica",
        "max_wal_senders": "32",
        "max_replication_slots": "32",
        "hot_standby": "on",
    }
    return node_settings | wal_keep | dict(stage.spec.settings)


async def start_primary(
    stage: Stage, standbys: Collection[str], *, connection: str = "auto", peers: Collection[str] = ()
) -> None:
    """Start a primary that these standbys can follow, and stop every server of Teiten on the agents but them.

    Its synchronous standbys are reset, and slots of other standbys dropped. Raises TrialError with its message.

    peers: other nodes that connect to it
    """
    remote, node = stage.agents["primary"], "primary"
    listen, lines = access.listening(stage, node, (*standbys, *peers), connection)
    server = await cluster.ensure(
        remote,
        stage.installation(node),
        initdb=stage.spec.initdb,
        settings=settings(stage, node),
        listen=listen,
        hba=lines,
        name=nodes.cluster_name(stage, node),
    )
    stage.servers[node] = server
    kept_clusters = [(stage.agents[standby], f"{nodes.directory_of(stage, standby)}/data") for standby in standbys]
    await nodes.stop_others(stage, [(remote, server.data_dir), *kept_clusters])
    await server.execute(_RELEASE)
    await keep_slots(stage, node, standbys)
    if listen:
        await access.hand_out(stage, node)


async def keep_slots(stage: Stage, upstream: str, standbys: Collection[str]) -> None:
    """Drop Teiten's slots on a server but those of these standbys, and end who streams by one. Raises CommandError."""
    slots = ",".join(slot_name(stage, standby) for standby in standbys)
    await stage.servers[upstream].execute(_SLOTS, variables={"kept": slots})


async def attach(
    stage: Stage, node: str, upstream: str, followers: Collection[str] = (), connection: str = "auto"
) -> str:
    """Start a node's standby, streaming from the upstream and caught up with the primary; return 'kept' or 'cloned'.

    Raises TrialError with the server's message.

    followers: nodes that will follow this standby in turn
    """
    remote, source = stage.agents[node], stage.servers[upstream]
    directory = nodes.directory_of(stage, node)
    listen, lines = access.listening(stage, node, followers, connection)
    environment = await nodes.reach(stage, node, upstream, source="primary")
    await source.execute(_SLOT, variables={"slot": slot_name(stage, node)})
    node_settings = settings(stage, node) | {
        "primary_conninfo": nodes.conninfo(environment, application_name=node),
        "primary_slot_name": slot_name(stage, node),
    }
    how = await _clone(stage, node, directory, environment)
    while True:
        try:
            server = await cluster.ensure(
                remote,
                stage.installation(node),
                initdb=stage.spec.initdb,
                settings=node_settings,
                listen=listen,
                hba=lines,
                name=nodes.cluster_name(stage, node),
            )
            stage.servers[node] = server
            await wait_until_caught_up(stage, node, upstream)
        except TrialError:
            if how == "cloned":
                raise
            how = await _clone(stage, node, directory, environment, again=True)
            continue
        break
    if listen:
        await access.hand_out(stage, node, source="primary")
    return how


async def wait_until_caught_up(stage: Stage, node: str, upstream: str) -> None:
    """Wait until the standby streams and has replayed all that the primary has written by now.

    Raises TrialError where it makes no progress.
    """
    lsn = await written_lsn(stage.primary)

    async def read_state() -> tuple[dict[str, Any], bool]:
        state = await stream_state(stage, node, upstream)
        return state, state["state"] == "streaming" and await has_replayed(stage.servers[node], lsn)

    caught_up, (state, _replayed) = await nodes.wait_until(read_state, lambda answer: answer[1], _PATIENCE_S)
    if not caught_up:
        log_lines = "\n".join((await stage.servers[node].log_tail()).splitlines()[-6:])
        raise TrialError(
            _("{node} does not follow {upstream}.", node=node, upstream=upstream),
            where="arrange",
            why=with_log(_("State of its stream: {state}.", state=state["state"] or _("none")), log_lines),
            todo=_("Look at both servers' logs, which are kept with the trial."),
        )


def with_log(reason: str, log_lines: str) -> str:
    """Return a reason with the end of a server's log below it, as far as there are both."""
    return _("{reason}\n{log}", reason=reason, log=log_lines) if reason and log_lines else reason or log_lines


async def written_lsn(server: Server) -> str:
    """Return the LSN up to which the primary's WAL has been written."""
    return (await server.execute("SELECT pg_current_wal_lsn();")).strip()


async def has_replayed(server: Server, lsn: str) -> bool:
    """Return whether a standby has replayed the WAL up to this LSN."""
    query = "SELECT coalesce(pg_last_wal_replay_lsn() >= :'lsn'::pg_lsn, false);"
    return (await server.execute(query, variables={"lsn": lsn})).strip() == "t"


async def stream_state(stage: Stage, node: str, upstream: str) -> dict[str, Any]:
    """Return the upstream's view of one standby; empty strings where the standby is not connected."""
    rows = await stage.servers[upstream].query(_STATE, variables={"node": node})
    return rows[0] if rows else {"state": "", "sync_state": "", "replay_lsn": ""}


async def checks(stage: Stage, node: str, upstream: str, sync_state: str) -> list[Check]:
    """Return the checks of one standby: those of every server, that it streams, and its synchronous state.

    Waits until it has replayed all that the primary has written by now. Raises CommandError, TrialError.
    """
    await wait_until_caught_up(stage, node, upstream)
    server_checks = await verify.server_checks(
        stage.servers[node],
        stage.database,
        role=node,
        settings=stage.spec.settings,
        access_method=stage.spec.access_method,
        stored_by=stage.stored_by,
        standby=True,
    )
    state = await stream_state(stage, node, upstream)
    stream, none = _("stream from {node}", node=upstream), _("none")
    return [
        *server_checks,
        Check(stream, node, "streaming", state["state"] or none, state["state"] == "streaming"),
        Check(_("synchronous state"), node, sync_state, state["sync_state"] or none, state["sync_state"] == sync_state),
    ]


def slot_name(stage: Stage, node: str) -> str:
    """Return the name of the cluster's slot; the same node on another agent has another slot."""
    return f"teiten_{node}_{digest(stage.agents[node].address.name, nodes.directory_of(stage, node), length=8)}"


async def _clone(stage: Stage, node: str, directory: str, environment: dict[str, str], *, again: bool = False) -> str:
    remote, installation = stage.agents[node], stage.installation(node)
    system = (await stage.primary.execute("SELECT system_identifier FROM pg_control_system();")).strip()
    wal = cluster.wal_dir(remote, directory)
    words = (installation.bin_dir, installation.client_bin, directory, system, "again" if again else "", wal)
    result = await remote.script(_CLONE, *words, env=environment, check=False, timeout_s=None)
    if result.exit_status == 0:
        return result.stdout.split()[-1]
    if result.exit_status == cluster.LINKED:
        raise link_error(remote, directory, result.stderr, "work")
    raise TrialError(
        _("{node} could not be copied from {source}.", node=node, source=posixpath.basename(environment["PGHOST"])),
        where="arrange",
        why=masked_end(result.stderr, 1200),
        todo=_("Look at the space left, and whether the agents reach each other's servers."),
    )
