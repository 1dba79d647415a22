"""Snapshots, samples, sizes and logs of 15, 16 and 18, read back."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from results.domain.errors import ParseError
from results.domain.kinds.specs import Reading
from results.domain.measurement.parsed_trial import Part
from workers.collectors.pg_stat import log
from workers.collectors.pg_stat.log import events, replayed_to
from workers.collectors.pg_stat.parse import parse
from workers.collectors.pg_stat.samples import read_samples, sample_series
from workers.collectors.pg_stat.snapshot import LISTED_STATEMENTS
from workers.collectors.pg_stat.spec import SPEC

PG_STAT = Path(log.__file__).parent
DATA = Path(__file__).parents[2] / "data" / "pg_stat"
VERSIONS = ("15", "16", "18")
FILES = ("before.json", "after.json", "samples.txt", "sizes.json", "server.log")


def files_of(version: str) -> dict[str, str]:
    return {name: (DATA / version / name).read_text() for name in FILES}


def recorded(version: str, **changed: str) -> Part:
    start_s, end_s = json.loads((DATA / version / "window.json").read_text())
    files = files_of(version) | {name.replace("_", "."): text for name, text in changed.items()}
    return parse(Reading("primary", files, {}, (start_s, end_s)))


def values(part: Part) -> dict[tuple[str, str], float]:
    return {(m.metric, m.label): m.value for m in part.measurements}


@pytest.mark.parametrize("version", VERSIONS)
def test_every_version_gives_the_same_metrics(version: str) -> None:
    stored_values = values(recorded(version))
    sometimes = {"statement.calls", "statement.mean", "waits"}
    assert {metric for metric, _ in stored_values} - sometimes == {metric.name for metric in SPEC.metrics} - sometimes
    assert all(value >= 0 for value in stored_values.values())


@pytest.mark.parametrize("version", VERSIONS)
def test_the_checkpoint_in_the_run_is_counted_and_its_blocks_too(version: str) -> None:
    stored_values = values(recorded(version))
    assert (stored_values["checkpoints", ""], stored_values["checkpoints", "requested"]) == (1, 1)
    # '… complete: wrote N buffers' in the recorded logs
    wrote = next(e.text for e in recorded(version).events if "complete: wrote" in e.text)
    assert stored_values["blocks.written", ""] >= int(wrote.split("wrote ")[1].split()[0])


@pytest.mark.parametrize("version", VERSIONS)
def test_differences_are_those_of_the_views(version: str) -> None:
    before, after = (json.loads(files_of(version)[name]) for name in ("before.json", "after.json"))
    stored_values = values(recorded(version))
    for column, metric in (("xact_commit", "transactions.committed"), ("blks_hit", "blocks.hit")):
        rows = [snapshot["views"]["pg_stat_database"][0][column] for snapshot in (before, after)]
        assert stored_values[metric, ""] == rows[1] - rows[0]
    assert stored_values["wal.bytes", ""] == after["wal_bytes"] - before["wal_bytes"] > 10_000_000
    hit, read = stored_values["blocks.hit", ""], stored_values["blocks.read", ""]
    assert stored_values["buffers.hit_ratio", ""] == pytest.approx(100 * hit / (hit + read))


def test_the_age_of_the_server_is_that_at_the_snapshot_before_the_window() -> None:
    before = json.loads(files_of("16")["before.json"])
    values = {one.metric: one.value for one in recorded("16").measurements}
    assert values["steady.server_age"] == before["at"] - before["postmaster_started"] > 0


def test_sizes_are_told_by_table_and_in_total() -> None:
    stored_values = values(recorded("18"))
    tables = [value for (metric, label), value in stored_values.items() if metric == "size.table" and label]
    assert len(tables) == 4
    assert sum(tables) == stored_values["size.table", ""]
    assert stored_values["size.total", ""] == stored_values["size.table", ""] + stored_values["size.index", ""]


def test_statements_are_told_most_expensive_first_without_teitens_own() -> None:
    stored_values = values(recorded("15"))
    labels = [label for metric, label in stored_values if metric == "statement.calls"]
    assert labels[0].startswith("UPDATE pgbench_branches")
    assert not any("teiten" in label for label in labels)
    assert stored_values["statement.mean", labels[0]] > 10


def statements(before: list[dict[str, Any]], after: list[dict[str, Any]]) -> dict[tuple[str, str], float]:
    """What two lists of pg_stat_statements give, as part of recorded snapshots."""
    snapshots = [json.loads(files_of("15")[name]) for name in ("before.json", "after.json")]
    for snapshot, rows in zip(snapshots, (before, after), strict=True):
        snapshot["views"]["pg_stat_statements"] = rows
    part = recorded("15", before_json=json.dumps(snapshots[0]), after_json=json.dumps(snapshots[1]))
    return {key: value for key, value in values(part).items() if key[0].startswith("statement.")}


def statement(query: str, calls: int, total_ms: float, queryid: int = 0) -> dict[str, Any]:
    number = queryid or hash(query)
    return {"userid": 10, "queryid": number, "query": query, "calls": calls, "total_exec_time": total_ms}


def test_a_statement_has_the_same_label_whatever_else_took_time_and_whatever_its_number() -> None:
    long = "SELECT " + ", ".join(f"column_{n}" for n in range(40))
    first = statements([], [statement("SELECT $1", 5, 9.0, 1), statement(f"{long} FROM a", 5, 1.0, 2)])
    second = statements([], [statement("SELECT  $1", 5, 1.0, 3), statement(f"{long} FROM a", 5, 9.0, 4)])
    assert first.keys() == second.keys()
    assert ("statement.calls", "SELECT $1") in first
    assert all(len(label) <= 120 for _, label in first)


def test_long_statements_that_begin_alike_are_told_apart() -> None:
    long = "SELECT " + ", ".join(f"column_{n}" for n in range(40))
    executed = statements([], [statement(f"{long} FROM a", 3, 9.0), statement(f"{long} FROM b", 5, 1.0)])
    assert sorted(value for (metric, _), value in executed.items() if metric == "statement.calls") == [3, 5]


def test_rows_of_one_text_are_one_statement() -> None:
    before = [statement("SELECT $1", 10, 10.0, 1)]
    after = [statement("SELECT $1", 11, 11.0, 1), statement("SELECT $1", 3, 7.0, 2)]
    executed = statements(before, after)
    assert executed == {("statement.calls", "SELECT $1"): 4, ("statement.mean", "SELECT $1"): 2000}


@pytest.mark.parametrize("anew", [(12, 1.0), (3, 30.0)], ids=["less time", "fewer calls"])
def test_a_statement_that_was_dropped_and_counted_anew_has_no_number(anew: tuple[int, float]) -> None:
    before = [statement("SELECT $1", 10, 20.0, 1), statement("INSERT", 1, 1.0, 2)]
    after = [statement("SELECT $1", *anew, 1), statement("INSERT", 3, 2.0, 2)]
    assert statements(before, after) == {("statement.calls", "INSERT"): 2, ("statement.mean", "INSERT"): 500}


@pytest.mark.parametrize(("listed", "reported"), [(499, True), (500, False)])
def test_a_statement_that_comes_into_a_full_list_has_no_number(listed: int, reported: bool) -> None:
    others = [statement(f"SELECT {n}", 9, 1.0, n + 1) for n in range(listed)]
    executed = statements(others, [*others, statement("INSERT", 1_000_000, 5.0, 9999)])
    assert (("statement.calls", "INSERT") in executed) == reported
    assert f"LIMIT {LISTED_STATEMENTS}'" in (PG_STAT / "snapshot.sql").read_text()


@pytest.mark.parametrize("version", VERSIONS)
def test_samples_become_rates_by_the_second(version: str) -> None:
    series = {one.name: one for one in recorded(version).series}
    assert {"wal.bytes", "transactions.committed", "blocks.read", "backends.active"} <= series.keys()
    assert series["wal.bytes"].unit == "B/s"
    assert series["wal.bytes"].times() == pytest.approx([1, 2, 3], abs=0.1)
    assert max(series["transactions.committed"].values) > 1000


@pytest.mark.parametrize("version", VERSIONS)
def test_the_log_gives_events_on_the_windows_clock(version: str) -> None:
    events = {(event.kind, event.text[:20]): event.at_s for event in recorded(version).events}
    assert events["checkpoint", "checkpoint starting:"] == pytest.approx(1.2, abs=0.1)
    assert 1.2 < events["error", "ERROR: division by z"] < 1.5


def test_a_restart_in_the_window_is_a_gap_and_no_number() -> None:
    after = json.loads(files_of("16")["after.json"]) | {"postmaster_started": 1795247999.0}
    part = recorded("16", after_json=json.dumps(after))
    assert "restarted" in part.gaps[0].reason
    assert {m.metric for m in part.measurements} == {"size.table", "size.index", "size.total"}
    assert part.series


def test_a_reset_in_the_window_is_a_gap_and_no_number() -> None:
    after = json.loads(files_of("16")["after.json"])
    after["views"]["pg_stat_wal"][0]["stats_reset"] = "2026-11-21T08:00:00+00:00"
    assert "pg_stat_wal was reset" in recorded("16", after_json=json.dumps(after)).gaps[0].reason


def test_a_server_that_died_leaves_what_it_had() -> None:
    files = files_of("16")
    part = parse(Reading("primary", {name: files[name] for name in ("before.json", "server.log")}, {}, (0.0, 3.0)))
    assert part.measurements == ()
    assert part.events


def test_versions_without_views_give_what_they_have() -> None:
    # 9.5: neither pg_stat_wal nor pg_stat_io nor pg_stat_checkpointer
    def snapshot(step: int) -> str:
        views = {
            "pg_stat_database": [{"blks_read": step, "blks_hit": 9 * step, "xact_commit": step, "stats_reset": None}],
            "pg_stat_bgwriter": [
                {"checkpoints_timed": step, "checkpoints_req": 0, "buffers_checkpoint": step}
                | {"buffers_clean": 1, "buffers_backend": 2 * step, "stats_reset": None}
            ],
        }
        return json.dumps(
            {"at": step, "block_size": 8192, "postmaster_started": 1, "wal_bytes": 100 * step, "views": views}
        )

    reading = Reading("primary", {"before.json": snapshot(1), "after.json": snapshot(11)}, {}, (0.0, 1.0))
    stored_values = values(parse(reading))
    assert stored_values["blocks.written", ""] == 30
    assert stored_values["buffers.hit_ratio", ""] == 90
    assert stored_values["checkpoints", "timed"] == 10
    assert stored_values["wal.bytes", ""] == 1000
    assert ("wal.records", "") not in stored_values


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("before.json", "{"),
        ("before.json", "[]"),
        ("after.json", '{"at": 1}'),
        ("sizes.json", '[{"name": "t"}]'),
        ("samples.txt", "x\n"),
        ("samples.txt", "{}\n"),
        ("samples.txt", '{"at": 1, "waits": [1]}\n'),
        ("samples.txt", '{"at": 1, "waits": {"IO: x": "many"}}\n'),
    ],
)
def test_damaged_files_are_refused_by_name(name: str, text: str) -> None:
    with pytest.raises(ParseError) as caught:
        parse(Reading("primary", files_of("16") | {name: text}, {}, (0.0, 1.0)))
    assert caught.value.file == name


def test_samples_that_ended_well_before_the_window_are_a_gap() -> None:
    start_s, end_s = json.loads((DATA / "16" / "window.json").read_text())
    whole = parse(Reading("primary", files_of("16"), {}, (start_s, end_s)))
    cut = parse(Reading("primary", files_of("16"), {}, (start_s, start_s + 100)))
    assert whole.gaps == ()
    assert "s into a window of 100.0 s" in cut.gaps[0].reason
    assert cut.measurements and cut.series


def test_half_a_last_sample_is_passed_over() -> None:
    assert len(read_samples('{"at": 1}\n\n{"at": 2}\n{"a')) == 2


def test_a_counter_that_went_back_leaves_a_gap() -> None:
    samples: list[dict[str, Any]] = [{"at": 10.0 + n, "wal_bytes": b} for n, b in enumerate((5, 25, 3))]
    series = next(iter(sample_series(samples, "primary", 10.0)))
    assert series.values[0] == 20
    assert series.values[1] != series.values[1]
    assert series.times() == [1.0, 2.0]


def test_every_wait_has_its_series_and_its_mean_over_the_window() -> None:
    waits = ('{"CPU: running": 2, "Lock: tuple": 1}', "null", '{"Lock: tuple": 4}', '{"CPU: running": 9}')
    lines = [f'{{"at": {99.5 + second}, "waits": {wait}}}\n' for second, wait in enumerate(waits)]
    part = parse(Reading("primary", {"samples.txt": "".join(lines)}, {}, (100.0, 103.0)))
    series = {one.label: one for one in part.series if one.name == "waits"}
    assert list(series["Lock: tuple"].values) == [1, 0, 4, 0]
    assert list(series["CPU: running"].values) == [2, 0, 0, 9]
    assert series["CPU: running"].times() == [-0.5, 0.5, 1.5, 2.5]
    # the first sample is from before the window
    assert values(part) == {("waits", "CPU: running"): 3.0, ("waits", "Lock: tuple"): 4 / 3}


def test_lines_of_the_log_have_their_kinds() -> None:
    at = "2026-11-21 07:16:27.123 UTC [123]"
    text = (
        f'{at} LOG:  automatic vacuum of table "bench.public.t": index scans: 0\n'
        "\tpages: 0 removed\n"
        f"{at} LOG:  server process (PID 7) was terminated by signal 9: Killed\n"
        f"{at} teiten@bench FATAL:  the database system is in recovery mode\n"
        f"{at} PANIC:  could not write\n"
        f"{at} LOG:  duration: 3 ms\n"
        f"{at} STATEMENT:  SELECT 'ERROR:  no'\n"
        f"{at} LOG:  restartpoint complete: wrote 3\n"
    )
    all_events = events(text, "standby", 1795245386.0)
    assert [event.kind for event in all_events] == ["autovacuum", "server", "fatal", "panic", "checkpoint"]
    assert all_events[0].at_s == pytest.approx(1.123)


def test_an_autovacuum_says_how_long_it_took() -> None:
    at = "2026-11-21 07:16:27.123 UTC [123]"
    text = (
        f'{at} LOG:  automatic vacuum of table "bench.public.t": index scans: 0\n'
        "\tpages: 0 removed, 5 remain\n"
        "\tsystem usage: CPU: user: 0.00 s, system: 0.00 s, elapsed: 3.25 s\n"
        f'{at} LOG:  automatic vacuum of table "bench.public.u": index scans: 0\n'
        f"{at} LOG:  duration: 3 ms\n"
        "\tsystem usage: CPU: user: 0.00 s, system: 0.00 s, elapsed: 9.99 s\n"
    )
    first, second = events(text, "primary", 1795245386.0)
    assert first.text.endswith("(elapsed: 3.25 s)")
    assert "elapsed" not in second.text


def test_a_flood_of_errors_is_cut_short_and_counted() -> None:
    text = "".join(f"2026-11-21 07:16:{n // 60:02d}.000 UTC [1] ERROR:  number {n}\n" for n in range(500))
    all_events = events(text, "primary", 0.0)
    assert len(all_events) == 201
    assert all_events[-1].text == "300 more until here; the last: ERROR: number 499"


def test_wal_was_replayed_up_to_the_end_of_redo_after_the_promotion() -> None:
    at = "2026-11-21 07:16:27.123 UTC [123]"
    redo, promotion = f"{at} LOG:  redo done at 0/{{}} system usage: none\n", f"{at} LOG:  received promote request\n"
    log_text = redo.format("A0") + promotion + f"{at} LOG:  x\n" + redo.format("B0") + promotion + redo.format("C0")
    assert replayed_to(log_text) == 0xB0
    assert replayed_to(redo.format("A0") + promotion) is None
    assert replayed_to(redo.format("A0")) is None


def test_a_log_of_promotions_alone_and_one_of_spaces_are_read_in_one_pass() -> None:
    at = "2026-11-21 07:16:27.123 UTC [123]"
    assert replayed_to(f"{at} LOG:  received promote request\n" * 100_000) is None
    [event] = events(f"{at} LOG:  automatic vacuum of table\n{' ' * 1_000_000}x\n", "primary", 0.0)
    assert event.kind == "autovacuum"
