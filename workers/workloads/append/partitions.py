"""How many partitions a trial needs, and the script of a transaction. Pure."""

from __future__ import annotations

import math
from collections.abc import Mapping
from pathlib import Path

from results.domain.errors import VerifyError
from results.domain.kinds.parameters import Scalar
from results.domain.kinds.specs import timed_limit_s
from results.domain.messages import gettext_lazy as _

from .spec import TOGETHER

_HERE = Path(__file__).parent
_DRAW, _ROW, _TOGETHER = ((_HERE / f"{name}.sql").read_text() for name in ("draw", "row", "together"))
MARGIN_S = 600.0  # for whatever lies between making the partitions and the run's end
MOST = 10_000  # each new partition costs the server more than the one before


def seconds_ahead(parameters: Mapping[str, Scalar], warmup_s: float, duration_s: float, patience: float = 1.0) -> int:
    """How far ahead partitions are made: beyond the deadline of the run. Raises VerifyError when that takes more of
    them than a server can bear."""
    seconds = math.ceil(warmup_s + timed_limit_s(duration_s, patience) + MARGIN_S)
    step_s = int(parameters["partition_s"])
    if (count := math.ceil(seconds / step_s)) > MOST:
        raise VerifyError(
            _("{count:,} partitions are more than the {most:,} that are made.", count=count, most=MOST),
            where="parameters.partition_s",
            why=_("Partitions of {length} s are to reach {seconds:,} s ahead.", length=step_s, seconds=seconds),
            todo=_("Choose longer partitions or a shorter duration."),
        )
    return seconds


def script(parameters: Mapping[str, Scalar]) -> str:
    """A transaction as pgbench takes it; `:rows` is how many rows it inserts."""
    if parameters["inserts"] == TOGETHER:
        return _DRAW + _TOGETHER
    return f"{_DRAW}BEGIN;\n{_ROW * int(parameters['rows_per_transaction'])}COMMIT;\n"
