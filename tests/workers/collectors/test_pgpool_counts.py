"""What pgpool-II 4.3.5 said of itself before and after four clients read and updated through it."""

from __future__ import annotations

from pathlib import Path

import pytest

from results.domain.errors import ParseError
from results.domain.kinds.specs import Reading
from workers.collectors.pgpool.parse import parse

RECORDED = Path(__file__).parents[2] / "data" / "pgpool" / "4.3.5"
FILES = {str(path.relative_to(RECORDED)): path.read_text() for path in RECORDED.rglob("*.*")}


def reading(**changes: str) -> Reading:
    """The recorded files with others instead: `after_nodes` for after/nodes.txt."""
    changed = {f"{name.replace('_', '/')}.txt": text for name, text in changes.items()}
    return Reading("pooler", FILES | changed, {}, (0, 2))


def test_statements_are_counted_server_by_server_and_together() -> None:
    values = {(m.metric, m.node): m.value for m in parse(reading()).measurements}
    assert values == {
        ("pgpool.selects", "primary"): 373,
        ("pgpool.selects", "node2"): 139,
        ("pgpool.selects", ""): 512,
        ("pgpool.writes", "primary"): 254 + 762,
        ("pgpool.writes", "node2"): 254 + 762,
        ("pgpool.writes", ""): 2 * (254 + 762),
        ("pgpool.errors", "primary"): 0,
        ("pgpool.errors", "node2"): 0,
        ("pgpool.errors", ""): 0,
        ("pgpool.cache.hits", ""): 0,
    }


def test_hits_in_the_query_cache_are_those_of_the_window() -> None:
    part = parse(
        reading(before_cache="num_cache_hits|num_selects\n5|9", after_cache="num_cache_hits|num_selects\n12|9")
    )
    assert [m.value for m in part.measurements if m.metric == "pgpool.cache.hits"] == [7]


def test_what_was_not_answered_gives_no_number() -> None:
    files = {path: text for path, text in FILES.items() if path != "after/nodes.txt"}
    assert parse(Reading("pooler", files, {}, (0, 2))).measurements == ()


def test_a_row_too_few_is_refused() -> None:
    short = FILES["after/nodes.txt"].splitlines()[:2]
    with pytest.raises(ParseError, match="not a row for each of primary, node2"):
        parse(reading(after_nodes="\n".join(short)))


def test_a_row_that_is_not_as_its_heading_is_refused() -> None:
    with pytest.raises(ParseError, match="not a row of as many columns as the heading"):
        parse(reading(after_cache="num_cache_hits|num_selects\n5"))


def test_another_heading_is_refused() -> None:
    with pytest.raises(ParseError, match="pgpool-II's result has no column num_cache_hits"):
        parse(reading(after_cache="hits\n1"))


def test_damaged_numbers_are_refused() -> None:
    with pytest.raises(ParseError, match="not a count"):
        parse(reading(after_cache="num_cache_hits\nmany"))
