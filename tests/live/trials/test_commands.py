"""manage.py for people who script, against a real agent and a real worker."""

from __future__ import annotations

import io
import os
import pwd
import subprocess
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
import tomli_w
from django.core.management import CommandError, call_command

from bootstrap.system import redis_server
from results import models
from tests import restarting
from tests.bootstrap.demos import free_port
from tests.live.trials.conftest import PLAN, agent_fields, wait_for
from webapp.management import exposure
from workers.remote.address import Address

Start = Callable[[], subprocess.Popen[bytes]]


def output_of(*command: str) -> str:
    out = io.StringIO()
    call_command(*command, stdout=out, stderr=out)
    return out.getvalue()


def plan_file(folder: Path, **changes: object) -> str:
    path = folder / "plan.toml"
    path.write_text(tomli_w.dumps(PLAN | {"duration_s": 1} | changes))
    return str(path)


def test_run_plan_shows_each_trial_and_a_table(worker: Start, tmp_path: Path) -> None:
    worker()
    text = output_of("run_plan", plan_file(tmp_path, factors={"clients": [1, 2]}))
    assert text.count(" tps\n") == 2
    assert "median" in text
    assert models.Trial.objects.filter(state="done").count() == 2


def test_run_plan_ends_with_1_when_a_trial_failed(worker: Start, tmp_path: Path) -> None:
    worker()
    path = plan_file(tmp_path, settings={"shared_preload_libraries": "no_such_library"})
    with pytest.raises(CommandError, match="1 trials have no result") as ended:
        output_of("run_plan", path)
    assert ended.value.returncode == 1


def test_run_plan_names_every_problem_of_the_file(agent: models.Agent, tmp_path: Path) -> None:
    with pytest.raises(CommandError) as refused:
        output_of("run_plan", plan_file(tmp_path, replicate=1, duration_s="long"))
    assert "replicate: There is no key 'replicate' in a plan." in str(refused.value)
    assert "duration_s: 'long' is not a number." in str(refused.value)
    assert not models.Run.objects.exists()


@pytest.mark.django_db
def test_an_agent_is_added_accepted_and_listed(address: Address) -> None:
    fields = agent_fields(address)
    options = [
        "--host",
        fields["host"],
        "--port",
        str(fields["port"]),
        "--user",
        fields["user"],
        "--key",
        fields["key_path"],
    ]
    options += ["--data-dir", fields["data_dir"], "--work-dir", fields["work_dir"]]
    options += [word for folder in fields["search"] for word in ("--search", folder)]
    offered = output_of("agents", "add", "one", *options)
    fingerprint = offered.split("host key ")[1].split()[0]
    with pytest.raises(CommandError, match="not the fingerprint"):
        output_of("agents", "accept", "one", "SHA256:other")
    listed = output_of("agents", "accept", "one", fingerprint)
    assert "ready" in listed
    assert "16." in listed


def test_doctor_names_what_is_missing_and_how_to_mend_it(agent: models.Agent) -> None:
    out = io.StringIO()
    with pytest.raises(CommandError):
        call_command("doctor", stdout=out)
    text = out.getvalue()
    assert "workers: none answers: start" in text
    assert "beat: has not been heard of" in text
    assert "warehouse: migrations are complete" in text
    assert "ok    warehouse: asks for a password" in text
    assert "ok    Redis: asks for a password" in text
    assert "an account of its own" not in text or os.geteuid() != 0


def test_doctor_names_what_an_agents_jobs_could_reach(agent: models.Agent, tmp_path: Path) -> None:
    own = pwd.getpwuid(os.geteuid()).pw_name
    (tmp_path / "key").write_text("")
    (tmp_path / "key").chmod(0o644)
    models.Agent.objects.update(user=own, key_path=str(tmp_path / "key"))
    out = io.StringIO()
    with pytest.raises(CommandError):
        call_command("doctor", stdout=out)
    text = out.getvalue()
    assert f"live: is this machine, and its account {own} is Teiten's own" in text
    assert f"live: others may use its key {tmp_path}/key (mode 044 too much): chmod 600" in text


def test_doctor_sees_an_agent_that_shares_the_warehouses_account(agent: models.Agent) -> None:
    account = exposure._account_of_warehouse()
    assert account is not None
    models.Agent.objects.update(user=account)
    [finding] = list(exposure.agents(models.Agent.objects.all()))
    assert not finding[0]
    assert f"its account {account} is" in finding[1]
    models.Agent.objects.update(user="someone-else")
    assert list(exposure.agents(models.Agent.objects.all())) == []
    models.Agent.objects.update(user=account, host="192.0.2.1")
    assert list(exposure.agents(models.Agent.objects.all())) == []


def test_doctor_sees_a_redis_and_a_warehouse_without_password(
    db: None, settings: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    port = free_port()
    words = [redis_server(), "--port", str(port), "--bind", "127.0.0.1", "--save", "", "--dir", str(tmp_path)]
    with subprocess.Popen(words, stdout=subprocess.DEVNULL) as server:
        settings.CELERY_BROKER_URL = f"redis://:useless@127.0.0.1:{port}/0"
        try:
            wait_for(lambda: "lets anybody in" in str(list(exposure.queue())))
        finally:
            server.terminate()
    assert "cannot be reached" in str(list(exposure.queue()))
    with restarting.made() as open_to_all:
        monkeypatch.setattr(exposure, "connection", SimpleNamespace(settings_dict=open_to_all.settings))
        assert "scram-sha-256" in str(list(exposure.warehouse()))


def test_doctor_sees_an_agent_that_is_out_of_reach(agent: models.Agent) -> None:
    models.Agent.objects.update(port=1)
    out = io.StringIO()
    with pytest.raises(CommandError):
        call_command("doctor", stdout=out)
    assert "127.0.0.1" in out.getvalue().split("mend  agents: live")[1]


def test_reingest_check_passes_and_then_reports_a_changed_number(worker: Start, tmp_path: Path) -> None:
    worker()
    output_of("run_plan", plan_file(tmp_path))
    assert "0 differences" in output_of("reingest", "--check")
    models.Measurement.objects.filter(metric_id="tps", label="").update(value=12345)
    with pytest.raises(CommandError, match="differ"):
        output_of("reingest", "--check")
