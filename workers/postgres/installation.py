"""PostgreSQL installations on an agent: found, asked for their version, and tried for what they really have."""

from __future__ import annotations

import asyncio
import logging
import re
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

from results.domain.environment.layers import Layer, LayerKind
from results.domain.errors import CommandError, ParseError
from results.domain.kinds import server_settings
from results.domain.matrix import InstallationRef
from workers.remote.connection import Remote

log = logging.getLogger(__name__)
_HERE = Path(__file__).parent
_FIND = (_HERE / "installation.sh").read_text()
_PROBE = (_HERE / "installation_probe.sh").read_text()
_OF_SERVER = ("initdb", "pg_ctl")
_AT_ONCE = 2
_VERSION = re.compile(r"\)\s+(\d+(?:\.\d+)*)((?:devel|alpha|beta|rc)\d*)?")


@dataclass(frozen=True)
class Installation:
    """One PostgreSQL build. name: as in plans, unique on its agent. version: as it says itself ('16.9', '12beta1').
    version_num: 160009, 120000. access_methods: table access methods. client_bin: where psql and pgbench are, its own
    or the newest installation's; '' when the agent has none. settings: lines for `kinds.server_settings.read`."""

    name: str
    bin_dir: str
    client_bin: str
    version: str
    version_num: int
    full_version: str = ""
    configure: tuple[str, ...] = ()
    access_methods: tuple[str, ...] = ()
    extensions: tuple[str, ...] = ()
    has_jit: bool = False
    settings: tuple[str, ...] = ()

    @property
    def ref(self) -> InstallationRef:
        return InstallationRef(self.name, self.bin_dir, self.client_bin, self.version, self.version_num)

    @property
    def layer(self) -> Layer:
        """The BUILD layer: what distinguishes builds, without where they are."""
        return Layer(
            LayerKind.BUILD,
            {
                "version": self.version,
                "full_version": self.full_version,
                "configure": list(self.configure),
                "access_methods": list(self.access_methods),
                "jit": self.has_jit,
            },
        )


@dataclass(frozen=True)
class Unusable:
    """A PostgreSQL that was found and cannot be used, and why."""

    bin_dir: str
    reason: str


@dataclass(frozen=True)
class Found:
    """A bin directory as it was found. version: what `postgres -V` says."""

    bin_dir: str
    version: str = ""
    broken: str = ""
    configure: str = ""
    programs: frozenset[str] = field(default_factory=frozenset)


async def discover_installations(remote: Remote, client_programs: Collection[str]) -> list[Installation]:
    """Every usable installation below the agent's search places and the usual ones, by version then path.
    client_programs: those of PostgreSQL's that clients need besides psql. Raises AgentError."""
    return (await discover(remote, client_programs))[0]


async def discover(remote: Remote, client_programs: Collection[str]) -> tuple[list[Installation], list[Unusable]]:
    """As `discover_installations`, and what was found but cannot be used. Raises AgentError."""
    of_client = {"psql", *client_programs}
    listing = await remote.script(_FIND, " ".join([*_OF_SERVER, *of_client]), *remote.address.search, timeout_s=120)
    found = parse_found(listing.stdout)
    unusable = [Unusable(item.bin_dir, reason) for item in found if (reason := _fault(item))]
    candidates = _named([item for item in found if not _fault(item)], of_client)
    turn = asyncio.Semaphore(_AT_ONCE)
    tried = await asyncio.gather(*(_probe(remote, candidate, turn) for candidate in candidates))
    return (
        [outcome for outcome in tried if isinstance(outcome, Installation)],
        unusable + [outcome for outcome in tried if isinstance(outcome, Unusable)],
    )


def parse_found(text: str) -> list[Found]:
    """The output of installation.sh. Raises ParseError."""
    found: list[Found] = []
    for number, line in enumerate(text.splitlines(), 1):
        key, _, rest = line.partition(" ")
        if key == "bin":
            found.append(Found(rest))
            continue
        known = _with_line(found[-1], key, rest) if found else None
        if known is None:
            raise ParseError("Not a line about an installation.", file="installation.sh", line=number, text=line)
        found[-1] = known
    return found


