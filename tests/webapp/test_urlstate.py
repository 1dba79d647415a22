"""A selection and its query string."""

from __future__ import annotations

import random

import pytest

from results.domain.errors import TeitenError
from results.queries.shared.selection import Selection
from webapp.urlstate import View, read, read_view, write

NASTY = [
    "10",
    "select-only@9, simple-update@1",
    "a b",
    "a+b",
    "50%",
    "x=y&z",
    "定点観測",
    "'\"<>",
    "none",
    "default",
    "#?/",
]


def a_selection(rnd: random.Random) -> Selection:
    names = rnd.sample(["scale", "script", "setting.work_mem", "定点", "a=b", "a,b"], rnd.randint(0, 4))
    return Selection(
        runs=tuple(rnd.sample(range(1, 10**6), rnd.randint(0, 4))),
        filters={name: tuple(rnd.sample(NASTY, rnd.randint(1, 3))) for name in sorted(names)},
        x=rnd.choice(["", "clients", "setting.work_mem", "a&b"]),
        series=rnd.choice([None, "", "version", "a b"]),
        panel=rnd.choice(["", "scale", "a b,scale"]),
        metric=rnd.choice(["", "latency.p99.9"]),
        statistic=rnd.choice(["", "min"]),
        per=rnd.choice(["", "client"]),
        without=tuple(rnd.sample(NASTY, rnd.randint(0, 3))),
        node=rnd.choice(["", "primary"]),
        label=rnd.choice(["", *NASTY]),
        baseline=rnd.choice(["", *NASTY]),
    )


@pytest.mark.parametrize("seed", range(300))
def test_what_is_written_reads_back_as_the_same_selection_and_view(seed: int) -> None:
    rnd = random.Random(seed)
    selection, view = a_selection(rnd), View(rnd.choice(["", "log"]), rnd.choice(["", "ratio", "speedup"]))
    query = write(selection, view)
    assert (read(query), read_view(query)) == (selection, view)


@pytest.mark.parametrize("seed", range(100))
def test_writing_what_was_read_changes_nothing_more(seed: int) -> None:
    text = write(a_selection(random.Random(seed)))
    assert write(read(text)) == text


def test_defaults_leave_no_trace() -> None:
    assert write(Selection(runs=())) == ""
    assert write(Selection(runs=(41, 42))) == "run=41,42"


def test_what_a_form_sends_becomes_short() -> None:
    sent = "run=1&run=2&x=&series=&metric=&filter.scale=1&filter.scale=10&filter.script=a%2C+b"
    assert write(read(sent)) == "run=1,2&filter.scale=1,10&filter.script=a%2C+b"


def test_a_typed_comma_separates_and_an_encoded_one_does_not() -> None:
    assert read("filter.script=a,b%2Cc").filters == {"script": ("a", "b,c")}


def test_no_series_is_not_the_default_series() -> None:
    assert read("series=none").series == ""
    assert read("").series is None


def test_a_run_that_is_no_number_is_named() -> None:
    with pytest.raises(TeitenError, match="'seven' is not the number of a run"):
        read("run=1,seven")


def test_a_way_to_draw_that_there_is_not_is_named() -> None:
    with pytest.raises(TeitenError, match="no axes 'cubic'"):
        read_view("run=1&axes=cubic")


@pytest.mark.parametrize("query", ["x=a%00b", "filter.a%00=b", "other=%00", "without=1,\x00"])
def test_a_nul_byte_is_refused(query: str) -> None:
    for reader in (read, read_view):
        with pytest.raises(TeitenError, match="NUL byte"):
            reader(query)
