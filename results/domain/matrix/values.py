"""One configuration, resolved: all that is needed to run a trial of it, as values."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from typing import Any

from results.domain.dataclass_json import ShapeError, from_json
from results.domain.environment.values import major_of
from results.domain.kinds.parameters import Scalar
from results.domain.kinds.specs import role_of
from results.domain.secrets import masked_spec


@dataclass(frozen=True)
class InstallationRef:
    """One PostgreSQL build on an agent.

    name: as shown and as in plans.
    client_bin: where psql and pgbench are."""

    name: str
    bin_dir: str
    client_bin: str
    version: str
    version_num: int


@dataclass(frozen=True)
class Load:
    """One set of clients: on the agent of the role client, at the server of a node.

    name: the node that its numbers are filed under.
    clients, threads: its own, 0 = as the parameters say.
    workload: as of `Target`."""

    name: str
    client: str
    server: str
    clients: int = 0
    threads: int = 0
    workload: bool = True


_OF_SEVERAL = (
    "loads",
    "installations",
    "client_bins",
    "poolers",
    "services",
    "outside",
)  # written only where they say more
_USUAL = {"patience": 1, "own_client": False}  # written only where they are otherwise
ONE_LOAD = (Load("client", "client", "primary"),)


@dataclass(frozen=True)
class TrialSpec:
    """One configuration, resolved: all that is needed to run a trial of it. JSON-ready both ways.

    parameters: complete (defaults filled in).
    agents: client, further clients (`client2`), then every server by its node → agent name.
    threads: pgbench threads, at least 1.
    access_method: '' = the server's default.
    initdb: extra initdb options.
    client_bin: where psql and pgbench are on the client's agent.
    loads: who drives which server; empty is `ONE_LOAD`.
    installations, client_bins: of nodes and clients on whose agents they lie elsewhere.
    poolers: nodes that are no PostgreSQL, but pass load on.
    services: nodes that are neither.
    outside: nodes on machines that are no agents: theirs in `agents` is the one that they are asked from.
    host: host factor → level.
    patience: factor of every deadline.
    own_client: the plan means each installation to be measured with its own psql and pgbench."""

    workload: str
    parameters: Mapping[str, Scalar]
    topology: str
    topology_parameters: Mapping[str, Scalar]
    installation: InstallationRef
    agents: Mapping[str, str]
    settings: Mapping[str, str]
    access_method: str = ""
    initdb: tuple[str, ...] = ()
    data: str = "reuse"
    cache: str = "prewarm"
    warmup_s: float = 0
    duration_s: float = 60
    threads: int = 1
    collectors: tuple[str, ...] = ()
    required_collectors: tuple[str, ...] = ()
    client_bin: str = ""  # psql and pgbench on the client's agent
    loads: tuple[Load, ...] = ()
    installations: Mapping[str, InstallationRef] = field(default_factory=dict)
    client_bins: Mapping[str, str] = field(default_factory=dict)
    poolers: tuple[str, ...] = ()
    services: tuple[str, ...] = ()
    outside: tuple[str, ...] = ()
    host: Mapping[str, str] = field(default_factory=dict)
    patience: float = 1
    own_client: bool = False

    @property
    def nodes(self) -> tuple[str, ...]:
        """Every server, pooler and service, in the topology's order: the primary first."""
        return tuple(role for role in self.agents if not is_client(role))

    @property
    def servers(self) -> tuple[str, ...]:
        """Every PostgreSQL, the primary first."""
        return tuple(node for node in self.nodes if node not in self.beside)

    @property
    def beside(self) -> tuple[str, ...]:
        """Every node that is no PostgreSQL."""
        return (*self.poolers, *self.services)

    @property
    def clients(self) -> tuple[str, ...]:
        """Every role that drives load: `client` first."""
        return tuple(role for role in self.agents if is_client(role))

    def installation_of(self, node: str) -> InstallationRef:
        return self.installations.get(node, self.installation)

    def client_bin_of(self, client: str) -> str:
        """Where psql and pgbench are on the agent of this client."""
        return self.client_bins.get(client) or self.client_bin or self.installation.client_bin

    def to_json(self) -> dict[str, Any]:
        """Without what only topologies of several servers have. order: of the agents' roles, which jsonb loses."""
        fields = {k: v for k, v in asdict(self).items() if (v or k not in _OF_SEVERAL) and _USUAL.get(k) != v}
        return fields | ({"order": list(self.agents)} if len(self.agents) > 2 else {})

    @classmethod
    def from_json(cls, value: Mapping[str, Any]) -> TrialSpec:
        order = value.get("order", value["agents"])
        value = {k: v for k, v in value.items() if k != "order"}
        value["agents"] = {role: value["agents"][role] for role in order}
        tuples = ("initdb", "collectors", "required_collectors", "poolers", "services", "outside")
        fields: dict[str, Any] = {k: tuple(v) if k in tuples else v for k, v in value.items()}
        elsewhere = {node: InstallationRef(**ref) for node, ref in value.get("installations", {}).items()}
        fields |= {"loads": tuple(Load(**load) for load in value.get("loads", ())), "installations": elsewhere}
        return cls(**fields | {"installation": InstallationRef(**value["installation"])})

    @classmethod
    def checked(cls, value: Mapping[str, Any]) -> TrialSpec:
        """Read what somebody else wrote. Raises ShapeError for the first field that is missing or has another type."""
        try:
            spec = cls.from_json(value)
        except (TypeError, KeyError, AttributeError, ValueError) as error:
            raise ShapeError("", f"{type(error).__name__}: {error}") from error
        from_json(cls, asdict(spec))
        return spec

    def without_secrets(self) -> TrialSpec:
        """As a bundle's manifest holds it; of that it is the same again. So what is compared with a bundle is this."""
        return TrialSpec.from_json(masked_spec(self.to_json()))


def is_client(role: str) -> bool:
    return role_of(role) == "client"


def dimensions(spec: TrialSpec) -> dict[str, Scalar]:
    """Everything by which trials are told apart and chosen, flat. `version` is the exact one, `major` '9.6', '16'."""
    roles = {f"agent.{role}": agent for role, agent in spec.agents.items()}
    return {
        "workload": spec.workload,
        "topology": spec.topology,
        "nodes": len(spec.servers),
        "installation": spec.installation.name,
        "version": spec.installation.version,
        "major": major_of(spec.installation.version_num, spec.installation.version),
        "access_method": spec.access_method or "heap",
        "data": spec.data,
        "cache": spec.cache,
        "threads": spec.threads,
        "duration_s": spec.duration_s,
        "warmup_s": spec.warmup_s,
        "initdb": " ".join(spec.initdb),
        "collectors": ", ".join(sorted(spec.collectors)),
        **roles,
        **spec.parameters,
        **{f"topology.{name}": value for name, value in spec.topology_parameters.items()},
        **{f"setting.{name}": value for name, value in spec.settings.items()},
        **{f"host.{name}": level for name, level in spec.host.items()},
    }
