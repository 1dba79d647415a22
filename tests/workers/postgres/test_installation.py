import pytest

from results.domain.errors import ParseError
from workers.postgres.installation import distinct_names, parse_listing, parse_version


@pytest.mark.parametrize(
    ("text", "version", "number"),
    [
        ("postgres (PostgreSQL) 16.9", "16.9", 160009),
        ("postgres (PostgreSQL) 15.18 (Debian 15.18-0+deb12u1)", "15.18", 150018),
        ("postgres (PostgreSQL) 9.6.24", "9.6.24", 90624),
        ("postgres (PostgreSQL) 9.5.0", "9.5.0", 90500),
        ("postgres (PostgreSQL) 12beta1", "12beta1", 120000),
        ("postgres (PostgreSQL) 13devel", "13devel", 130000),
        ("postgres (PostgreSQL) 18rc1", "18rc1", 180000),
        ("postgres (EnterpriseDB) 14.1.0", "14.1.0", 140001),
        ("pgbench (PostgreSQL) 10.23", "10.23", 100023),
    ],
)
def test_versions_of_all_kinds_are_read(text: str, version: str, number: int):
    assert parse_version(text) == (version, number)


def test_what_is_no_version_is_refused():
    with pytest.raises(ParseError, match="not a PostgreSQL version"):
        parse_version("command not found")


def test_a_version_alone_is_a_name():
    assert distinct_names([("16.9", "/a/bin"), ("18.4", "/b/bin")]) == ["16.9", "18.4"]


def test_builds_of_one_version_are_told_apart_by_the_end_of_their_path():
    paths = ["/opt/pg16/bin", "/opt/pg16-debug/bin", "/usr/lib/postgresql/16/bin"]
    assert distinct_names([("16.9", path) for path in paths]) == ["16.9-pg16", "16.9-pg16-debug", "16.9-16"]


def test_as_much_of_the_path_is_taken_as_is_needed():
    paths = ["/opt/zheap/pg/bin", "/opt/heap/pg/bin"]
    assert distinct_names([("12beta1", path) for path in paths]) == ["12beta1-zheap-pg", "12beta1-heap-pg"]


def test_names_do_not_depend_on_the_order_of_the_finds():
    builds = [("16.9", "/opt/a/bin"), ("16.9", "/opt/b/bin")]
    assert distinct_names(builds[::-1]) == distinct_names(builds)[::-1]


def test_a_listing_is_read_installation_by_installation():
    text = "bin /a\nversion postgres (PostgreSQL) 16.9\nconfigure '--x'\nhas initdb\nhas psql\nbin /b\nbroken no lib\n"
    first, second = parse_listing(text)
    assert (first.bin_dir, first.programs, second.broken) == ("/a", {"initdb", "psql"}, "no lib")


def test_the_further_lines_of_a_broken_servers_message_are_passed_over():
    directories = parse_listing("bin /b\nbroken error while loading\nshared libraries\n")
    assert directories[0].broken == "error while loading"


def test_a_line_that_belongs_to_nothing_is_refused():
    with pytest.raises(ParseError, match=r"installation\.sh:1"):
        parse_listing("welcome!\n")
