"""Whatever stands in a trial's files: its parser names what is wrong, or its numbers can be."""

from __future__ import annotations

import math
from contextlib import suppress
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from results.domain.errors import ParseError, TeitenError
from results.domain.kinds.specs import Reading
from results.domain.measurement.parsed_trial import Part
from results.domain.measurement.plausible import Source, require_part
from tests.fuzz.corpus import CASES, Case, pgbench_reading, pgbench_reports
from tests.fuzz.mutations import NUMBER, TIMES, as_decoded, mutated, quick
from workers import registry
from workers.bundle import derive
from workers.workloads.pgbench.parse import parse as parse_pgbench


def read(case: Case, text: str) -> Part | None:
    """Read a trial's files as a worker does; None where the parser names what is wrong."""
    reading = replace(case.reading, files={**case.reading.files, case.file: as_decoded(text)})
    try:
        part = case.parse(reading)
        require_part(part, Source(case.file, METRICS))
    except TeitenError:
        return None
    return part


METRICS = {metric.name: metric for metric in (*registry.known_metrics(), *derive.METRICS)}


def require_possible(part: Part) -> None:
    declared = METRICS | {metric.name: metric for metric in part.metrics}
    for one in part.measurements:
        assert math.isfinite(one.value), one
        assert one.value >= 0 or declared[one.metric].signed, one
    for series in part.series:
        assert all(value != value or (math.isfinite(value) and value >= 0) for value in series.values), series.name
    for latencies in part.latencies:
        assert min(latencies.histogram.latencies_us) >= 0
        assert min(latencies.histogram.counts) > 0


@pytest.mark.parametrize("case", CASES, ids=[case.name for case in CASES])
def test_the_recorded_files_are_read(case: Case) -> None:
    part = read(case, case.text)
    assert part is not None
    require_possible(part)


@TIMES
@pytest.mark.parametrize("case", CASES, ids=[case.name for case in CASES])
def test_a_changed_file_gives_numbers_that_can_be_or_an_error_in_words(case: Case, times: int) -> None:
    @quick(times=times)
    @given(st.data())
    def examples(data: st.DataObject) -> None:
        if (part := read(case, data.draw(mutated(case.text)))) is not None:
            require_possible(part)

    examples()


@pytest.mark.parametrize("name", pgbench_reports())
def test_a_report_that_was_cut_off_is_named_or_gives_no_other_number(name: str) -> None:
    """Cut at any byte. Of `pgbench -r`, whose list of statements has no end, whole lines may be missing."""
    report = pgbench_reports()[name]
    whole = set(parse_pgbench(pgbench_reading(report, name=name)).measurements)
    for length in range(len(report)):
        try:
            part = parse_pgbench(pgbench_reading(report[:length], name=name))
        except ParseError:
            continue
        if part.failure:
            continue
        given = set(part.measurements)
        assert given <= whole, f"cut at byte {length}: {sorted(given - whole, key=str)}"
        assert {one.metric.partition(".")[0] for one in whole - given} <= {"statement"}, f"cut at byte {length}"


@pytest.mark.parametrize("number", ["nan", "-1", "1e309", "1,5", "1.234,5", "1.2.3", "9" * 400, "１２", "0x1F"])
@pytest.mark.parametrize("name", ["9.5", "14", "18-two-scripts", "16-retries"])
def test_no_other_spelling_of_a_number_becomes_another_number(name: str, number: str) -> None:
    """Each number of the report in turn: the measurement that it was is gone, or an error names the line."""
    report = pgbench_reports()[name]
    whole = {(m.metric, m.label): m.value for m in parse_pgbench(pgbench_reading(report, name=name)).measurements}
    case = Case("pgbench", pgbench_reading(report, name=name), "stdout", name)
    for match in NUMBER.finditer(report):
        part = read(case, report[: match.start()] + number + report[match.end() :])
        for one in part.measurements if part else ():
            if one.metric == "tps.including" and ("connection.time", "") in whole:
                continue  # computed of three numbers
            known = whole.get((one.metric, one.label), one.value if "statement" in one.metric else None)
            assert one.value == known, (match.group(), one)


def test_a_reading_without_any_file_is_no_crash() -> None:
    for case in CASES:
        with suppress(TeitenError):
            case.parse(Reading(case.reading.node, {}, case.reading.parameters, case.reading.window))
