"""Several loads of one trial: the numbers of each, and of all together."""

from __future__ import annotations

import json
import math
from pathlib import Path

import pytest

from results.domain.errors import ParseError
from results.domain.kinds.specs import Reading
from results.domain.measurement.parsed_trial import Part
from workers.pgbench.parse import run_part

DATA = Path(__file__).parents[2] / "data" / "pgbench"


def files(case: str, version: str, began: str = "100.000000") -> dict[str, str]:
    folder = DATA / version
    status = (folder / f"{case}.command").read_text().split("exit status ")[1]
    return {n: (folder / f"{case}.{n}").read_text() for n in ("stdout", "stderr")} | {"exit": status, "began": began}


def parsed(loads: dict[str, dict[str, str]], beside: tuple[str, ...] = ()) -> Part:
    listed = [{"name": name, "workload": name not in beside} for name in loads]
    whole = {"loads.json": json.dumps(listed)}
    for name, content in loads.items():
        whole |= {f"{name}/{path}": text for path, text in content.items()}
    return run_part(Reading("client", whole, {}, (100.0, 103.0)), [])


def values(part: Part, node: str) -> dict[tuple[str, str], float]:
    return {(m.metric, m.label): m.value for m in part.measurements if m.node == node}


CASE = "tpcb-progress-per-statement"


def test_rates_and_counts_are_summed_and_means_weighted_by_transactions() -> None:
    part = parsed({"standby1": files(CASE, "16"), "standby2": files(CASE, "18")})
    one, two, whole = (values(part, node) for node in ("standby1", "standby2", ""))
    assert one == values(run_part(Reading("client", files(CASE, "16"), {}, (100.0, 103.0)), []), "")
    for metric in ("tps", "transactions", "failed"):
        assert whole[metric, ""] == one[metric, ""] + two[metric, ""]
    n, m = one["transactions", ""], two["transactions", ""]
    mean = (n * one["latency.mean", ""] + m * two["latency.mean", ""]) / (n + m)
    assert whole["latency.mean", ""] == pytest.approx(mean)
    squares = sum(
        count * (totals["latency.sd", ""] ** 2 + totals["latency.mean", ""] ** 2)
        for count, totals in ((n, one), (m, two))
    )
    assert whole["latency.sd", ""] == pytest.approx(math.sqrt(squares / (n + m) - mean**2))
    assert whole["connection.time", ""] == max(one["connection.time", ""], two["connection.time", ""])
    assert {label for metric, label in whole if metric == "statement.latency"} == {
        label for metric, label in one if metric == "statement.latency"
    }
    assert {series.node for series in part.series} == {"standby1", "standby2"}
    assert (part.failure, part.gaps) == ("", ())


def test_what_runs_beside_the_workload_is_in_no_total() -> None:
    part = parsed({"primary": files(CASE, "16"), "standby1": files("select-only-prepared", "16")}, beside=("standby1",))
    assert values(part, "")["tps", ""] == values(part, "primary")["tps", ""]
    assert values(part, "standby1")["tps", ""] > 0


def test_a_load_that_breaks_off_fails_the_whole_by_name() -> None:
    part = parsed({"client": files(CASE, "16"), "client2": files("aborted-by-terminate", "16")})
    assert part.failure.startswith("client2: ")


def test_loads_that_did_not_begin_together_say_so() -> None:
    part = parsed({"client": files(CASE, "16"), "client2": files(CASE, "16", began="100.150000")})
    [gap] = part.gaps
    assert (gap.source, gap.reason) == ("loads", "they began within 150 ms of each other, not within 100")


@pytest.mark.parametrize("spoiled", ["loads.json", "client/began"])
def test_a_damaged_file_is_named(spoiled: str) -> None:
    whole = {"loads.json": '[{"name": "client", "workload": true}]', "client/began": "1.0"}
    whole |= {f"client/{path}": text for path, text in files(CASE, "16").items() if path != "began"}
    with pytest.raises(ParseError):
        run_part(Reading("client", whole | {spoiled: "?"}, {}, (0.0, 3.0)), [])
