"""Files → one archive that depends on their names and contents alone. Pure."""

from __future__ import annotations

import gzip
import io
import tarfile
from collections.abc import Mapping

COMPRESSION = 6


def pack(content: Mapping[str, bytes]) -> bytes:
    """Return a .tar.gz of these files: name → content."""
    buffer = io.BytesIO()
    with (
        gzip.GzipFile(fileobj=buffer, mode="wb", mtime=0, compresslevel=COMPRESSION) as stream,
        tarfile.open(fileobj=stream, mode="w", format=tarfile.PAX_FORMAT) as archive,
    ):
        for name, data in content.items():
            entry = tarfile.TarInfo(name)
            entry.size = len(data)
            archive.addfile(entry, io.BytesIO(data))
    return buffer.getvalue()
