"""How much an agent may say. What an agent says is hostile until it is bounded: each limit is far above what a real
measurement needs, and far below what a worker cannot bear. Past a limit there is a named error, never a silent cut.

OUTPUT_BYTES: of each output (stdout, stderr) of a command or job, and of a file, that is held in memory. The longest in
    use are a server's statistics by table (1 kB a table) and pgbench's progress (80 bytes a second: 2.3 MB in 8 h).
FILE_BYTES: of a file that is streamed to the worker's disk. The longest in use is sar's report: 150 bytes a processor
    and second, 64 MB for 128 processors in an hour.
FOLDER_BYTES, FOLDER_FILES: of all files below a folder. Those in use have three files a client.
FACTS_BYTES: of the facts of a machine, which are some 10 kB.
LISTING_BYTES: of a list of installations, of one installation's settings and extensions (100 kB), or of clusters.
ANSWER_BYTES: of an answer that Teiten's own scripts print, such as a job's end.
INSTALLATIONS, CLUSTERS: on one agent.
SESSIONS: rows of one look at a server's sessions, of which those that are alike are one row.
"""

from __future__ import annotations

OUTPUT_BYTES = 32 * 1024**2
FILE_BYTES = 256 * 1024**2
FOLDER_BYTES = FILE_BYTES
FOLDER_FILES = 10_000
FACTS_BYTES = 1024**2
LISTING_BYTES = 4 * 1024**2
ANSWER_BYTES = 64 * 1024
INSTALLATIONS = 200
CLUSTERS = 10_000
SESSIONS = 200


def in_words(size_bytes: int) -> str:
    """Return a limit in words: '32 MiB', '64 KiB'."""
    return f"{size_bytes // 1024**2} MiB" if size_bytes >= 1024**2 else f"{size_bytes / 1024:g} KiB"
