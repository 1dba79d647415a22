"""Find the PostgreSQL installations on an agent, and probe each for the extensions and access methods that it has."""

from __future__ import annotations

import asyncio
import logging
import re
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

from results.domain.environment.layers import Layer, LayerKind
from results.domain.errors import AgentError, CommandError, ParseError
from results.domain.kinds import server_settings
from results.domain.matrix import InstallationRef
from results.domain.messages import AND, linked
from results.domain.messages import gettext_lazy as _
from workers.remote.connection import Remote
from workers.remote.limits import INSTALLATIONS, LISTING_BYTES

log = logging.getLogger(__name__)
_HERE = Path(__file__).parent
_FIND = (_HERE / "installation.sh").read_text()
_PROBE = (_HERE / "installation_probe.sh").read_text()
_SERVER_PROGRAMS = ("initdb", "pg_ctl")
_PARALLEL_PROBES = 2
_VERSION = re.compile(r"\)\s+(\d+(?:\.\d+)*)((?:devel|alpha|beta|rc)\d*)?")


@dataclass(frozen=True)
class Installation:
    """One PostgreSQL build.

    name: as in plans, unique on its agent
    client_bin: folder of psql and pgbench, its own or the newest installation's; '' where the agent has none
    version: as the build reports it ('16.9', '12beta1')
    version_num: 160009, 120000
    full_version: output of `postgres -V`
    configure: options that it was built with
    access_methods: of tables
    settings: lines for `kinds.server_settings.read`
    """

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
        """The BUILD layer: what distinguishes builds, without their paths."""
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
    """An installation that cannot be used, and why."""

    bin_dir: str
    reason: str


@dataclass(frozen=True)
class BinDirectory:
    """A bin directory of PostgreSQL, as installation.sh lists it.

    version: output of `postgres -V`
    broken: why its programs do not run; '' where they do
    configure: output of `pg_config --configure`
    programs: names of those that are there
    """

    bin_dir: str
    version: str = ""
    broken: str = ""
    configure: str = ""
    programs: frozenset[str] = field(default_factory=frozenset)


async def discover_installations(remote: Remote, client_programs: Collection[str]) -> list[Installation]:
    """Return every usable installation in the agent's search folders and the usual ones, by version, then path.

    Raises AgentError.

    client_programs: PostgreSQL programs that clients need besides psql
    """
    return (await discover(remote, client_programs))[0]


async def discover(remote: Remote, client_programs: Collection[str]) -> tuple[list[Installation], list[Unusable]]:
    """Return the same as `discover_installations`, and the installations that cannot be used. Raises AgentError."""
    client_needs = {"psql", *client_programs}
    listing = await remote.script(
        _FIND,
        " ".join([*_SERVER_PROGRAMS, *client_needs]),
        *remote.address.search,
        timeout_s=120,
        limit_bytes=LISTING_BYTES,
    )
    directories = parse_listing(listing.stdout)
    if len(directories) > INSTALLATIONS:
        raise AgentError(
            _("There are {number} PostgreSQL installations on the agent.", number=len(directories)),
            where=remote.address.place,
            why=_("Teiten looks at {number} at most.", number=INSTALLATIONS),
            todo=_("Name fewer folders in which to look for PostgreSQL."),
        )
    unusable: list[Unusable] = []
    usable: list[BinDirectory] = []
    for directory in directories:
        reason = _reason_unusable(directory)
        if reason:
            unusable.append(Unusable(directory.bin_dir, reason))
        else:
            usable.append(directory)
    candidates = _with_names(usable, client_needs)
    semaphore = asyncio.Semaphore(_PARALLEL_PROBES)
    outcomes = await asyncio.gather(*(_probe(remote, candidate, semaphore) for candidate in candidates))
    return (
        [outcome for outcome in outcomes if isinstance(outcome, Installation)],
        unusable + [outcome for outcome in outcomes if isinstance(outcome, Unusable)],
    )


def parse_listing(text: str) -> list[BinDirectory]:
    """Parse the output of installation.sh. Raises ParseError."""
    directories: list[BinDirectory] = []
    for number, line in enumerate(text.splitlines(), 1):
        key, _space, rest = line.partition(" ")
        if key == "bin":
            directories.append(BinDirectory(rest))
            continue
        directory = _add_line(directories[-1], key, rest) if directories else None
        if directory is None:
            raise ParseError(_("Not a line about an installation."), file="installation.sh", line=number, text=line)
        directories[-1] = directory
    return directories


