"""What the endpoints show, and with how many SQL queries."""

from __future__ import annotations

import io
import tarfile
from pathlib import Path
from typing import Any

import pytest
from rest_framework.test import APIClient

from results import models
from tests import factories

pytestmark = pytest.mark.django_db
API = "/api/v1"


def get(client: APIClient, path: str, status: int = 200, **query: Any) -> Any:
    answer = client.get(path if path.startswith("http") else f"{API}/{path}", query)
    assert answer.status_code == status, answer.content
    return answer.json()


def getvalue(answer: Any) -> bytes:
    return b"".join(answer.streaming_content)


@pytest.mark.parametrize(
    ("path", "most"),
    [
        ("agents/", 5),
        ("agents/db1/", 7),
        ("agents/db1/clusters/", 4),
        ("agents/db1/loss/", 9),
        ("agents/db1/host-factors/", 2),
        ("agents/db1/host-factors/cpu_governor/", 1),
        ("installations/", 2),
        ("plans/", 3),
        ("plans/{plan}/", 4),
        ("plans/{plan}.toml", 1),
        ("plans/{plan}/loss/", 5),
        ("plans/{plan}/schedule/?line=0+2+*+*+6", 10),
        ("runs/", 2),
        ("runs/{run}/", 6),
        ("runs/{run}/medians/", 4),
        ("trials/", 2),
        ("trials/{done}/", 6),
        ("trials/{done}/series/", 2),
        ("trials/{done}/histograms/", 2),
        ("trials/{done}/documents/", 2),
        ("trials/{done}/bundle/", 1),
        ("trials/{done}/files/server/log.txt", 1),
        ("measurements/", 4),
        ("metrics/", 1),
        ("kinds/", 0),
        ("comparison/?run={run}", 7),
        ("comparison.csv?run={run}", 5),
        ("citations/", 2),
        ("citations/{citation}/", 8),
        ("citations/{citation}.csv", 2),
        ("references/", 1),
        ("reports/", 1),
        ("capabilities/", 3),
        ("diff/?left=trial:{done}&right=run:{run}", 5),
    ],
)
def test_each_takes_few_queries_whatever_there_is(
    path: str, most: int, world: dict[str, int], anonymous: APIClient, django_assert_max_num_queries: Any
) -> None:
    factories.finished_run(replicates=4)
    with django_assert_max_num_queries(most):
        assert anonymous.get(f"{API}/{path.format(**world)}").status_code == 200


def test_runs_come_in_pages_that_lead_on_and_back(anonymous: APIClient) -> None:
    ids = [factories.run().pk for _ in range(3)]
    first = get(anonymous, "runs/", page_size=2)
    assert ([run["id"] for run in first["results"]], first["previous"]) == ([ids[2], ids[1]], None)
    second = get(anonymous, first["next"])
    assert ([run["id"] for run in second["results"]], second["next"]) == ([ids[0]], None)
    assert [run["id"] for run in get(anonymous, second["previous"])["results"]] == [ids[2], ids[1]]


def test_a_run_in_the_list_says_how_far_it_is(world: dict[str, int], anonymous: APIClient) -> None:
    (run,) = get(anonymous, "runs/")["results"]
    assert (run["state"], run["trials_total"], run["trials_done"], run["trials_failed"]) == ("running", 8, 1, 1)
    assert run["agents"] == ["db1"]
    assert run["links"]["page"] == f"http://testserver/runs/{world['run']}/"
    assert get(anonymous, run["links"]["self"])["run"] == run


@pytest.mark.parametrize(
    ("query", "count"),
    [({"state": "running"}, 1), ({"state": "finished"}, 0), ({"workload": "pgbench"}, 1), ({"plan": 0}, 0)],
)
def test_runs_are_filtered(query: dict[str, Any], count: int, world: dict[str, int], anonymous: APIClient) -> None:
    assert len(get(anonymous, "runs/", **query)["results"]) == count


def test_a_run_shows_its_matrix(world: dict[str, int], anonymous: APIClient) -> None:
    run = get(anonymous, f"runs/{world['run']}/")
    assert [factor["name"] for factor in run["factors"]] == ["installation", "clients"]
    cells = {cell["trial_id"]: cell for row in run["configurations"] for cell in row["cells"]}
    assert len(cells) == 8
    assert (cells[world["done"]]["state"], cells[world["done"]]["value"] > 1000) == ("done", True)
    assert (cells[world["failed"]]["error"], cells[world["failed"]]["value"]) == ("pgbench was aborted.", None)
    assert run["metric"]["unit"] == "tps"
    assert 'name = "16 against 18"' in run["toml"]


