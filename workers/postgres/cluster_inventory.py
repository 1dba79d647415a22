"""List the clusters on an agent, and remove one that nothing needs any more.

Teiten's clusters are folders of `<data_dir or storage place>/clusters/` with a name of `matrix.clusters.folder_name`
and a file that Teiten leaves there. Their parts in other places, `<place>/wal/` and `<place>/tablespaces/`, have the
hash of the cluster's directory in their names. No link is followed."""

from __future__ import annotations

import posixpath
from collections import defaultdict
from dataclasses import dataclass, field
from pathlib import Path

from results.domain.errors import AgentError, CommandError
from results.domain.matrix.clusters import AgentCluster, ClusterState, is_folder_name
from results.domain.messages import Message
from results.domain.messages import gettext_lazy as _
from results.domain.secrets import masked_end
from workers.postgres.server import unique_name
from workers.remote.command import CommandResult
from workers.remote.connection import ENTER, Remote, link_error
from workers.remote.limits import CLUSTERS

_HERE = Path(__file__).parent
_INVENTORY = (_HERE / "cluster_inventory.sh").read_text()
_REMOVE = ENTER + (_HERE / "cluster_remove.sh").read_text()
_LOOK_LIMIT_S = 60.0
_RUNS, _FOREIGN, _UNFINISHED = 3, 4, 5
_LONGEST_PATH = 1000  # bytes


@dataclass(frozen=True)
class _Entry:
    kind: str
    path: str
    idle_s: float
    state: str
    bin_dir: str


@dataclass
class _Inventory:
    """The parsed output of cluster_inventory.sh.

    folders: (kind, home as Teiten writes it) → its real path
    links: paths that lie in the place of such folders
    entries: path → entry, since two homes may be one folder
    sizes: path → bytes
    working_directories: of all processes
    """

    folders: dict[tuple[str, str], str] = field(default_factory=dict)
    links: list[str] = field(default_factory=list)
    entries: dict[str, _Entry] = field(default_factory=dict)
    sizes: dict[str, int] = field(default_factory=dict)
    working_directories: list[str] = field(default_factory=list)


async def inventory(remote: Remote) -> list[AgentCluster]:
    """Return every cluster below the agent's data directory and storage places, and what else lies among them.

    Raises AgentError, also where a link has taken the place of such a folder: what is behind it is not looked at.
    """
    text = (await remote.script(_INVENTORY, *remote.address.homes, timeout_s=_LOOK_LIMIT_S)).stdout
    try:
        listing = _read(text)
    except ValueError as error:
        raise AgentError(
            _("The list of the agent's clusters cannot be read."),
            where=remote.address.place,
            why=error.args[0] if error.args and isinstance(error.args[0], Message) else str(error),
            todo=_("Look for folders with odd names below its data directory and storage places."),
        ) from error
    for path in listing.links:
        raise link_error(remote, path, f"{path} is a link", "look for clusters")
    return clusters_of(listing)


async def remove(remote: Remote, directory: str, parts: tuple[str, ...], limit_s: float) -> bool:
    """Remove a cluster with its parts; return False where that takes longer than limit_s and must be continued later.

    Raises AgentError where a process works in it, it is not Teiten's, or its files cannot be removed.

    directory, parts: real paths of an inventory
    """
    words = (str(int(limit_s)), directory, *parts)
    result = await remote.script(_REMOVE, *words, check=False, timeout_s=limit_s + 30)
    if result.exit_status in (0, _UNFINISHED):
        return result.exit_status == 0
    raise _error(remote, directory, result)


def _error(remote: Remote, directory: str, result: CommandResult) -> AgentError:
    stderr = masked_end(result.stderr, 1200)
    if result.exit_status == _RUNS:
        todo = _("Wait for its end, or end it on the agent.")
        what = _("A process works in {folder}.", folder=directory)
        return AgentError(what, where=remote.address.place, why=stderr, todo=todo)
    if result.exit_status == _FOREIGN:
        todo = _("Look at it on the agent, and remove it there if nobody needs it.")
        what = _("{folder} is not Teiten's to remove.", folder=directory)
        return AgentError(what, where=remote.address.place, why=stderr, todo=todo)
    return CommandError(
        _("{folder} could not be removed.", folder=directory),
        command=result.command,
        exit_status=result.exit_status,
        stdout=result.stdout,
        stderr=result.stderr,
        host=remote.address.place,
        todo=_("Look at the owner and the rights of what is left, and remove it on the agent."),
    )


def _read(text: str) -> _Inventory:
    """Parse the script's output. Raises ValueError for a line that the script does not print."""
    listing = _Inventory()
    for line in text.splitlines():
        if len(listing.entries) > CLUSTERS:
            raise ValueError(_("There are more than {number}.", number=CLUSTERS))
        words = line.split("\t")
        if any(len(word.encode()) > _LONGEST_PATH for word in words if words[0] != "at"):
            raise ValueError(_("{line!r} … is longer than {limit} bytes.", line=line[:200], limit=_LONGEST_PATH))
        match words:
            case ["folder", kind, home, real]:
                listing.folders[kind, home] = real
            case ["link", path]:
                listing.links.append(path)
            case ["entry", kind, path, seconds, state, bin_dir]:
                listing.entries[path] = _Entry(kind, path, max(0.0, float(seconds)), state, bin_dir)
            case ["size", path, kilobytes]:
                listing.sizes[path] = int(kilobytes) * 1024
            case ["at", *path]:
                listing.working_directories.append("\t".join(path))
            case _:
                raise ValueError(_("{line!r} was not expected.", line=line[:200]))
    return listing


def clusters_of(listing: _Inventory) -> list[AgentCluster]:
    """Return one value for each cluster, with its parts, sorted by path."""
    directories = {path: entry for path, entry in listing.entries.items() if entry.kind == "clusters"}
    parts: dict[str, list[_Entry]] = defaultdict(list)
    for entry in listing.entries.values():
        if entry.kind != "clusters" and (owner := _owner(entry, listing)):
            parts[owner].append(entry)
    return [_cluster(path, directories.get(path), parts[path], listing) for path in sorted({*directories, *parts})]


def _owner(part: _Entry, listing: _Inventory) -> str:
    """Return the cluster that a WAL or tablespace folder belongs to, by its name; '' for none."""
    name = posixpath.basename(part.path)
    folder = name.rpartition("-")[0]
    for (kind, home), real in listing.folders.items():
        if kind == "clusters" and unique_name(f"{home}/clusters/{folder}") == name:
            return f"{real}/{folder}"
    return ""


def _cluster(path: str, entry: _Entry | None, parts: list[_Entry], listing: _Inventory) -> AgentCluster:
    if entry is None:
        state = ClusterState.REMAINS
    elif is_folder_name(posixpath.basename(path)):
        state = ClusterState(entry.state)
    else:
        state = ClusterState.FOREIGN
    folders = [folder for folder in (entry, *parts) if folder is not None]
    return AgentCluster(
        directory=path,
        state=state,
        size_bytes=sum(listing.sizes.get(folder.path, 0) for folder in folders),
        idle_s=entry.idle_s if entry else min(part.idle_s for part in parts),
        running=any(place == path or place.startswith(f"{path}/") for place in listing.working_directories),
        bin_dir=entry.bin_dir if entry else "",
        parts=tuple(part.path for part in parts),
    )
