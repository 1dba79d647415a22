"""Run one command on an agent in a process of its own, and print by how much that process grew.

python -m tests.live.peak <JSON: address, method, words>
"""

from __future__ import annotations

import asyncio
import json
import resource
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from results.domain.errors import TeitenError
from workers.remote.address import Address
from workers.remote.connection import connected

MIB = 1024**2


async def _run(address: Address, method: str, words: list[str], folder: str) -> dict[str, Any]:
    async with connected(address) as remote:
        await remote.run("true")
        before = _peak_bytes()
        error: Mapping[str, Any] = {}
        try:
            if method == "fetch":
                await remote.fetch(words[0], Path(folder, "fetched"))
            elif method == "fetch_folder":
                await remote.fetch_folder(words[0], lambda path: Path(folder, path.replace("/", "-")))
            else:
                await getattr(remote, method)(*words)
        except TeitenError as raised:
            error = raised.as_dict()
        return {"error": error, "grown_bytes": _peak_bytes() - before, "peak_bytes": _peak_bytes()}


def _peak_bytes() -> int:
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024


if __name__ == "__main__":
    request = json.loads(sys.argv[1])
    address = Address(**request["address"])
    sys.stdout.write(json.dumps(asyncio.run(_run(address, request["method"], request["words"], request["folder"]))))