def test_a_large_run_shows_the_trials_that_run(
    world: dict[str, int], anonymous: APIClient, monkeypatch: pytest.MonkeyPatch
) -> None:
    address = f"/api/v1/runs/{world['run']}/"
    assert anonymous.get(address).data["whole"]
    monkeypatch.setattr("webapp.api.runs.MOST_CELLS", 1)
    run = anonymous.get(address).data
    cells = [cell for row in run["configurations"] for cell in row["cells"]]
    assert not run["whole"] and {cell["state"] for cell in cells} <= {"running"}
    assert sum(row["trials"] for row in run["configurations"]) == run["run"]["trials_total"]


def test_a_median_can_be_followed_to_its_raw_output(bundles: Path, anonymous: APIClient) -> None:
    run = factories.run(factors={}, installation="16")
    for trial in run.trials.all():
        factories.finish(trial, 1000.0 + trial.block, bundles=bundles)
    content = get(anonymous, f"runs/{run.pk}/medians/", metric="tps")
    (median,) = content["results"]
    assert (median["metric"], median["unit"], median["median"], median["n"]) == ("tps", "tps", 1001.5, 2)
    trials = content["facts"]["trials"]
    assert [str(id_) for id_ in median["trial_ids"]] == list(trials)
    raw = io.BytesIO(getvalue(anonymous.get(trials[str(median["trial_ids"][0])]["links"]["bundle"])))
    with tarfile.open(fileobj=raw, mode="r:gz") as archive:
        assert archive.getnames() == list(factories.RAW_FILES)
    assert len(get(anonymous, f"runs/{run.pk}/medians/")["results"]) == 4


def test_trials_are_filtered_by_run_and_state(world: dict[str, int], anonymous: APIClient) -> None:
    other = factories.run()
    assert {t["run_id"] for t in get(anonymous, "trials/", run=other.pk)["results"]} == {other.pk}
    (failed,) = get(anonymous, "trials/", state="failed")["results"]
    assert (failed["id"], failed["error"], failed["value"]) == (world["failed"], "pgbench was aborted.", None)
    (done,) = get(anonymous, "trials/", state="done")["results"]
    assert (done["metric"], done["unit"], done["bundle"]) == ("tps", "tps", True)


def test_a_trial_says_everything(world: dict[str, int], anonymous: APIClient) -> None:
    trial = get(anonymous, f"trials/{world['done']}/")
    assert trial["counted"] is True
    assert trial["attempt"]["commands"][0]["command"] == "pgbench -c 1 -T 5 'bench'"
    assert {(m["metric"], m["unit"]) for m in trial["measurements"]} == {
        ("tps", "tps"),
        ("latency.p99", "us"),
        ("cpu.user", "%"),
    }
    contents = {layer["kind"]: layer["content"] for layer in trial["layers"]}
    assert contents == {"settings": {"shared_buffers": "128MB"}, "data": {"items": 200, "workload": "tpcc"}}
    failed = get(anonymous, f"trials/{world['failed']}/", attempt=1)
    assert (failed["counted"], failed["error"]["what"]) == (False, "pgbench was aborted.")
    assert get(anonymous, f"trials/{world['done']}/", 404, attempt=7)["error"]["kind"] == "not-found"
    assert get(anonymous, f"trials/{world['done']}/", 400, attempt="x")["error"]["problems"][0]["field"] == "attempt"


def test_a_gap_in_a_series_is_null(world: dict[str, int], anonymous: APIClient) -> None:
    content = get(anonymous, f"trials/{world['done']}/series/", name="tps")
    (series,) = content["results"]
    assert (series["unit"], series["start_s"], series["step_s"], series["times_s"]) == ("tps", 0, 1, [])
    assert [value is None for value in series["values"]] == [False, False, True, False, False]
    assert len(get(anonymous, f"trials/{world['done']}/series/")["results"]) == 2
    assert get(anonymous, f"trials/{world['waiting']}/series/", 404)["error"]["kind"] == "not-found"


def test_documents_are_shown_by_kind(world: dict[str, int], anonymous: APIClient) -> None:
    (content,) = get(anonymous, f"trials/{world['done']}/documents/?kind=plan")["results"]
    plan = [{"Plan": {"Node Type": "Seq Scan"}}]
    assert content == {"kind": "plan", "node": "", "label": "q1", "content": plan}
    assert get(anonymous, f"trials/{world['done']}/documents/?kind=capability")["results"] == []


