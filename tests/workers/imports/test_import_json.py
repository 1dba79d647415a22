"""Jobs of HammerDB and summaries of BenchBase: their numbers, and JSON that is none of them."""

from __future__ import annotations

import json
from typing import Any

import pytest

from results.domain.errors import ImportedFileError
from results.domain.imports.values import ImportedTrial
from tests.imported import FOLDER, recorded, text_file
from workers.imports.reading import read_files

REPORT, JOB, SUMMARY = "hammerdb-6.0-report.json", "hammerdb-4.6-job.json", "benchbase.summary.json"


def read(name: str) -> ImportedTrial:
    return read_files(recorded(name))[1][0]


def values(trial: ImportedTrial) -> dict[tuple[str, str], float]:
    return {(one.metric, one.label): one.value for one in trial.part.measurements}


def refused(text: str) -> ImportedFileError:
    with pytest.raises(ImportedFileError) as caught:
        read_files([text_file("a.json", text)])
    assert caught.value.todo
    return caught.value


def changed(name: str, **fields: Any) -> str:
    return json.dumps(json.loads((FOLDER / name).read_text()) | {_key(name, key): v for key, v in fields.items()})


def _key(name: str, key: str) -> str:
    return key.replace("_", " ") if name == SUMMARY else key


def test_a_report_of_hammerdb() -> None:
    trial = read(REPORT)
    numbers = values(trial)
    assert (numbers["nopm", ""], numbers["hammerdb.tpm", ""]) == (799073, 1837241)
    assert numbers["hammerdb.latency.p99", "NEWORD"] == pytest.approx(3108)
    assert numbers["hammerdb.calls", "PAYMENT"] == 5651246
    assert trial.facts == {
        "clients": 24,
        "scale": 192,
        "duration_s": 300,
        "version": "18.4",
        "dbms": "postgresql",
        "client_version": "HammerDB v6.0",
    }


def test_what_the_older_hammerdb_prints_of_a_job() -> None:
    trial = read(JOB)
    numbers = values(trial)
    assert (numbers["nopm", ""], numbers["hammerdb.tpm", ""]) == (74538, 171390)
    assert numbers["hammerdb.latency.max", "NEWORD"] == pytest.approx(1_216_400)
    assert trial.facts == {"dbms": "postgresql", "clients": 4}


def test_a_summary_of_benchbase() -> None:
    trial = read(SUMMARY)
    numbers = values(trial)
    assert numbers["benchbase.goodput", ""] == 1891.3147844310931
    assert numbers["benchbase.throughput", ""] == 1913.103115281029
    assert numbers["benchbase.latency.p99", ""] == 11254
    assert trial.facts["clients"] == 10
    assert (trial.facts["version"], trial.facts["dbms"]) == ("17beta2", "postgres")
    assert trial.workload == "temporal"


def test_a_failed_virtual_user_or_another_benchmark_is_no_result() -> None:
    lines = json.dumps(["TEST RESULT : System achieved 1 NOPM from 2 PostgreSQL TPM", "Vuser 3:FINISHED FAILED"])
    assert refused(lines).why == "Vuser 3:FINISHED FAILED"
    assert refused(changed(REPORT, job={"benchmark": "TPROC-H"})).what == "The job ran TPROC-H."
    assert "0 NOPM" in refused(changed(REPORT, result={"nopm": 0, "tpm": 0})).why
    for name in (JOB, REPORT):
        assert refused((FOLDER / name).read_text() * 2).what == "The file has the output of several runs."
    times = (FOLDER / JOB).read_text().partition("]")[2]
    assert refused((FOLDER / JOB).read_text() + times).why == "It has the times of NEWORD twice."


def test_a_run_of_benchbase_without_a_request_or_its_end_is_no_result() -> None:
    assert refused(changed(SUMMARY, Final_State="MEASURE")).why == "Its final state is 'MEASURE'."
    assert refused(changed(SUMMARY, Measured_Requests=0)).why == "No request succeeded."
    assert refused((FOLDER / SUMMARY).read_text() * 2).what == "The file is no summary of one run."
    assert refused(changed(SUMMARY, Latency_Distribution=[1])).what == "'Latency Distribution' is no object."


@pytest.mark.parametrize("name", [REPORT, SUMMARY])
def test_json_that_cannot_be_is_refused(name: str) -> None:
    text = (FOLDER / name).read_text()
    mark = '"schema":' if name == REPORT else '"Benchmark Type":'
    deep = "[" * 200_000
    assert refused(text.replace(mark, f'"x": {deep}, {mark}', 1)).what == "The JSON is nested too deeply."
    assert refused(text.replace(mark, f'"x": NaN, {mark}', 1)).why == "NaN"
    assert refused(text.replace(mark, f'"x": -Infinity, {mark}', 1)).why == "-Infinity"
    assert refused(text[:-20]).what == "The file is not JSON, or was cut."


@pytest.mark.parametrize("value", ["nan", "inf", "1e999", 10**400, 1e300, True, None, [1]])
def test_what_is_no_number_that_can_be_measured_is_refused(value: Any) -> None:
    assert refused(changed(SUMMARY, Measured_Requests=value)).what == "There is no number 'Measured Requests'."
    config = {"virtual_users": value, "warehouses": 8}
    assert refused(changed(REPORT, **{"benchmark_config": config})).what == "There is no number 'virtual_users'."


def test_a_number_that_is_missing_is_named() -> None:
    assert refused(changed(REPORT, result={"nopm": 5})).what == "There is no number 'tpm'."
    assert refused(changed(REPORT, result={"nopm": "many", "tpm": 3})).why == "'many'"
    assert refused(changed(REPORT, response_times={"rows": 5})).what == "'rows' is no list."
