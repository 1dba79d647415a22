"""What pgbench and the server must be able to do. Pure."""

from __future__ import annotations

from collections.abc import Mapping

from results.domain.kinds.parameters import Scalar
from workers.pgbench import parameters as pgbench_parameters
from workers.pgbench.version import FIRST_WITH_ACCESS_METHODS, FIRST_WITH_DETAILED_FAILURES, require

from .spec import READ_COMMITTED

_FIRST_WITH_EXPRESSIONS = 110000
_FIRST_WITH_MANY_VARIABLES = 120000


def check_version(parameters: Mapping[str, Scalar], access_method: str, client: int, server: int) -> None:
    """Raises VerifyError that names the plan's field and the version when pgbench (client) or the server (both as
    version numbers) lacks what is asked for."""
    require("workload", "pgbench", client, _FIRST_WITH_EXPRESSIONS)
    pgbench_parameters.check_version(parameters, client)
    if access_method not in ("", "heap"):
        require("access_method", "PostgreSQL", server, FIRST_WITH_ACCESS_METHODS)
    if parameters["isolation"] != READ_COMMITTED:  # before, a client gives up at its first serialization failure
        require("parameters.isolation", "pgbench", client, FIRST_WITH_DETAILED_FAILURES)
    if parameters["protocol"] != "simple":  # before, a statement has at most nine variables
        require("parameters.protocol", "pgbench", client, _FIRST_WITH_MANY_VARIABLES)
