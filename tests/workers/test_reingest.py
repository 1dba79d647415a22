"""manage.py reingest: it reads on after a bundle that it cannot read, and only below the bundle folder."""

from __future__ import annotations

import io
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from django.core.management import CommandError, call_command

from results import models, removal
from results.bundle_storage import bundle_path
from results.domain.errors import IngestError
from tests import hostile
from tests.measured_runs import measured_run
from workers import reingest
from workers.bundle.writer import checksum

pytestmark = pytest.mark.django_db
Damage = Callable[[models.Attempt, Path], None]


@pytest.fixture(autouse=True)
def bundles(settings: Any, tmp_path: Path) -> Path:
    settings.TEITEN_BUNDLE_DIR = tmp_path / "bundles"
    return tmp_path / "bundles"


def attempts_with_bundles() -> list[models.Attempt]:
    return list(models.Attempt.objects.exclude(bundle="").order_by("pk"))


def stored_as(attempt: models.Attempt, path: str) -> None:
    models.Attempt.objects.filter(pk=attempt.pk).update(bundle=path)


def rewrite(attempt: models.Attempt, write: Callable[[Path], object]) -> None:
    """Put another file in the place of a bundle, of which the warehouse knows the checksum."""
    path = bundle_path(attempt.bundle)
    write(path)
    models.Attempt.objects.filter(pk=attempt.pk).update(bundle_sha256=checksum(path))


def absolute(attempt: models.Attempt, outside: Path) -> None:
    stored_as(attempt, str(outside))


def dotted(attempt: models.Attempt, outside: Path) -> None:
    stored_as(attempt, f"1/../../{outside.name}")


def linked(attempt: models.Attempt, outside: Path) -> None:
    path = bundle_path(attempt.bundle)
    path.unlink()
    path.symlink_to(outside)


def in_a_linked_folder(attempt: models.Attempt, outside: Path) -> None:
    folder = bundle_path(attempt.bundle).parent.parent / "elsewhere"
    folder.symlink_to(outside.parent)
    stored_as(attempt, f"elsewhere/{outside.name}")


def linked_in_a_circle(attempt: models.Attempt, outside: Path) -> None:
    path = bundle_path(attempt.bundle)
    path.unlink()
    path.symlink_to(path.name)


def with_nul(attempt: models.Attempt, outside: Path) -> None:
    bundle = bundle_path(attempt.bundle)
    rewrite(attempt, lambda path: hostile.changed(path, notes={"a": "\0"}))
    assert bundle.exists()


def negative(attempt: models.Attempt, outside: Path) -> None:
    rewrite(attempt, lambda path: hostile.rewritten(path, "workload/stdout", "tps = ", "tps = -"))


def no_archive(attempt: models.Attempt, outside: Path) -> None:
    rewrite(attempt, lambda path: path.write_bytes(b"no archive"))


def gone(attempt: models.Attempt, outside: Path) -> None:
    bundle_path(attempt.bundle).unlink()


# to Python 3.12 pathlib refuses it, later it is a file that cannot be opened
IN_A_CIRCLE = "leads nowhere" if sys.version_info < (3, 13) else "The archive cannot be read"
DAMAGES: tuple[tuple[Damage, str], ...] = (
    (absolute, "leads out of the bundle folder"),
    (dotted, "leads out of the bundle folder"),
    (linked, "leads out of the bundle folder"),
    (in_a_linked_folder, "leads out of the bundle folder"),
    (linked_in_a_circle, IN_A_CIRCLE),
    (with_nul, "notes.a: it holds NUL"),
    (negative, "is negative"),
    (no_archive, "The bundle cannot be read"),
    (gone, "The archive cannot be read"),
)


