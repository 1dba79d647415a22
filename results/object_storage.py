"""Bundles in a bucket of S3-compatible storage, by django-storages."""

from __future__ import annotations

import errno
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path, PurePosixPath
from tempfile import TemporaryFile
from typing import Any
from uuid import uuid4

from boto3.exceptions import Boto3Error
from botocore.config import Config
from botocore.exceptions import BotoCoreError, ClientError
from django.conf import settings
from django.core.exceptions import SuspiciousOperation
from django.core.files import File
from django.core.files.base import ContentFile
from storages.backends.s3 import S3Storage

from results.bundle_storage import UNFINISHED, outside

_GONE = 404


class ObjectStorage(S3Storage):
    """A bucket, or what has a prefix in one. Implements BundleStorage.

    A bundle is fetched as a whole into a file of the bundle folder that has no name any more once it is read, and never
    into memory. Keys are those that boto3 finds: of the environment, of its files, or of the machine's role.
    """

    in_folder = False

    def get_default_settings(self) -> dict[str, Any]:
        config = Config(
            connect_timeout=5,
            read_timeout=60,
            retries={"max_attempts": 3, "mode": "standard"},
            signature_version="s3v4",
            # Checksums that not every S3-compatible server knows: the warehouse has one of each bundle.
            request_checksum_calculation="when_required",
            response_checksum_validation="when_required",
        )
        fixed = {
            "client_config": config,
            "object_parameters": {"ContentType": "application/gzip"},
            "file_overwrite": True,
        }
        return {**super().get_default_settings(), **fixed}

    def place(self, path: Path, name: str) -> None:
        self.add(path, name)
        path.unlink()

    def add(self, path: Path, name: str) -> None:
        with path.open("rb") as content, self._answering(name):
            super()._save(self._inside(name), File(content))

    def write(self, name: str, data: bytes) -> None:
        with self._answering(name):
            super()._save(self._inside(name), ContentFile(data))

    @contextmanager
    def file(self, name: str) -> Iterator[Path]:
        folder = Path(settings.TEITEN_BUNDLE_DIR) / UNFINISHED
        folder.mkdir(parents=True, exist_ok=True)
        with TemporaryFile(prefix="fetched-", dir=folder) as target:
            with self._answering(name):
                self.bucket.download_fileobj(self._key(name), target)
            target.flush()
            yield Path(f"/proc/self/fd/{target.fileno()}")

    def exists(self, name: str) -> bool:
        with self._answering(name):
            return bool(super().exists(self._inside(name)))

    def delete(self, name: str) -> None:
        with self._answering(name):
            super().delete(self._inside(name))

    def sizes(self, names: Iterable[str]) -> dict[str, int]:
        """Asks by folder, a thousand objects at a time."""
        keys = {self._key(name): name for name in names}
        prefixes = {f"{PurePosixPath(key).parent}/" for key in keys}
        with self._answering():
            objects = [one for prefix in sorted(prefixes) for one in self.bucket.objects.filter(Prefix=prefix)]
        return {keys[one.key]: one.size for one in objects if one.key in keys}

    def remove_folder(self, folder: str) -> list[str]:
        with self._answering(folder):
            rest = [one.key for one in self.bucket.objects.filter(Prefix=f"{self._key(folder)}/")]
        return [f"s3://{self.bucket_name}/{key}" for key in rest]

    def example(self) -> str:
        prefix = f"{self.location.strip('/')}/" if self.location else ""
        with self._answering():
            return next((str(one.key) for one in self.bucket.objects.filter(Prefix=prefix).limit(1)), "")

    def shown(self, name: str = "") -> str:
        return f"s3://{'/'.join(part for part in (self.bucket_name, self.location.strip('/'), name) if part)}"

    def require_ready(self) -> None:
        with self._answering():
            self.connection.meta.client.head_bucket(Bucket=self.bucket_name)

    def try_out(self) -> None:
        name, content = f"teiten-doctor/{uuid4()}", b"written"
        self.write(name, content)
        try:
            with self.file(name) as path:
                if path.read_bytes() != content:
                    raise OSError(errno.EIO, "what is read is not what was written", self.shown(name))
        finally:
            self.delete(name)

    def _inside(self, name: str) -> str:
        self._key(name)
        return name

    def _key(self, name: str) -> str:
        """Return the object's key. Raises IngestError for a name that leads out of the prefix."""
        try:
            key = str(self._normalize_name(name))
        except SuspiciousOperation as error:
            raise outside(name) from error
        if not name or key != "/".join(part for part in (self.location.strip("/"), name) if part):
            raise outside(name)
        return key

    @contextmanager
    def _answering(self, name: str = "") -> Iterator[None]:
        """Raise OSError in place of the errors of boto3, FileNotFoundError for an object that is not there."""
        try:
            yield
        except ClientError as error:
            gone = error.response.get("ResponseMetadata", {}).get("HTTPStatusCode") == _GONE
            raise OSError(errno.ENOENT if gone else errno.EIO, str(error), self.shown(name)) from error
        except (BotoCoreError, Boto3Error) as error:
            raise OSError(errno.EIO, str(error), self.shown(name)) from error
