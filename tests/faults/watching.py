"""What the agents' own processes and folders say: which attempts work there, and what is left."""

from __future__ import annotations

import threading
from collections import defaultdict
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

from workers.remote.address import Address

_MARK = "TEITEN_JOB="


def jobs() -> dict[int, Path]:
    """Process → folder of the job that it belongs to, by its environment, as the agent's own supervisor finds it."""
    folders = {}
    for folder in Path("/proc").iterdir():
        if folder.name.isdigit():
            try:
                words = (folder / "environ").read_bytes().split(b"\0")
            except OSError:  # it has ended
                continue
            marks = [word for word in words if word.startswith(_MARK.encode())]
            if marks:
                folders[int(folder.name)] = Path(marks[0].decode().removeprefix(_MARK))
    return folders


def jobs_of(agents: Sequence[Address]) -> list[int]:
    """The processes of all jobs on these agents, and the supervisors that write down how the jobs end."""
    folders = jobs() | _supervised()
    return [pid for pid, folder in folders.items() if _is_of(folder, agents)]


def _supervised() -> dict[int, Path]:
    """Supervisor → folder of its job, from its command line: `job_start.sh` has the words."""
    folders = {}
    for file in Path("/proc").glob("[0-9]*/cmdline"):
        try:
            words = file.read_bytes().split(b"\0")
        except OSError:  # it has ended
            continue
        if words[3:4] == [b"teiten-job"]:
            folders[int(file.parent.name)] = Path(words[4].decode())
    return folders


@contextmanager
def watched(agents: Sequence[Address]) -> Iterator[dict[str, set[frozenset[str]]]]:
    """Looks all the time which attempts have jobs that run on each agent: agent → the sets of attempts that were seen
    at one moment."""
    seen: dict[str, set[frozenset[str]]] = defaultdict(set)
    ending = threading.Event()

    def look() -> None:
        while not ending.wait(0.2):
            folders = set(jobs().values())
            for agent in agents:
                here = Path(agent.work_dir, "jobs")
                seen[agent.name].add(
                    frozenset(one.relative_to(here).parts[0] for one in folders if here in one.parents)
                )

    thread = threading.Thread(target=look)
    thread.start()
    try:
        yield seen
    finally:
        ending.set()
        thread.join()


def left_behind(agents: Sequence[Address]) -> list[str]:
    """Jobs, their folders, servers and host settings that are left on the agents."""
    left = [f"process {pid} of {folder}" for pid, folder in jobs().items() if _is_of(folder, agents)]
    for agent in agents:
        for folder in ("jobs", "host"):
            left += [str(one) for one in Path(agent.work_dir, folder).glob("*")]
        left += [str(one) for one in Path(agent.data_dir).glob("clusters/*/data/postmaster.pid") if _runs(one)]
        left += [str(one) for one in Path(agent.work_dir).parent.glob(f"gates/set-{agent.name}")]
    return left


def servers(agent: Address) -> list[int]:
    """The postmasters that run in an agent's clusters."""
    files = [file for file in Path(agent.data_dir).glob("clusters/*/data/postmaster.pid") if _runs(file)]
    return [int(file.read_text().split()[0]) for file in files]


def _runs(file: Path) -> bool:
    try:
        process = Path("/proc", file.read_text().split()[0])
        return (process / "cwd").resolve() == file.parent.resolve()
    except (OSError, IndexError):
        return False


def _is_of(folder: Path, agents: Sequence[Address]) -> bool:
    return any(Path(agent.work_dir) in folder.parents for agent in agents)
