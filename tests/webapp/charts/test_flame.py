"""The flame chart: widths are shares, nothing gets lost, and it stays small."""

from __future__ import annotations

import pytest

from tests.webapp.charts.test_figures import validated
from webapp.charts.flame import EVERYTHING, MOST_BOXES, flame_figure, tree
from webapp.charts.style import Figure

START = "client backend;_start;__libc_start_main [libc.so.6];main;PostmasterMain;ServerLoop;PostgresMain"
STACKS = {f"{START};parse": 30, f"{START};run;scan": 50, f"{START};run": 15, "checkpointer;main;[kernel]": 5}


def boxes(figure: Figure) -> dict[str, tuple[str, int, int]]:
    """Label → (its caller's label, samples, own samples)."""
    [trace] = figure["data"]
    labels = dict(zip(trace["ids"], trace["labels"], strict=True))
    rows = zip(trace["labels"], trace["parents"], trace["values"], trace["customdata"], strict=True)
    return {label: (labels.get(parent, ""), value, own) for label, parent, value, own in rows}


def test_every_function_is_below_its_caller_and_as_wide_as_its_samples() -> None:
    figure = flame_figure(STACKS)
    validated(figure)
    assert boxes(figure) == {
        EVERYTHING: ("", 100, 0),
        "client backend": (EVERYTHING, 95, 0),
        "PostgresMain": ("client backend", 95, 0),
        "run": ("PostgresMain", 65, 15),
        "scan": ("run", 50, 50),
        "parse": ("PostgresMain", 30, 30),
        "checkpointer": (EVERYTHING, 5, 0),
        "[kernel]": ("checkpointer", 5, 5),
    }


def test_a_stack_of_nothing_but_starting_keeps_its_last_function() -> None:
    root = tree({"postmaster;_start;main;PostmasterMain;ServerLoop": 2})
    assert list(root.children["postmaster"].children) == ["ServerLoop"]


def test_a_function_called_like_one_of_the_beginning_deep_down_is_kept() -> None:
    deep = ";".join(f"f{i}" for i in range(20))
    root = tree({f"client backend;{deep};main": 1})
    assert list(root.children["client backend"].children) == ["f0"]


def test_callers_come_before_what_they_call() -> None:
    [trace] = flame_figure(STACKS)["data"]
    seen = {""}
    for number, parent in zip(trace["ids"], trace["parents"], strict=True):
        assert parent in seen
        seen.add(number)


def test_what_is_too_small_to_see_is_drawn_together_so_that_widths_add_up() -> None:
    stacks = {f"client backend;run;f{i:02}": 1 for i in range(40)} | {"client backend;run;big": 100_000}
    figure = flame_figure(stacks)
    assert boxes(figure)["40 smaller"] == ("run", 40, 0)
    assert boxes(figure)["run"][1] == 100_040


@pytest.mark.parametrize("spread", [3000, 20_000])
def test_the_chart_stays_small_whatever_was_sampled(spread: int) -> None:
    figure = flame_figure({f"client backend;run;f{i % 97};g{i}": 1 + i % 7 for i in range(spread)})
    [trace] = figure["data"]
    assert len(trace["ids"]) <= MOST_BOXES
    sums: dict[str, int] = {}
    for parent, value in zip(trace["parents"], trace["values"], strict=True):
        sums[parent] = sums.get(parent, 0) + value
    values = dict(zip(trace["ids"], trace["values"], strict=True))
    assert all(total <= values[parent] for parent, total in sums.items() if parent)


def test_a_name_never_becomes_markup() -> None:
    assert "f&lt;b&gt;" in flame_figure({"client backend;f<b>": 1})["data"][0]["labels"]


def test_where_a_function_lives_is_its_colour() -> None:
    names = ("server_function", "memcpy [libc.so.6]", "do_syscall_64 [kernel]", "[postgres]")
    trace = flame_figure({f"client backend;{name}": 1 for name in names})["data"][0]
    colours = dict(zip(trace["labels"], trace["marker"]["colors"], strict=True))
    assert [colours[name].split(" ")[0] for name in names] == ["var(--s5)", "var(--s3)", "var(--s1)", "var(--s0)"]
