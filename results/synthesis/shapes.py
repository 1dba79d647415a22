"""The plans of a made-up warehouse, and what its machines looked like over the years. Pure."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from results.domain.environment.layers import Layer, LayerKind

# one after the other; each is what the agents had installed: major version → minor release
ERAS: tuple[Mapping[int, int], ...] = (
    {14: 17, 15: 12, 16: 8, 17: 4},
    {15: 14, 16: 10, 17: 6, 18: 0},
    {15: 16, 16: 12, 17: 8, 18: 2},
)
KERNELS = ("6.1.0-31-amd64", "6.1.0-40-amd64", "6.12.48-amd64")  # of each era
ACCESS_METHODS = ("heap", "zheap")


@dataclass(frozen=True)
class Shape:
    """What a plan measures.

    installations: how many of the newest majors it compares
    factors: further factors, name → levels
    """

    workload: str
    installations: int
    blocks: int
    factors: Mapping[str, list[Any]]
    parameters: Mapping[str, Any]
    topology: str = "single"

    def mapping(self, name: str, agent: str, majors: list[int]) -> dict[str, Any]:
        """The plan as its TOML's structure."""
        roles = ("primary",) if self.topology == "single" else ("primary", "standby")
        return {
            "name": name,
            "workload": self.workload,
            "topology": self.topology,
            "replicates": self.blocks,
            "seed": 7,
            "standing": "kept",
            "duration_s": 60,
            "agents": dict.fromkeys((*roles, "client"), agent),
            "parameters": dict(self.parameters),
            "factors": {"installation": [str(major) for major in majors[-self.installations :]], **self.factors},
        }


CLIENTS = [1, 4, 16, 64, 128]
SHAPES: tuple[Shape, ...] = (
    Shape("pgbench", 1, 20, {"clients": CLIENTS}, {"scale": 100}),
    Shape("pgbench", 4, 5, {"clients": CLIENTS}, {"scale": 100}),
    Shape("ssb", 4, 25, {}, {"scale_factor": 10}),
    Shape("tpcc", 4, 5, {"clients": CLIENTS}, {"warehouses": 100}),
    Shape("capabilities", 4, 12, {"access_method": list(ACCESS_METHODS)}, {}),
    Shape("access_method", 4, 12, {"access_method": list(ACCESS_METHODS)}, {}),
    Shape("pgbench", 2, 10, {"setting.shared_buffers": ["128MB", "1GB", "4GB", "8GB", "16GB"]}, {"scale": 100}),
    Shape("read_scaleup", 4, 5, {"clients": CLIENTS}, {}),
    Shape("pgbench", 4, 5, {"clients": CLIENTS}, {"scale": 100}, topology="streaming"),
)


def layers(era: int, version: str, dimensions: Mapping[str, Any]) -> Iterator[tuple[str, Layer]]:
    """Yield role and content of what a trial ran in."""
    settings = {
        name.removeprefix("setting."): value for name, value in dimensions.items() if name.startswith("setting.")
    }
    hardware = {"cpu": {"model": "made-up processor", "cores": 32, "online": 32, "usable": 32}, "memory_bytes": 2**37}
    for node in ("primary", "client"):
        yield node, Layer(LayerKind.HARDWARE, hardware)
        yield node, Layer(LayerKind.KERNEL, {"release": KERNELS[era], "sysctl": {"vm.swappiness": "1"}})
    build = {"version": version, "full_version": f"PostgreSQL {version} on x86_64-pc-linux-gnu, compiled by gcc"}
    yield "primary", Layer(LayerKind.BUILD, build)
    yield "primary", Layer(LayerKind.SETTINGS, {"max_wal_size": "64GB", **settings})
    yield "primary", Layer(LayerKind.ACCESS_METHOD, {"name": str(dimensions.get("access_method", "heap"))})
    yield "primary", Layer(LayerKind.STORAGE, {"filesystem": "xfs", "device": "nvme0n1"})
    yield "client", Layer(LayerKind.CLIENT, {"pgbench": version})
