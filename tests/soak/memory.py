"""What the fleet's processes take of memory, from one trial to the next."""

from __future__ import annotations

import statistics
from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass, field
from pathlib import Path

from tests.faults.processes import Program, children

SETTLED = 500  # trials that a process may grow for
_REFERENCE = 100  # trials whose samples are what later ones are compared with


@dataclass(frozen=True)
class Sample:
    """started: when the process was, in ticks since the machine was. trials: that had ended by then.
    kb: resident memory. threads, files: how many the process has."""

    started: int
    trials: int
    kb: int
    threads: int
    files: int


@dataclass(frozen=True)
class Growth:
    """One process from its settling on.

    trials: that ended meanwhile.
    kb: what it settled at; lowest and highest: what it took later, as a share of that.
    threads, files: the most it had later."""

    process: str
    trials: int
    kb: float
    lowest: float
    highest: float
    threads: int
    files: int


@dataclass
class Memory:
    """(part of the fleet, process, when that was started) → its samples, in their order. Numbers of processes are given
    again."""

    samples: dict[tuple[str, int, int], list[Sample]] = field(default_factory=lambda: defaultdict(list))

    def look(self, parts: Iterable[Program], trials: int) -> None:
        """A sample of each part that runs, and of its children."""
        for part in parts:
            for pid in (part.pid, *children(part.pid)):
                if sample := _sample(pid, trials):
                    self.samples[part.name, pid, sample.started].append(sample)

    def csv(self) -> str:
        """All samples, a line each."""
        lines = ["part,process,trials,kB,threads,files"]
        for (part, pid, _), samples in self.samples.items():
            lines += [f"{part},{pid},{one.trials},{one.kb},{one.threads},{one.files}" for one in samples]
        return "\n".join(lines)

    def growths(self) -> list[Growth]:
        """Of each process that ran through at least twice the trials that it may grow for."""
        return [
            _growth(f"{part} ({pid})", samples)
            for (part, pid, _), samples in self.samples.items()
            if samples[-1].trials - samples[0].trials >= 2 * SETTLED
        ]


def _sample(pid: int, trials: int) -> Sample | None:
    try:
        lines = Path(f"/proc/{pid}/status").read_text().splitlines()
        started = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[19]
        files = len(list(Path(f"/proc/{pid}/fd").iterdir()))
    except OSError:  # it has ended
        return None
    values = {name: value.split() for name, _, value in (line.partition(":") for line in lines)}
    if "VmRSS" not in values:  # it has ended, and waits for its parent
        return None
    return Sample(int(started), trials, int(values["VmRSS"][0]), int(values["Threads"][0]), files)


def _growth(process: str, samples: list[Sample]) -> Growth:
    since = samples[0].trials + SETTLED
    settled = [sample for sample in samples if sample.trials >= since]
    at = statistics.median(sample.kb for sample in settled if sample.trials <= settled[0].trials + _REFERENCE)
    return Growth(
        process,
        trials=settled[-1].trials - settled[0].trials,
        kb=at,
        lowest=min(sample.kb for sample in settled) / at,
        highest=max(sample.kb for sample in settled) / at,
        threads=max(sample.threads for sample in settled),
        files=max(sample.files for sample in settled),
    )