def _add_line(directory: BinDirectory, key: str, rest: str) -> BinDirectory | None:
    """Return the bin directory with the facts of one more line; None where the line is none of the script's.

    Other lines of a broken installation are its programs' error messages, and are ignored.
    """
    match key:
        case "version":
            return replace(directory, version=rest)
        case "broken":
            return replace(directory, broken=rest or _("postgres -V fails"))
        case "configure":
            return replace(directory, configure=rest)
        case "has":
            return replace(directory, programs=directory.programs | {rest})
    return directory if directory.broken else None


def parse_version(text: str) -> tuple[str, int]:
    """Return version and number of the output of `postgres -V`. Raises ParseError.

    'postgres (PostgreSQL) 16.9 (Debian …)' → ('16.9', 160009); '12beta1' → 120000; '9.6.24' → 90624
    """
    match = _VERSION.search(text)
    if match is None:
        raise ParseError(_("This is not a PostgreSQL version."), file="postgres -V", line=1, text=text)
    parts = [int(part) for part in match[1].split(".")] + [0, 0]
    if parts[0] >= 10:
        return match[1] + (match[2] or ""), parts[0] * 10000 + parts[1]
    return match[1] + (match[2] or ""), parts[0] * 10000 + parts[1] * 100 + parts[2]


def distinct_names(versions: Sequence[tuple[str, str]]) -> list[str]:
    """Return a name for each (version, bin directory): the version, and the end of the path where several share it."""
    names = []
    for version, bin_dir in versions:
        other_paths = [path for other, path in versions if other == version and path != bin_dir]
        names.append(f"{version}-{_path_end(bin_dir, other_paths)}" if other_paths else version)
    return names


def _path_end(path: str, other_paths: Iterable[str]) -> str:
    parts = _parts(path)
    for length in range(1, len(parts)):
        end = parts[-length:]
        if all(_parts(other_path)[-length:] != end for other_path in other_paths):
            return "-".join(end)
    return "-".join(parts)


def _parts(path: str) -> list[str]:
    parts = path.strip("/").split("/")
    return parts[:-1] if parts[-1] == "bin" and len(parts) > 1 else parts


def _reason_unusable(directory: BinDirectory) -> str:
    if directory.broken:
        return directory.broken
    missing = sorted({*_SERVER_PROGRAMS} - directory.programs)
    if missing:
        programs = linked(AND, missing)
        return _("{programs} missing", programs=programs)
    return "" if _VERSION.search(directory.version) else _("unknown version: {version}", version=directory.version)


def _with_names(directories: list[BinDirectory], client_needs: set[str]) -> list[Installation]:
    versions = [parse_version(item.version) for item in directories]
    names = distinct_names([(v, item.bin_dir) for (v, _number), item in zip(versions, directories, strict=True)])
    clients = [
        (number, item.bin_dir)
        for (_version, number), item in zip(versions, directories, strict=True)
        if client_needs <= item.programs
    ]
    newest = max(clients, default=(0, ""))[1]
    client_dirs = {path for _number, path in clients}
    installations = [
        Installation(
            name=name,
            bin_dir=item.bin_dir,
            client_bin=item.bin_dir if item.bin_dir in client_dirs else newest,
            version=version,
            version_num=number,
            full_version=item.version,
            configure=tuple(re.findall(r"'((?:[^']|'\\'')*)'", item.configure)),
        )
        for name, (version, number), item in zip(names, versions, directories, strict=True)
    ]
    return sorted(installations, key=lambda i: (i.version_num, i.bin_dir))


async def _probe(remote: Remote, candidate: Installation, semaphore: asyncio.Semaphore) -> Installation | Unusable:
    words = (candidate.bin_dir, str(candidate.version_num), f"{remote.address.work_dir}/probes")
    async with semaphore:
        try:
            answer = await remote.script(_PROBE, *words, timeout_s=180, limit_bytes=LISTING_BYTES)
        except CommandError as error:
            return Unusable(candidate.bin_dir, error.why or error.what)
    facts: dict[str, list[str]] = {"am": [], "extension": [], "jit": [], "setting": []}
    for line in answer.stdout.splitlines():
        key, _space, value = line.partition(" ")
        facts.setdefault(key, []).append(value)
    return replace(
        candidate,
        access_methods=tuple(sorted(facts["am"])) or ("heap",),
        extensions=tuple(sorted(facts["extension"])),
        has_jit=facts["jit"] == ["true"],
        settings=_settings_if_readable(facts["setting"], candidate),
    )


def _settings_if_readable(lines: Sequence[str], candidate: Installation) -> tuple[str, ...]:
    """Return the lines, or none where they cannot be parsed: the build can be used without them."""
    try:
        server_settings.read(lines)
    except ParseError as error:
        log.warning("settings of %s: %s", candidate.bin_dir, error)
        return ()
    return tuple(lines)