def test_histograms_are_exact(world: dict[str, int], anonymous: APIClient) -> None:
    (content,) = get(anonymous, f"trials/{world['done']}/histograms/")["results"]
    assert (content["unit"], content["total"], content["latencies_us"], content["counts"]) == (
        "us",
        100,
        [400, 500, 900],
        [5, 90, 5],
    )


def test_measurements_are_of_counted_attempts_only(world: dict[str, int], anonymous: APIClient) -> None:
    (tps,) = get(anonymous, "measurements/", metric="tps")["results"]
    assert (tps["trial_id"], tps["run_id"], tps["unit"]) == (world["done"], world["run"], "tps")
    assert tps["links"]["bundle"] == f"http://testserver/api/v1/trials/{world['done']}/bundle/"
    assert get(anonymous, "measurements/", trial=world["failed"])["results"] == []
    assert len(get(anonymous, "measurements/", run=world["run"], node="client")["results"]) == 2


def test_the_comparison_is_that_of_the_page(anonymous: APIClient) -> None:
    run = factories.finished_run()
    content = get(anonymous, f"comparison/?run={run.pk}&baseline=postgresql-18.1&filter.clients=4")
    assert (content["selection"]["x"], content["selection"]["series"]) == ("clients", "installation")
    assert content["selection"]["filters"] == {"clients": ["4"]}
    points = content["points"]
    assert (points["series"], content["series"]) == ([0, 1], ["postgresql-16.9", "postgresql-18.1"])
    assert (points["value"], content["metric"]["unit"]) == ([4001.5, 4501.5], "tps")
    assert points["ratio"] == [pytest.approx(4001.5 / 4501.5, rel=1e-5), 1]
    assert points["values"] == [[4001, 4002], [4501, 4502]]
    assert content["links"]["page"].startswith("http://testserver/compare/?")
    again = get(anonymous, content["links"]["self"])
    assert (again["points"], again["selection"]) == (content["points"], content["selection"])


def test_an_unknown_dimension_is_named(anonymous: APIClient) -> None:
    run = factories.finished_run(replicates=1)
    error = get(anonymous, f"comparison/?run={run.pk}&x=colour", 400)["error"]
    assert (error["where"], "'colour'" in error["what"], error["todo"]) == ("x", True, "Did you mean collectors?")


def test_agents_show_no_key(anonymous: APIClient) -> None:
    agent = factories.agent()
    models.Agent.objects.filter(pk=agent.pk).update(host_key="ssh-ed25519 AAAA")
    (shown,) = get(anonymous, "agents/")["results"]
    assert (shown["name"], shown["state"], shown["busy"], shown["cores"]) == ("db1", "ready", None, 2)
    assert "host_key" not in shown
    assert "AAAA" not in anonymous.get(f"{API}/agents/db1/").content.decode()
    assert [layer["kind"] for layer in get(anonymous, "agents/db1/")["layers"]] == ["hardware", "kernel"]


def test_installations_are_filtered_by_agent(anonymous: APIClient) -> None:
    factories.agent("db1"), factories.agent("db2", {"17.1": 170001})
    assert [i["version"] for i in get(anonymous, "installations/", agent="db2")["results"]] == ["17.1"]
    assert len(get(anonymous, "installations/", present="true")["results"]) == 3


def test_a_plan_goes_out_as_toml(world: dict[str, int], anonymous: APIClient) -> None:
    answer = anonymous.get(f"{API}/plans/{world['plan']}.toml", headers={"accept": "application/toml"})
    assert answer.headers["Content-Type"] == "application/toml; charset=utf-8"
    assert answer.content.decode() == models.Plan.objects.get(pk=world["plan"]).toml
    (plan,) = get(anonymous, "plans/")["results"]
    assert (plan["name"], plan["runs"], plan["last_run_id"]) == ("16 against 18", 1, world["run"])
    assert get(anonymous, f"plans/{world['plan']}/")["run_ids"] == [world["run"]]


def test_kinds_declare_their_parameters(anonymous: APIClient) -> None:
    content = get(anonymous, "kinds/")
    pgbench = next(workload for workload in content["workloads"] if workload["name"] == "pgbench")
    clients = next(parameter for parameter in pgbench["parameters"] if parameter["name"] == "clients")
    assert (clients["kind"], clients["default"], clients["minimum"]) == ("integer", 1, 1)
    assert {"duration_s", "installation"} <= {parameter["name"] for parameter in content["conditions"]}


