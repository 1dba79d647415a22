"""What a parameter is called in Japanese."""

from __future__ import annotations

from pathlib import Path

from results.domain.kinds.conditions import CONDITIONS, TEXTS
from results.domain.kinds.parameter_names import DIMENSIONS
from webapp import catalogues
from workers.registry import kinds

ROOT = Path(__file__).parents[2]
UNCHANGED = {  # as PostgreSQL, postgres_fdw, libpq and pgpool-II call them
    "async_capable",
    "batch_size",
    "failover_on_backend_error",
    "fetch_size",
    "fillfactor",
    "health_check_max_retries",
    "health_check_period",
    "health_check_retry_delay",
    "health_check_timeout",
    "num_init_children",
    "sslmode",
    "use_remote_estimate",
    "vacuum",
}


def test_every_parameter_of_a_plan_has_a_name_in_japanese() -> None:
    specs = kinds()
    declared = [TEXTS, CONDITIONS]
    declared += [spec.parameters for spec in specs.workloads.values()]
    declared += [spec.parameters for spec in specs.topologies.values()]
    names = {parameter.name for parameters in declared for parameter in parameters}.union(DIMENSIONS)
    japanese = catalogues.merged(catalogues.sources("ja", ROOT, [ROOT / "workers"]), "ja")
    assert {name for name in names if japanese.get(name, "parameter") is None} == UNCHANGED
