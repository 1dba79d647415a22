"""Files → one archive that depends on their names and contents alone. Pure but for the streams that it is given."""

from __future__ import annotations

import gzip
import io
import tarfile
from collections.abc import Iterable, Mapping
from typing import IO

COMPRESSION = 6


def pack(content: Mapping[str, bytes]) -> bytes:
    """Return a .tar.gz of these files: name → content."""
    buffer = io.BytesIO()
    pack_streams(((name, len(data), io.BytesIO(data)) for name, data in content.items()), buffer)
    return buffer.getvalue()


def pack_streams(files: Iterable[tuple[str, int, IO[bytes]]], target: IO[bytes]) -> None:
    """Write a .tar.gz of these files, in chunks: the same bytes as `pack`. Raises OSError where a file has shrunk.

    files: name, size in bytes, content
    """
    with (
        gzip.GzipFile(fileobj=target, filename="", mode="wb", mtime=0, compresslevel=COMPRESSION) as stream,
        tarfile.open(fileobj=stream, mode="w", format=tarfile.PAX_FORMAT) as archive,
    ):
        for name, size_bytes, content in files:
            entry = tarfile.TarInfo(name)
            entry.size = size_bytes
            archive.addfile(entry, content)
