"""What a process keeps of a large answer."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterable
from typing import Any

from webapp.memory import GivingBack

# 200,000 blocks of a kilobyte, of which one in 500 outlives the answer and keeps the others' memory from going back.
LARGE = """
import ctypes
from webapp import memory

ctypes.CDLL(None).mallopt(-8, 1)  # one arena, as gunicorn.conf.py has it
kept = []

def application(environ, start_response):
    class Answer(list):
        def close(self):
            self.clear()
    blocks = [bytes(1000) for _ in range(200_000)]
    kept.extend(blocks[::500])
    return Answer(blocks)

served = memory.GivingBack(application) if {giving_back} else application
before = memory._resident()
answer = served({{}}, None)
sent = sum(map(len, answer))
made = memory._resident()
answer.close()
del answer
print(sent, (made - before) // 1_000_000, (memory._resident() - before) // 1_000_000)
"""


def left(giving_back: bool) -> tuple[int, int, int]:
    script = LARGE.format(giving_back=giving_back)
    shown = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    sent, made, after = map(int, shown.stdout.split())
    return sent, made, after


def test_the_memory_of_a_large_answer_goes_back_to_the_system_though_something_of_it_is_kept() -> None:
    sent, made, after = left(giving_back=True)
    assert sent == 200_000_000
    assert made > 180 and after < made / 4
    assert left(giving_back=False)[2] > made / 2


def test_an_answer_is_closed_once_and_a_file_is_left_to_the_server() -> None:
    closed = []

    class Answer(list[bytes]):
        def close(self) -> None:
            closed.append(True)

    def application(environ: dict[str, Any], start_response: Any) -> Iterable[bytes]:
        return Answer([b"a", b"b"])

    served = GivingBack(application)
    answer: Any = served({}, None)
    assert list(answer) == [b"a", b"b"]
    for _ in range(2):
        answer.close()
    assert closed == [True] and list(answer) == []
    assert isinstance(served({"wsgi.file_wrapper": Answer}, None), Answer)
