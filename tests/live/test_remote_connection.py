"""Commands, files and host keys over a real sshd."""

from __future__ import annotations

import asyncio
import hashlib
import os
import subprocess
from dataclasses import replace
from pathlib import Path

import pytest

from results.domain.errors import AgentError, CommandError, HostKeyError
from workers.remote.address import Address
from workers.remote.connection import Remote, connected, host_key_of

SESSION_OF = """
process=$PPID
until case $(cat "/proc/$process/comm") in sshd*) true ;; *) false ;; esac
do process=$(awk '/^PPid/ { print $2 }' "/proc/$process/status")
done
echo "$process"
"""


async def cut(remote: Remote) -> None:
    """Ends the agent's side of the connection, as a crash would."""
    session = (await remote.script(SESSION_OF)).stdout.strip()
    async with connected(remote.address) as other:
        await other.run("kill", "-s", "KILL", session)


async def fetch_folder(remote: Remote, folder: str, target: Path) -> dict[str, Path]:
    """Copy all files below the agent's folder; return path there → file here."""
    files: dict[str, Path] = {}

    def target_of(path: str) -> Path:
        files[path] = target / str(len(files))
        return files[path]

    await remote.fetch_folder(folder, target_of)
    return files


async def test_a_value_with_quotes_and_a_substitution_arrives_as_it_was_sent(remote: Remote, address: Address):
    witness = f"{address.work_dir}/pwned"
    value = f"a'b\" $(touch {witness}) `touch {witness}`; touch {witness} \\ \n é"
    assert (await remote.run("printf", "%s", value)).stdout == value
    assert (await remote.script('printf %s "$1"', value)).stdout == value
    assert (await remote.run("sh", "-c", 'printf %s "$VALUE"', env={"VALUE": value})).stdout == value
    assert (await remote.run("cat", stdin=value)).stdout == value
    assert (await remote.run("test", "-e", witness, check=False)).exit_status == 1


async def test_a_script_is_not_swallowed_by_its_own_commands(remote: Remote):
    assert (await remote.script("cat\necho after")).stdout == "after\n"


async def test_commands_run_in_a_known_locale(remote: Remote):
    assert (await remote.run("sh", "-c", "echo $LC_ALL")).stdout == "C.UTF-8\n"


async def test_a_failed_command_carries_its_status_and_output(remote: Remote):
    with pytest.raises(CommandError) as raised:
        await remote.script("echo said; echo complained >&2; exit 7")
    error = raised.value
    assert (error.exit_status, error.stdout, error.stderr) == (7, "said\n", "complained\n")
    assert "complained" in str(error)
    assert remote.address.place in str(error)


async def test_a_command_ended_by_a_signal_says_which(remote: Remote):
    with pytest.raises(CommandError, match="KILL"):
        await remote.script("kill -s KILL $$")


async def test_a_command_that_ends_without_reading_its_input_is_no_lost_connection(remote: Remote):
    """As psql does that finds no server. What a busy worker hears late it hears all at once: the end of the command
    as well as its beginning."""

    async def busy() -> None:
        while True:
            hashlib.pbkdf2_hmac("sha256", b"", b"", 50_000)
            await asyncio.sleep(0)

    others = asyncio.create_task(busy())
    try:
        for _ in range(20):
            result = await remote.script("echo heard; exit 3", stdin="not read", check=False)
            assert (result.exit_status, result.stdout) == (3, "heard\n")
    finally:
        others.cancel()


async def test_a_command_that_takes_too_long_is_ended(remote: Remote):
    mark = f"86{os.getpid()}"
    with pytest.raises(AgentError, match=r"within 0\.2 s"):
        await remote.run("sleep", mark, timeout_s=0.2)
    async with asyncio.timeout(60):
        while (await remote.run("pgrep", "-f", f"^sleep {mark}$", check=False)).exit_status == 0:
            await asyncio.sleep(0.05)


async def test_every_command_is_kept_in_the_log_exactly_as_run(remote: Remote):
    remote.phase, remote.node = "load", "primary"
    await remote.run("echo", "a b")
    await remote.run("false", check=False)
    first, second = remote.log[-2:]
    assert first.command == "env LC_ALL=C.UTF-8 echo 'a b'"
    assert (first.node, first.phase, first.exit_status, second.exit_status) == ("primary", "load", 0, 1)


async def test_an_unknown_host_key_is_refused_with_its_fingerprint(address: Address):
    shown = await host_key_of(address)
    assert shown.line == " ".join(address.host_key.split()[:2])
    with pytest.raises(HostKeyError, match="not been accepted") as raised:
        async with connected(replace(address, host_key="")):
            pass
    assert raised.value.fingerprint == shown.fingerprint
    assert not raised.value.retryable


