"""The locks, which `make lock` writes, answer to the requirements, which people write."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

ROOT = Path(__file__).parents[2]
STEMS = ("requirements", "requirements-demo", "requirements-dev")


def direct(stem: str) -> dict[str, str]:
    """Name → version of each requirement that people wrote, those of the files that it names among them."""
    versions: dict[str, str] = {}
    for line in (ROOT / f"{stem}.txt").read_text(encoding="utf-8").splitlines():
        if line.startswith("-r "):
            versions |= direct(line.removeprefix("-r ").removesuffix(".txt"))
        elif line and not line.startswith("#"):
            requirement = Requirement(line)
            [pin] = requirement.specifier
            assert pin.operator == "=="
            versions[canonicalize_name(requirement.name)] = pin.version
    return versions


def locked(stem: str) -> dict[tuple[str, str], tuple[str, frozenset[str]]]:
    """(name, marker) → version and hashes of each entry of a lock."""
    lines = (ROOT / f"{stem}.lock").read_text(encoding="utf-8").replace("\\\n", " ").splitlines()
    entries: dict[tuple[str, str], tuple[str, frozenset[str]]] = {}
    for line in lines:
        if line and not line.startswith(("#", "--only-binary :all:")):
            requirement = Requirement(line.partition("--hash")[0].strip())
            [pin] = requirement.specifier
            assert pin.operator == "=="
            hashes = frozenset(re.findall(r"--hash=(\S+)", line))
            entries[canonicalize_name(requirement.name), str(requirement.marker or "")] = (pin.version, hashes)
    return entries


@pytest.mark.parametrize("stem", STEMS)
def test_a_lock_has_every_requirement_at_its_version(stem: str) -> None:
    versions = {name: version for (name, _), (version, _) in locked(stem).items()}
    assert len(direct(stem)) > 20
    assert {name: versions.get(name) for name in direct(stem)} == direct(stem), "make lock"


@pytest.mark.parametrize("stem", STEMS)
def test_every_entry_of_a_lock_has_hashes_and_none_names_where_it_comes_from(stem: str) -> None:
    for name, (_, hashes) in locked(stem).items():
        assert hashes, name
        assert all(re.fullmatch(r"sha256:[0-9a-f]{64}", value) for value in hashes), name
    assert "://" not in (ROOT / f"{stem}.lock").read_text(encoding="utf-8")


def test_the_smaller_locks_are_parts_of_the_larger() -> None:
    image, demo, dev = (locked(stem) for stem in STEMS)
    assert [entry for entry in image.items() if entry not in demo.items()] == []
    assert [entry for entry in demo.items() if entry not in dev.items()] == []


def test_image_and_environment_are_installed_from_the_locks_alone() -> None:
    words = "--require-hashes --no-deps"
    assert f"{words} -r requirements.lock" in (ROOT / "Dockerfile").read_text(encoding="utf-8")
    venv = (ROOT / "bootstrap" / "venv.py").read_text(encoding="utf-8")
    assert '"--require-hashes", "--no-deps"' in venv
    files = set(re.findall(r"requirements[-\w]*\.(?:lock|txt)", venv))
    assert files == {"requirements-demo.lock", "requirements-dev.lock"}
