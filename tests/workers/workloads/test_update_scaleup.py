"""What the update scale-up declares."""

from __future__ import annotations

from pathlib import Path

import pytest

from results.domain.kinds.parameters import Scalar
from workers.workloads import update_scaleup
from workers.workloads.update_scaleup.spec import SPEC

DEFAULTS: dict[str, Scalar] = {parameter.name: parameter.default for parameter in SPEC.parameters}


def test_the_fill_factor_is_80_and_decides_the_data_and_its_size() -> None:
    assert SPEC.data_key(DEFAULTS) == {"scale": 1, "fillfactor": 80}
    assert SPEC.disk_bytes({**DEFAULTS, "fillfactor": 40}) == 2 * SPEC.disk_bytes(DEFAULTS)


@pytest.mark.parametrize(("name", "value"), [("scale", 0), ("clients", 0), ("fillfactor", 9), ("fillfactor", 101)])
def test_a_parameter_out_of_its_limits_is_refused(name: str, value: Scalar) -> None:
    parameter = next(parameter for parameter in SPEC.parameters if parameter.name == name)
    with pytest.raises(ValueError, match=str(value)):
        parameter.check(value)


def test_every_parameter_and_metric_is_in_the_readme() -> None:
    text = (Path(update_scaleup.__file__).parent / "README.md").read_text()
    names = [*(p.name for p in SPEC.parameters), *(m.name for m in SPEC.metrics)]
    assert [name for name in names if f"| `{name}` |" not in text] == []
