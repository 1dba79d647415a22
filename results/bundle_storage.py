"""Django's storage `bundles`, in which finished bundles are kept: the bundle folder, unless TEITEN_BUNDLE_STORAGE names
a bucket (`results.object_storage`). What runs or arrives lies in the bundle folder in both cases, and is moved when it
is whole."""

from __future__ import annotations

import shutil
from collections.abc import Iterable, Iterator
from contextlib import AbstractContextManager, contextmanager
from pathlib import Path
from typing import Protocol, cast

from django.conf import settings
from django.core.files.storage import FileSystemStorage, storages

from results.domain.errors import IngestError
from results.domain.messages import gettext_lazy as _

UNFINISHED = "unfinished"  # below the bundle folder: what is no bundle yet
NAME = "bundles"  # in Django's STORAGES


class BundleStorage(Protocol):
    """Where bundles are. A name is that of `Attempt.bundle`, such as '12/3-1.tar.gz'.

    Each operation raises IngestError for a name that leads elsewhere, and OSError where the storage does not answer.

    in_folder: whether it is the bundle folder itself
    """

    in_folder: bool

    def place(self, path: Path, name: str) -> None:
        """Move a file of the bundle folder to its place. What is there is replaced."""

    def add(self, path: Path, name: str) -> None:
        """Copy a file to its place."""

    def write(self, name: str, data: bytes) -> None:
        """Store a bundle that is in memory."""

    def file(self, name: str) -> AbstractContextManager[Path]:
        """Give a path at which the bundle can be read inside the block; raises FileNotFoundError."""

    def exists(self, name: str) -> bool: ...
    def delete(self, name: str) -> None: ...

    def sizes(self, names: Iterable[str]) -> dict[str, int]:
        """Return the size in bytes of each of them that is there."""

    def remove_folder(self, folder: str) -> list[str]:
        """Remove a folder where it is empty; return the files that are in it."""

    def example(self) -> str:
        """Return where a file lies that is here; '' where there is none."""

    def shown(self, name: str = "") -> str:
        """Return the address of a bundle, or of all, as people are told it."""

    def require_ready(self) -> None:
        """Raise OSError where bundles cannot be read here."""

    def try_out(self) -> None:
        """Write, read and remove something. Raises OSError."""


def storage() -> BundleStorage:
    return cast(BundleStorage, storages[NAME])


def bundle_path(stored: str) -> Path:
    """Return the path of a bundle below the bundle folder, whether it is there or not.

    Raises IngestError where it leads out of the bundle folder, also by a symbolic link: whoever can write the warehouse
    is not to read or remove other files of this machine.

    stored: `Attempt.bundle`
    """
    root = Path(settings.TEITEN_BUNDLE_DIR).resolve()
    try:
        path = (root / stored).resolve() if "\0" not in stored else root
    except (OSError, RuntimeError) as error:  # to Python 3.12 a RuntimeError of links that lead in a circle
        raise IngestError(
            _("The path of this bundle leads nowhere."),
            where=stored[:200],
            why=str(error),
            todo=_("Put the file there instead of a link."),
        ) from error
    if path == root or not path.is_relative_to(root):
        raise outside(stored)
    return path


def outside(stored: str) -> IngestError:
    return IngestError(
        _("The path of this bundle leads out of the bundle folder."),
        where=stored[:200],
        why=_("Teiten stores paths below TEITEN_BUNDLE_DIR only."),
        todo=_("Correct the attempt's row in the warehouse, or put the file there instead of a link."),
    )


class BundleFolder(FileSystemStorage):
    """The bundle folder. Implements BundleStorage."""

    in_folder = True

    def path(self, name: str) -> str:
        return str(bundle_path(name))

    def place(self, path: Path, name: str) -> None:
        target = bundle_path(name)
        target.parent.mkdir(parents=True, exist_ok=True)
        path.rename(target)

    def add(self, path: Path, name: str) -> None:
        target = bundle_path(name)
        if path.resolve() != target:
            target.parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(path, target)

    def write(self, name: str, data: bytes) -> None:
        target = bundle_path(name)
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_bytes(data)

    @contextmanager
    def file(self, name: str) -> Iterator[Path]:
        path = bundle_path(name)
        if not path.is_file():
            raise FileNotFoundError(2, _("there is no such file"), str(path))
        yield path

    def delete(self, name: str) -> None:
        bundle_path(name).unlink(missing_ok=True)

    def sizes(self, names: Iterable[str]) -> dict[str, int]:
        paths = {name: bundle_path(name) for name in names}
        return {name: path.stat().st_size for name, path in paths.items() if path.is_file()}

    def remove_folder(self, folder: str) -> list[str]:
        path = bundle_path(folder)
        try:
            if not (rest := sorted(path.iterdir())):
                path.rmdir()
        except FileNotFoundError:
            return []
        return [str(file) for file in rest]

    def example(self) -> str:
        root = Path(settings.TEITEN_BUNDLE_DIR)
        path = next((path for path in root.rglob("*") if not path.is_dir() or path.is_symlink()), None)
        return str(path.relative_to(root)) if path else ""

    def shown(self, name: str = "") -> str:
        return str(bundle_path(name) if name else settings.TEITEN_BUNDLE_DIR)

    def require_ready(self) -> None:
        """Nothing: whoever asks has looked at the bundle folder."""

    try_out = require_ready