def _with_line(known: Found, key: str, rest: str) -> Found | None:
    """What is known of a bin directory with one more line of it; None where the line is none. What a broken one prints
    besides is passed over."""
    match key:
        case "version":
            return replace(known, version=rest)
        case "broken":
            return replace(known, broken=rest or "postgres -V fails")
        case "configure":
            return replace(known, configure=rest)
        case "has":
            return replace(known, programs=known.programs | {rest})
    return known if known.broken else None


def parse_version(text: str) -> tuple[str, int]:
    """What `postgres -V` says → version text and number: 'postgres (PostgreSQL) 16.9 (Debian …)' → ('16.9', 160009);
    '12beta1' → 120000; '9.6.24' → 90624. Raises ParseError."""
    match = _VERSION.search(text)
    if match is None:
        raise ParseError("This is not a PostgreSQL version.", file="postgres -V", line=1, text=text)
    numbers = [int(part) for part in match[1].split(".")] + [0, 0]
    if numbers[0] >= 10:
        return match[1] + (match[2] or ""), numbers[0] * 10000 + numbers[1]
    return match[1] + (match[2] or ""), numbers[0] * 10000 + numbers[1] * 100 + numbers[2]


def distinct_names(versions: Sequence[tuple[str, str]]) -> list[str]:
    """(version, bin directory) → a name for each: the version, with the end of the path where several share it."""
    names = []
    for version, bin_dir in versions:
        rivals = [path for other, path in versions if other == version and path != bin_dir]
        names.append(f"{version}-{_path_end(bin_dir, rivals)}" if rivals else version)
    return names


def _path_end(path: str, rivals: Iterable[str]) -> str:
    parts = _parts(path)
    for length in range(1, len(parts)):
        end = parts[-length:]
        if all(_parts(rival)[-length:] != end for rival in rivals):
            return "-".join(end)
    return "-".join(parts)


def _parts(path: str) -> list[str]:
    parts = path.strip("/").split("/")
    return parts[:-1] if parts[-1] == "bin" and len(parts) > 1 else parts


def _fault(found: Found) -> str:
    if found.broken:
        return found.broken
    missing = sorted({*_OF_SERVER} - found.programs)
    if missing:
        return f"{' and '.join(missing)} missing"
    return "" if _VERSION.search(found.version) else f"unknown version: {found.version}"


def _named(found: list[Found], of_client: set[str]) -> list[Installation]:
    versions = [parse_version(item.version) for item in found]
    names = distinct_names([(v, item.bin_dir) for (v, _), item in zip(versions, found, strict=True)])
    clients = [
        (number, item.bin_dir) for (_, number), item in zip(versions, found, strict=True) if of_client <= item.programs
    ]
    newest = max(clients, default=(0, ""))[1]
    own = {path for _, path in clients}
    installations = [
        Installation(
            name=name,
            bin_dir=item.bin_dir,
            client_bin=item.bin_dir if item.bin_dir in own else newest,
            version=version,
            version_num=number,
            full_version=item.version,
            configure=tuple(re.findall(r"'((?:[^']|'\\'')*)'", item.configure)),
        )
        for name, (version, number), item in zip(names, versions, found, strict=True)
    ]
    return sorted(installations, key=lambda i: (i.version_num, i.bin_dir))


async def _probe(remote: Remote, candidate: Installation, turn: asyncio.Semaphore) -> Installation | Unusable:
    words = (candidate.bin_dir, str(candidate.version_num), f"{remote.address.work_dir}/probes")
    async with turn:
        try:
            answer = await remote.script(_PROBE, *words, timeout_s=180)
        except CommandError as error:
            return Unusable(candidate.bin_dir, error.why or error.what)
    said: dict[str, list[str]] = {"am": [], "extension": [], "jit": [], "setting": []}
    for line in answer.stdout.splitlines():
        key, _, value = line.partition(" ")
        said.setdefault(key, []).append(value)
    return replace(
        candidate,
        access_methods=tuple(sorted(said["am"])) or ("heap",),
        extensions=tuple(sorted(said["extension"])),
        has_jit=said["jit"] == ["true"],
        settings=_readable(said["setting"], candidate),
    )


def _readable(lines: Sequence[str], candidate: Installation) -> tuple[str, ...]:
    """The lines, or none: what a build says in a way of its own is not known, and the build is used all the same."""
    try:
        server_settings.read(lines)
    except ParseError as error:
        log.warning("settings of %s: %s", candidate.bin_dir, error)
        return ()
    return tuple(lines)
