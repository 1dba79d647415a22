"""Which folders of an agent Teiten may use. What a trial leaves there is removed with all below it. Pure."""

from __future__ import annotations

from collections.abc import Mapping

from results.domain.messages import gettext_lazy as _

# Folders that no work may lie in, at any depth; below the exceptions it may.
_SYSTEM = ("bin", "boot", "dev", "etc", "lib", "lib32", "lib64", "libx32", "proc", "sbin", "sys", "usr")
_EXCEPTIONS = ("/dev/shm/", "/usr/local/")  # noqa: S108
# Folders that belong to all of the machine, in which a folder for Teiten may be made.
# Named to be refused, or to be said no more than that.
_SHARED = ("/dev/shm", "/home", "/media", "/mnt", "/opt", "/root", "/run", "/srv", "/tmp", "/usr/local", "/var")  # noqa: S108
_SHARED_BELOW_VAR = ("/var/cache", "/var/lib", "/var/log", "/var/run", "/var/spool", "/var/tmp")  # noqa: S108
_UNSEARCHED = ("/dev", "/proc", "/sys")
# What Teiten makes in these folders, and removes.
_MADE = ("clusters", "wal", "tablespaces", "jobs", "probes", "host")


def problem_of_search(path: str) -> str:
    """Return why PostgreSQL cannot be looked for there; '' where it can."""
    if problem := _problem_of_path(path):
        return problem
    if any(_is_in(path, folder) for folder in _UNSEARCHED):
        return _("It holds no programs.")
    return ""


def problem_of_folder(path: str) -> str:
    """Return why Teiten may not work in a folder, and remove what it made there; '' where it may."""
    if problem := _problem_of_path(path):
        return problem
    clean = path.rstrip("/")
    if clean in (*_SHARED, *_SHARED_BELOW_VAR):
        return _(
            "It belongs to all of the machine: make a folder for Teiten in it, such as {folder}/teiten.", folder=clean
        )
    if path.split("/")[1] in _SYSTEM and not path.startswith(_EXCEPTIONS):
        return _("It belongs to the system.")
    return ""


def problem_of_folders(folders: Mapping[str, str]) -> dict[str, str]:
    """Return name → why it cannot be, of folders that lie in what Teiten makes, and removes, in another of them.

    folders: name → path, each one that `problem_of_folder` finds nothing against
    """
    return {
        name: _("It lies in {folder}, which Teiten removes things from.", folder=made)
        for name, path in folders.items()
        for home in folders.values()
        for made in (f"{home.rstrip('/')}/{folder}" for folder in _MADE)
        if _is_in(path, made)
    }


def _problem_of_path(path: str) -> str:
    parts = path.rstrip("/").split("/")
    if not path.startswith("/"):
        return _("It is not an absolute path.")
    if len(parts) < 2:
        return _("It is the whole machine.")
    if {"", ".", ".."} & set(parts[1:]):
        return _("It has an empty part, or one that is '.' or '..'.")
    return ""


def _is_in(path: str, folder: str) -> bool:
    return f"{path.rstrip('/')}/".startswith(f"{folder}/")
