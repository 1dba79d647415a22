"""What an attempt has come to is read by the worker that goes on with it as it was written."""

from __future__ import annotations

from pathlib import Path

from results.domain.measurement.parsed_trial import Check, Gap
from results.domain.messages import Message
from results.domain.messages import gettext_lazy as _
from workers import checkpoint
from workers.checkpoint import Checkpoint, SavedBundle, Step


def test_texts_for_people_keep_what_they_were_made_of(tmp_path: Path) -> None:
    gap = Gap("sar", "primary", _("{what}: {error}", what="samples", error="exit 3"))
    check = Check(_("setting {name}", name="work_mem"), "primary", "4MB", "4MB", True)
    bundle = SavedBundle("1-2-1", {}, (check,), (gap,), ())
    checkpoint.write(tmp_path / "x.checkpoint", Checkpoint(Step.CLEAN, "worker 1", 0, 10.0, bundle=bundle))
    read = checkpoint.read(tmp_path / "x.checkpoint").bundle
    assert read == bundle
    reason, name = read.gaps[0].reason, read.checks[0].name
    assert isinstance(reason, Message)
    assert isinstance(name, Message)
    assert (reason.id, name.values) == ("{what}: {error}", {"name": "work_mem"})


def test_one_without_a_bundle_is_read_as_it_was_written(tmp_path: Path) -> None:
    saved = Checkpoint(Step.STORE, "worker 1", 0, 10.0)
    checkpoint.write(tmp_path / "x.checkpoint", saved)
    assert checkpoint.read(tmp_path / "x.checkpoint") == saved