def test_every_bundle_is_read_and_each_bad_one_is_reported_at_the_end(tmp_path: Path) -> None:
    for _ in range(2):
        measured_run()
    outside = tmp_path / "outside.tar.gz"
    outside.write_bytes(b"a secret of this machine")
    attempts = attempts_with_bundles()
    models.Attempt.objects.filter(pk__in=[one.pk for one in attempts]).update(bundle_sha256=checksum(outside))
    for attempt, (damage, _) in zip(attempts, DAMAGES, strict=False):
        damage(attempt, outside)
    for attempt in attempts[len(DAMAGES) :]:
        models.Attempt.objects.filter(pk=attempt.pk).update(bundle_sha256=checksum(bundle_path(attempt.bundle)))
    reread = list(reingest.reread(None, replace=False))
    assert len(reread) == len(attempts)
    assert [one.differences for one in reread if one.error is None] == [()] * (len(attempts) - len(DAMAGES))
    for one, (damage, why) in zip(reread, DAMAGES, strict=False):
        assert why in str(one.error), damage.__name__
        assert "secret" not in str(one.error)
    out, err = io.StringIO(), io.StringIO()
    with pytest.raises(CommandError, match=f"{len(DAMAGES)} bundles could not be read") as raised:
        call_command("reingest", "--check", stdout=out, stderr=err)
    assert raised.value.returncode == 1
    assert f"{len(attempts)} attempts" in out.getvalue()
    assert err.getvalue().count("attempt ") >= len(DAMAGES)
    assert all(why in err.getvalue() for _, why in DAMAGES)


def test_a_bundle_that_cannot_be_stored_changes_nothing_of_what_is_stored() -> None:
    measured_run()
    attempt = attempts_with_bundles()[0]
    before = list(models.Measurement.objects.order_by("pk").values_list("pk", "value"))
    negative(attempt, Path())
    with pytest.raises(CommandError, match="1 bundle could not be read"):
        call_command("reingest", "--replace", stdout=io.StringIO(), stderr=io.StringIO())
    assert list(models.Measurement.objects.order_by("pk").values_list("pk", "value")) == before


def test_a_collectors_numbers_are_replaced_by_a_gap_only_where_that_is_wanted() -> None:
    measured_run()
    attempt, other = attempts_with_bundles()[:2]
    of_pg_stat = models.Measurement.objects.filter(attempt=attempt, metric="wal.bytes", node="primary")
    before, other_before = [
        list(models.Measurement.objects.filter(attempt=one).order_by("pk").values_list("pk"))
        for one in (attempt, other)
    ]
    file = "collectors/pg_stat/primary/before.json"
    rewrite(attempt, lambda path: hostile.rewritten(path, file, '"block_size"', '"block"'))
    models.Measurement.objects.filter(attempt=other, metric="tps").update(value=1.0)
    out, err = io.StringIO(), io.StringIO()
    with pytest.raises(CommandError, match="1 attempt kept as stored; see --with-gaps") as raised:
        call_command("reingest", "--replace", stdout=out, stderr=err)
    assert raised.value.returncode == 1
    where = f"trial {attempt.trial_id}, attempt {attempt.pk}"
    assert f"{where}: kept as stored, since there would be a gap: pg_stat on primary: before.json" in err.getvalue()
    assert "wal.bytes primary" in out.getvalue()
    stored = models.Measurement.objects.order_by("pk").values_list("pk")
    assert list(stored.filter(attempt=attempt)) == before
    assert not models.Measurement.objects.filter(attempt=other, metric="tps", value=1.0).exists()
    assert len(stored.filter(attempt=other)) == len(other_before)
    call_command("reingest", "--replace", "--with-gaps", stdout=io.StringIO(), stderr=io.StringIO())
    assert not of_pg_stat.exists()
    attempt.refresh_from_db()
    assert [gap["source"] for gap in attempt.gaps] == ["pg_stat"]


@pytest.mark.parametrize("stored", ["", "/etc/passwd", "..", "1/../../x", ".", "a\0b"])
def test_a_path_that_leads_out_of_the_bundle_folder_is_refused(stored: str) -> None:
    with pytest.raises(IngestError, match="leads out of the bundle folder"):
        bundle_path(stored)


def test_deleting_a_run_removes_no_file_outside_of_the_bundle_folder(tmp_path: Path) -> None:
    run = measured_run()
    outside = tmp_path / "precious"
    outside.write_bytes(b"precious")
    stored_as(attempts_with_bundles()[0], str(outside))
    removal.delete_runs([run.pk], "tests")
    assert outside.read_bytes() == b"precious"
    left = models.AuditEntry.objects.get(verb="could not remove raw files")
    assert "leads out of the bundle folder" in str(left.detail)