@pytest.mark.parametrize("kind", ["ed25519", "ecdsa"])
async def test_a_changed_host_key_names_both_fingerprints(address: Address, tmp_path: Path, kind: str):
    subprocess.run(["ssh-keygen", "-q", "-t", kind, "-N", "", "-f", tmp_path / "other"], check=True)
    other = (tmp_path / "other.pub").read_text()
    known = subprocess.run(["ssh-keygen", "-lf", tmp_path / "other.pub"], check=True, capture_output=True, text=True)
    with pytest.raises(HostKeyError, match="host key has changed") as raised:
        async with connected(replace(address, host_key=other)):
            pass
    shown = await host_key_of(address)
    assert raised.value.fingerprint == shown.fingerprint
    assert shown.fingerprint in raised.value.why
    assert known.stdout.split()[1] in raised.value.why


async def test_an_agent_is_reached_through_its_jump_host(address: Address):
    behind = replace(address, name="behind", jump=address)
    assert (await host_key_of(behind)).line in address.host_key
    async with connected(behind) as remote:
        assert (await remote.run("echo", "through")).stdout == "through\n"


async def test_the_jump_hosts_key_is_checked_too(address: Address):
    with pytest.raises(HostKeyError) as raised:
        async with connected(replace(address, name="behind", jump=replace(address, name="door", host_key=""))):
            pass
    assert "door" in raised.value.where


async def test_what_keeps_an_agent_from_being_reached_is_told_apart(address: Address, tmp_path: Path):
    subprocess.run(["ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", tmp_path / "stranger"], check=True)
    cases = {
        "cannot be reached": (replace(address, port=1), True),
        "refuses the login": (replace(address, key_path=str(tmp_path / "stranger")), False),
        "cannot be used": (replace(address, key_path=str(tmp_path / "absent")), False),
    }
    for words, (wrong, retryable) in cases.items():
        with pytest.raises(AgentError, match=words) as raised:
            async with connected(wrong):
                pass
        assert raised.value.retryable is retryable
        assert raised.value.todo


@pytest.mark.parametrize(("mode", "owner"), [(0o640, None), (0o604, None), (0o620, None), (0o600, 12345)])
async def test_a_key_that_others_can_read_or_replace_is_refused(
    address: Address, tmp_path: Path, mode: int, owner: int | None
):
    if owner is not None and os.geteuid() != 0:
        pytest.skip("only root can give a file away")
    key = tmp_path / "key"
    key.write_bytes(Path(address.key_path).read_bytes())
    key.chmod(0o600)
    exposed = replace(address, key_path=str(key))
    async with connected(exposed) as remote:
        assert (await remote.run("echo", "in")).stdout == "in\n"
    key.chmod(mode)
    if owner is not None:
        os.chown(key, owner, -1)
    with pytest.raises(AgentError, match="is refused") as raised:
        async with connected(exposed):
            pass
    assert (f"{mode:04o}" if owner is None else "user 12345") in raised.value.why
    assert str(key) in raised.value.todo
    assert not raised.value.retryable


async def test_an_agent_that_does_not_answer_is_given_up(address: Address):
    async def say_nothing(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.read()
        writer.close()

    server = await asyncio.start_server(say_nothing, "127.0.0.1", 0)
    port = server.sockets[0].getsockname()[1]
    async with server:
        with pytest.raises(AgentError, match="did not answer within") as raised:
            async with connected(replace(address, host="127.0.0.1", port=port), timeout_s=0.3):
                pass
    assert raised.value.retryable


async def test_a_connection_lost_in_a_command_may_be_tried_again(remote: Remote):
    mark = f"60.{os.getpid()}"
    running = asyncio.create_task(remote.run("sleep", mark))
    await cut(remote)
    with pytest.raises(AgentError, match="lost") as raised:
        await running
    assert raised.value.retryable
    assert (await remote.run("echo", "back")).stdout == "back\n"
    await remote.run("pkill", "-f", f"^sleep {mark}$", check=False)  # sshd leaves it running


async def test_files_go_and_come_back_unchanged(remote: Remote, address: Address, tmp_path: Path):
    root = f"{address.work_dir}/files-{os.getpid()}"
    content = {"a": b"\0\xff\n", "sub/it's $(odd)": "é".encode(), "empty": b""}
    for name, data in content.items():
        await remote.put(f"{root}/{name}", data)
    fetched = await fetch_folder(remote, root, tmp_path)
    assert {path: file.read_bytes() for path, file in fetched.items()} == content
    assert await remote.get(f"{root}/a") == content["a"]
    await remote.remove(root)
    with pytest.raises(CommandError, match="No such file"):
        await remote.get(f"{root}/a")


@pytest.mark.parametrize("path", ["/", "/etc", "{work}", "{work}/../data-of-others", "{work}-else/x", "relative"])
async def test_nothing_outside_teitens_directories_is_removed(remote: Remote, address: Address, path: str):
    with pytest.raises(AgentError, match="Refused to remove"):
        await remote.remove(path.format(work=address.work_dir))


async def test_the_clock_of_the_same_machine_has_no_offset(remote: Remote):
    offset_s, uncertainty_s = await remote.clock_offset()
    assert abs(offset_s) <= uncertainty_s + 0.005
    assert 0 < uncertainty_s < 1