def test_metrics_say_what_they_mean(world: dict[str, int], anonymous: APIClient) -> None:
    assert {"name": "tps", "unit": "tps", "better": "higher"}.items() <= get(anonymous, "metrics/")["results"][
        -1
    ].items()


def test_a_raw_file_is_sent_as_it_is(world: dict[str, int], anonymous: APIClient) -> None:
    answer = anonymous.get(f"{API}/trials/{world['done']}/files/workload/stdout.txt")
    assert answer.content == factories.RAW_FILES["workload/stdout.txt"]
    assert answer.headers["Content-Type"] == "text/plain; charset=utf-8"
    assert answer.headers["Content-Disposition"].startswith("attachment")


@pytest.mark.parametrize("name", ["../../secret.txt", "..%2F..%2Fsecret.txt", "/etc/passwd", "workload", "nothing.txt"])
def test_no_name_leads_out_of_the_bundle(name: str, world: dict[str, int], bundles: Path, anonymous: APIClient) -> None:
    (bundles / "secret.txt").write_text("secret")
    answer = anonymous.get(f"{API}/trials/{world['done']}/files/{name}")
    assert answer.status_code == 404
    assert b"secret\n" not in answer.content


def test_no_archive_outside_the_bundle_folder_is_sent(
    world: dict[str, int], bundles: Path, anonymous: APIClient, tmp_path_factory: pytest.TempPathFactory
) -> None:
    outside = tmp_path_factory.mktemp("outside") / "x.tar.gz"
    outside.write_bytes(b"outside")
    for path in (str(outside), f"../{outside.parent.name}/x.tar.gz", "gone.tar.gz"):
        models.Attempt.objects.filter(trial=world["done"]).update(bundle=path)
        error = get(anonymous, f"trials/{world['done']}/bundle/", 400)["error"]
        assert (error["kind"], error["where"]) == ("ingest", path)
        assert error["todo"].startswith("Restore it" if path == "gone.tar.gz" else "Correct the attempt's row")
    models.Attempt.objects.filter(trial=world["done"]).update(bundle="")
    error = get(anonymous, f"trials/{world['done']}/bundle/", 404)["error"]
    assert (error["kind"], error["what"]) == ("not-found", "No raw files are kept of this attempt.")


@pytest.mark.parametrize(
    "path", ["runs/0/", "runs/0/medians/", "trials/0/", "plans/0/", "plans/0.toml", "agents/gone/"]
)
def test_what_is_not_there_is_404_in_the_one_shape(path: str, anonymous: APIClient) -> None:
    error = get(anonymous, path, 404)["error"]
    assert (error["kind"], set(error)) == ("not-found", {"kind", "what", "where", "why", "todo", "retryable"})
    assert error["what"]


@pytest.mark.parametrize(
    "path",
    [
        "runs/99999999999999999999/",
        "trials/99999999999999999999/series/",
        "plans/99999999999999999999/",
        "runs/?cursor=nonsense",
        "nothing/",
        "nothing",
    ],
)
def test_nonsense_is_404_in_the_one_shape(path: str, anonymous: APIClient) -> None:
    assert get(anonymous, path, 404)["error"]["kind"] == "not-found"


@pytest.mark.parametrize(
    "path",
    [
        "runs/?state=%00",
        "runs/{run}/medians/?metric=%00",
        "trials/{done}/series/?name=%00",
        "agents/%00/",
        "measurements/?run=x",
        "trials/?state=dnoe",
        "comparison/?run={run}&filter.clients=%00",
        "comparison/?run={run}&node=%00",
        "comparison/?run=x",
        "trials/{done}/files/%00",
    ],
)
def test_a_parameter_that_is_not_right_is_400(path: str, world: dict[str, int], anonymous: APIClient) -> None:
    assert get(anonymous, path.format(**world), 400)["error"]["what"]


def test_an_address_without_its_last_slash_is_mended(world: dict[str, int], anonymous: APIClient) -> None:
    answer = anonymous.get(f"{API}/runs/{world['run']}/medians?metric=tps")
    assert (answer.status_code, answer.headers["Location"]) == (301, f"{API}/runs/{world['run']}/medians/?metric=tps")


def test_the_entrance_names_the_resources(anonymous: APIClient) -> None:
    links = get(anonymous, "")["links"]
    assert links["runs"] == "http://testserver/api/v1/runs/"
