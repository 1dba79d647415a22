"""The virtual environment: made once, made anew when its requirements change."""

from __future__ import annotations

from pathlib import Path

import pytest

from bootstrap import venv
from bootstrap.errors import BootstrapError


@pytest.fixture
def checkout(tmp_path: Path) -> Path:
    """A checkout whose requirements need no network."""
    (tmp_path / "requirements-demo.lock").write_text("# nothing\n")
    (tmp_path / "requirements-dev.lock").write_text("-r requirements-demo.lock\n")
    return tmp_path


def test_an_environment_is_made_once_and_completed_when_more_is_needed(checkout: Path) -> None:
    folder = checkout / ".venv"
    assert venv.ensure(dev=False, checkout=checkout, folder=folder)
    assert (folder / "bin" / "pip").exists()
    assert not venv.ensure(dev=False, checkout=checkout, folder=folder)
    made_at_ns = (folder / "pyvenv.cfg").stat().st_mtime_ns

    assert venv.ensure(dev=True, checkout=checkout, folder=folder)
    assert not venv.ensure(dev=False, checkout=checkout, folder=folder)

    (checkout / "requirements-demo.lock").write_text("# something else\n")
    assert venv.ensure(dev=True, checkout=checkout, folder=folder)
    assert (folder / "pyvenv.cfg").stat().st_mtime_ns == made_at_ns


def test_a_requirement_that_cannot_be_installed_is_shown_and_tried_again(checkout: Path) -> None:
    folder = checkout / ".venv"
    (checkout / "requirements-demo.lock").write_text(f"{checkout}/is-not-there.whl\n")
    for _ in range(2):
        with pytest.raises(BootstrapError, match=r"is-not-there\.whl"):
            venv.ensure(dev=False, checkout=checkout, folder=folder)
