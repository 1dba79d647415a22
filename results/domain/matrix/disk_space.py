"""How much disk the data of a plan takes, agent by agent and place by place. Pure."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from results.domain.kinds.host_factors import DATA, PLACED, TABLESPACE, WAL, KnownHost
from results.domain.kinds.specs import role_of
from results.domain.matrix import TrialSpec
from results.domain.plan import Kinds
from results.domain.units import parse_bytes

_MAX_WAL_BYTES = 2**30  # PostgreSQL's own max_wal_size
Where = tuple[str, str]


@dataclass(frozen=True)
class Need:
    """Disk space that a plan needs in one place of an agent.

    place: the name of a storage place of the agent, '' = its data directory."""

    agent: str
    place: str
    size_bytes: int


@dataclass(frozen=True)
class _Piece:
    """Something that lies in a place as long as nobody drops it: `of` tells it from others there."""

    where: Where
    of: tuple[object, ...]
    size_bytes: int


def needs(
    specs: Sequence[TrialSpec], sizes: Sequence[int], kinds: Kinds, known: Mapping[str, KnownHost]
) -> tuple[Need, ...]:
    """What trials of these specs take at most at one time, the largest first.

    Each server has a copy; those among which data are shared out have their part (`TopologySpec.shares`). Reused and
    template data stay, one copy for each cluster and data. A copy or a load needs one more. WAL takes as much as the
    data, up to max_wal_size. Servers outside take nothing of an agent's.

    sizes: of each spec's data.
    known: agent → what it allows, of the agents on which host factors are set."""
    kept: dict[tuple[Where, tuple[object, ...]], int] = {}
    more: Counter[Where] = Counter()
    for spec, size in zip(specs, sizes, strict=True):
        now: Counter[Where] = Counter()
        for piece in (*_data(spec, size, kinds, known), *_wal(spec, size, kinds, known)):
            stays = spec.data != "fresh" or piece.of[0] == WAL
            if stays:
                kept[piece.where, piece.of] = max(kept.get((piece.where, piece.of), 0), piece.size_bytes)
            if spec.data != "reuse" and piece.of[0] != WAL:
                now[piece.where] += piece.size_bytes
        more |= now
    bytes_at: dict[Where, int] = defaultdict(int, more)
    for (where, _), size in kept.items():
        bytes_at[where] += size
    ordered = sorted(bytes_at.items(), key=lambda one: (-one[1], one[0]))
    return tuple(Need(agent, place, size) for (agent, place), size in ordered)


def _data(spec: TrialSpec, size: int, kinds: Kinds, known: Mapping[str, KnownHost]) -> Iterator[_Piece]:
    workload, topology = kinds.workloads[spec.workload], kinds.topologies[spec.topology]
    keys = workload.data_key(spec.parameters) | topology.data_key(spec.topology_parameters)
    storage = spec.host.get(TABLESPACE) or spec.host.get(DATA, "")
    for node, size_bytes in _shares(spec, size, kinds):
        of = (DATA, *_cluster(spec, node, known), spec.access_method, *sorted(keys.items()))
        yield _Piece((spec.agents[node], storage), of, size_bytes)


def _wal(spec: TrialSpec, size: int, kinds: Kinds, known: Mapping[str, KnownHost]) -> Iterator[_Piece]:
    storage = spec.host.get(WAL) or spec.host.get(DATA, "")
    for node, size_bytes in _shares(spec, size, kinds):
        of = (WAL, *_cluster(spec, node, known))
        yield _Piece(
            (spec.agents[node], storage), of, min(size_bytes, _max_wal_bytes(spec.settings.get("max_wal_size", "")))
        )


def _shares(spec: TrialSpec, size: int, kinds: Kinds) -> Iterator[tuple[str, int]]:
    """Each server of Teiten's, and how much of the data it has."""
    parts = Counter(role_of(node) for node in spec.servers)
    for node in spec.servers:
        if node not in spec.outside:
            role = role_of(node)
            yield node, size // parts[role] if role in kinds.topologies[spec.topology].shares else size


def _cluster(spec: TrialSpec, node: str, known: Mapping[str, KnownHost]) -> tuple[object, ...]:
    """What tells the clusters of one agent apart."""
    factors = known.get(spec.agents[node], KnownHost()).factors
    apart = [name for name in spec.host if name in PLACED or (name in factors and factors[name].keeps_data_apart)]
    return (node, spec.installation.name, spec.topology, *((name, spec.host[name]) for name in sorted(apart)))


def _max_wal_bytes(setting: str) -> int:
    """Without a unit it is in MB. What is no size is PostgreSQL's to refuse."""
    try:
        return int(parse_bytes(f"{setting}MB" if setting.strip().isdecimal() else setting))
    except ValueError:
        return _MAX_WAL_BYTES
