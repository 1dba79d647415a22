"""The ledger's balance: acknowledged against present, by a real trial's files and by made-up ones."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from results.domain.errors import ParseError
from results.domain.kinds.specs import Reading
from results.domain.measurement.parsed_trial import Part
from workers.pgbench.restarts import Acknowledged
from workers.workloads.ledger.parse import Balance, balance, parse

RECORDED = Path(__file__).parents[2] / "data" / "ledger" / "16"


def recorded(without: tuple[str, ...] = (), **changed: Any) -> Part:
    """Return a recorded reading.

    changed: a file's name without its ending → other content."""
    files = {path.name: path.read_text() for path in RECORDED.iterdir() if path.name not in without}
    start_s, end_s = json.loads(files.pop("window.json"))
    for name, content in changed.items():
        file = next(one for one in (f"{name}.json", f"{name}.txt") if one in files)
        files[file] = content if isinstance(content, str) else json.dumps(content)
    return parse(Reading("client", files, {}, (start_s, end_s)))


def content(name: str) -> Any:
    return json.loads((RECORDED / f"{name}.json").read_text())


def values(part: Part) -> Mapping[str, float]:
    return {f"{m.metric} {m.label}".strip(): m.value for m in part.measurements if not m.node}


def log(**clients: int) -> Acknowledged:
    return Acknowledged(clients={(1, int(name[1:])): count for name, count in clients.items()})


@pytest.mark.parametrize(
    ("acknowledged", "present", "expected"),
    [
        (5, [(1, 5)], Balance(0, 0, 0)),
        (5, [(1, 6)], Balance(0, 1, 0)),  # in flight, and committed
        (5, [(1, 3)], Balance(2, 0, 0)),
        (5, [(1, 2), (4, 5)], Balance(1, 0, 0)),  # a hole
        (5, [(1, 2), (6, 6)], Balance(3, 1, 0)),
        (5, [(1, 7)], Balance(0, 1, 1)),  # sent before the sixth had ended: cannot be
        (5, [], Balance(5, 0, 0)),
        (0, [(1, 1)], Balance(0, 1, 0)),
    ],
)
def test_each_clients_numbers_are_accounted_for(
    acknowledged: int, present: list[tuple[int, int]], expected: Balance
) -> None:
    assert balance(log(c0=acknowledged), {(1, 0): present}) == expected


def test_clients_are_added_up_and_one_without_any_row_has_lost_all() -> None:
    assert balance(log(c0=5, c1=4), {(1, 0): [(1, 4)]}) == Balance(5, 0, 0)


def test_a_trial_with_a_failover_is_read_back() -> None:
    part = recorded()
    stored_values = values(part)
    assert part.failure == ""
    assert (stored_values["transactions"], stored_values["ledger.lost"], stored_values["ledger.unacknowledged"]) == (
        3830,
        0,
        3,
    )
    assert stored_values["ledger.tps"] == pytest.approx(3830 / 8.356235)
    assert stored_values["failover.outage"] == pytest.approx(1795316340.308279 - 1795316339.055350, abs=1e-4)
    assert stored_values["failover.promotion"] == pytest.approx(1795316340.1994345 - 1795316339.0551097, abs=1e-4)
    assert (stored_values["failover.failed"], stored_values["failover.refused"]) == (3, 5)
    assert (stored_values["failover.tps before"], stored_values["failover.tps after"]) == (201.5, 816)
    assert stored_values["failover.steady"] == pytest.approx(4 - (1795316339.0551097 - 1795316337.026248))
    assert [(event.kind, event.node) for event in part.events] == [
        ("failover", "primary"),
        ("promoted", "standby1"),
        ("service", "client"),
        ("service", "client"),
    ]
    tps = next(series for series in part.series if series.name == "tps")
    assert list(tps.values) == [196, 207, 9, 174, 278, 1211, 758, 874]
    assert tps.times()[0] == 1.0


def test_each_transaction_is_counted_at_the_server_that_acknowledged_it() -> None:
    counts = {m.node: m.value for m in recorded().measurements if m.metric == "transactions"}
    assert counts == {"": 3830, "primary": 412, "standby1": 3418}


def test_a_run_that_goes_on_at_another_server_is_counted_at_neither() -> None:
    folded = (RECORDED / "folded.txt").read_text().splitlines()
    begun = next(line for line in folded if line.startswith("run 1 "))
    ended_s = float(content("failover")["promoted_s"]) + 1
    longer = "\n".join(f"{line.rpartition(' ')[0]} {ended_s:.6f}" if line == begun else line for line in folded)
    counts = {m.node for m in recorded(folded=f"{longer}\n").measurements if m.metric == "transactions"}
    assert counts == {""}


def test_a_lost_row_is_counted_and_does_not_fail_a_trial_whose_server_was_lost() -> None:
    present = content("present")
    present["ranges"][0]["last"] -= 11  # one was in flight
    part = recorded(present=present)
    assert part.failure == ""
    assert (values(part)["ledger.lost"], values(part)["ledger.unacknowledged"]) == (10, 2)


def test_a_lost_row_fails_a_trial_whose_server_stayed() -> None:
    runs = [run for run in content("runs") if run["number"] == 7]
    lines = (RECORDED / "folded.txt").read_text().splitlines(keepends=True)
    folded = "".join(line for line in lines if not line.startswith(("client 1", "run 1")))
    present = content("present")
    present["ranges"] = [row for row in present["ranges"] if row["start"] == 7]
    assert recorded(("failover.json",), runs=runs, folded=folded, present=present).failure == ""
    present["ranges"][0]["last"] -= 1
    part = recorded(("failover.json",), runs=runs, folded=folded, present=present)
    assert part.failure == "1 acknowledged transactions have no row, though no server was lost."


def test_clients_that_lose_a_server_that_nobody_took_fail_the_trial() -> None:
    assert recorded(("failover.json",)).failure.startswith("pgbench: error: client 0 aborted")


def test_rows_that_nobody_sent_fail_the_trial() -> None:
    present = content("present")
    present["ranges"][0]["last"] += 1
    assert recorded(present=present).failure == "1 rows are there that no client can have sent."


def test_a_log_that_lacks_transactions_fails_the_trial() -> None:
    folded = (RECORDED / "folded.txt").read_text().replace("client 7 0 1134", "client 7 0 1133")
    failure = recorded(folded=folded, present=content("present")).failure
    assert failure == "pgbench counted 3,830 transactions, its logs hold 3,829."


def test_rows_that_nobody_looked_at_fail_the_trial() -> None:
    part = recorded(("present.json",))
    assert part.failure == "The rows were not looked at after the run."
    assert "ledger.lost" not in values(part)


def test_clients_that_lose_their_server_again_fail_the_trial() -> None:
    runs = content("runs")
    runs[-1] |= {"exit_status": 2, "stderr": "pgbench: error: client 0 aborted in command 1; server gone\n"}
    assert recorded(runs=runs).failure.startswith("Clients lost their server again: pgbench: error: client 0 aborted")


@pytest.mark.parametrize(
    ("name", "text"),
    [("runs", "[{}]"), ("folded", "client 1 two 3\n"), ("present", '{"ranges": [{}]}'), ("failover", "{}")],
)
def test_a_damaged_file_is_told(name: str, text: str) -> None:
    with pytest.raises(ParseError):
        recorded(**{name: text})
