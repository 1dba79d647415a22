"""What sessions wait for, drawn beside the CPU."""

from __future__ import annotations

from results.domain.measurement.series import Series
from tests.webapp.charts.test_figures import validated
from webapp.charts.trial import timeline
from webapp.charts.waits import MOST_EVENTS, OTHERS, key, traces


def waits(label: str, *values: float, node: str = "primary") -> Series:
    return Series("waits", node, "1", 0.5, 0.0, values, label, tuple(0.5 + second for second in range(len(values))))


SERIES = [waits("Lock: tuple", 1, 0, 4), waits("CPU: running", 2, 2, 0), waits("Lock: transactionid", 3, 3, 3)]


def test_running_is_at_the_bottom_then_the_commonest_wait() -> None:
    figure_traces = traces(SERIES, "primary")
    assert [trace["name"] for trace in figure_traces] == ["CPU: running", "Lock: transactionid", "Lock: tuple"]
    assert {trace["stackgroup"] for trace in figure_traces} == {"waits primary"}
    assert figure_traces[2]["y"] == [1, 0, 4]


def test_waits_of_one_type_are_shades_of_one_colour_in_the_figure_and_in_its_key() -> None:
    assert key(SERIES) == [(3, 0, "CPU: running"), (1, 0, "Lock: transactionid"), (1, 1, "Lock: tuple")]
    fills = [trace["fillcolor"] for trace in traces(SERIES, "primary")]
    assert fills == ["var(--s3) 85%", "var(--s1) 85%", "var(--s1) 55%"]


def test_what_is_rare_is_drawn_together_and_nothing_is_left_out() -> None:
    many = [waits(f"IO: event{i}", 10.0 - i, 1) for i in range(9)] + [waits(f"X{i}: y", 1, 1) for i in range(9)]
    figure_traces = traces(many, "primary")
    assert len(figure_traces) <= MOST_EVENTS + 1
    assert figure_traces[-1]["name"] == OTHERS == key(many)[-1][2]
    for moment in (0, 1):
        assert sum(trace["y"][moment] for trace in figure_traces) == sum(one.values[moment] for one in many)


def test_the_area_stands_beside_the_cpu_of_its_node_on_the_same_axis() -> None:
    cpu = [Series("cpu.user", node, "%", 0, 1, (1.0, 2.0)) for node in ("client", "primary")]
    figure = timeline([*cpu, *SERIES], [], [], 3.0, {"primary": "db1"})
    assert figure is not None
    validated(figure)
    titles = [note["text"] for note in figure["layout"]["annotations"]]
    assert titles == ["CPU of client, %", "CPU of primary (db1), %", "sessions of primary (db1) by what they wait for"]
    assert {trace.get("xaxis", "x") for trace in figure["data"]} == {"x"}


def test_without_samples_there_is_no_area() -> None:
    assert traces([Series("tps", "client", "tps", 0, 1, (1.0,))], "primary") == []
    assert key([]) == []
