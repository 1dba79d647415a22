"""A server of S3's protocol on loopback, in a process of its own: moto's."""

from __future__ import annotations

import subprocess
import sys
import time
import urllib.error
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import boto3

from bootstrap import ports
from tests.faults.processes import free_port

BUCKET = "teiten-tests"
KEYS = {"AWS_ACCESS_KEY_ID": "tests", "AWS_SECRET_ACCESS_KEY": "tests", "AWS_DEFAULT_REGION": "us-east-1"}
_PATIENCE_S = 60


@contextmanager
def object_storage() -> Iterator[str]:
    """The server's address, with an empty bucket; it is stopped in the end."""
    port = free_port()
    words = [sys.executable, "-m", "moto.server", "--host", ports.HOST, "--port", str(port)]
    with subprocess.Popen(words, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL) as process:
        try:
            address = f"http://{ports.HOST}:{port}"
            _await(address, process)
            client(address).create_bucket(Bucket=BUCKET)
            yield address
        finally:
            process.kill()


def client(address: str) -> Any:
    names = {"aws_access_key_id": "tests", "aws_secret_access_key": "tests", "region_name": "us-east-1"}
    return boto3.client("s3", endpoint_url=address, **names)


def _await(address: str, process: subprocess.Popen[bytes]) -> None:
    deadline_s = time.monotonic() + _PATIENCE_S
    while True:
        try:
            with urllib.request.urlopen(f"{address}/moto-api/") as answer:
                assert answer.status == 200
                return
        except urllib.error.URLError:
            assert process.poll() is None and time.monotonic() < deadline_s
            time.sleep(0.1)
