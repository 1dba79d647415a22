"""Attempts whose worker is gone: left to be picked up where they can be, once, and lost where not."""

from __future__ import annotations

from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from django.utils import timezone

from results import bundle_files, models
from results.domain.errors import TrialError
from results.domain.states import AttemptState, TrialState
from tests import factories
from workers import checkpoint, dispatch, lease
from workers.bundle.writer import BundleWriter
from workers.checkpoint import Checkpoint, Step

pytestmark = pytest.mark.django_db
LATER = timedelta(minutes=2)


@pytest.fixture
def begun(settings: Any, tmp_path: Path) -> models.Attempt:
    """An attempt of a worker that has not been heard of for as long as a lease lasts."""
    settings.TEITEN_BUNDLE_DIR = tmp_path
    (tmp_path / "unfinished").mkdir()
    attempt = factories.begin(factories.run().trials.order_by("position")[0])
    models.Attempt.objects.filter(pk=attempt.pk).update(worker="first")
    attempt.refresh_from_db()
    return attempt


def saved(attempt: models.Attempt, worker: str, root: Path) -> Path:
    path = checkpoint.path_of(root, f"{attempt.run_id}/{attempt.trial_id}", attempt.number)
    checkpoint.write(path, Checkpoint(Step.STORE, worker, pick_ups=0, started_s=0))
    return path


def test_an_attempt_that_can_be_picked_up_keeps_its_agents_until_a_worker_comes(
    begun: models.Attempt, tmp_path: Path
) -> None:
    saved(begun, "first", tmp_path)
    now = timezone.now() + LATER
    assert dispatch.reap(now) == 1
    left = models.Attempt.objects.get()
    assert (left.state, left.worker, left.left_at) == (AttemptState.RUNNING, "", now)
    assert models.Lease.objects.filter(attempt=left).exists()
    assert dispatch.count_startable(now) == 1
    assert dispatch.next_attempt(now, "second") == begun.pk
    picked_up = models.Attempt.objects.get()
    assert (picked_up.worker, picked_up.left_at, picked_up.picked_up) == ("second", None, True)
    assert lease.heartbeat(begun.pk, "first", now) == lease.LeaseState.TAKEN
    assert lease.heartbeat(begun.pk, "second", now) == lease.LeaseState.KEPT
    assert dispatch.next_attempt(now, "third") is None


def test_a_second_reaper_that_saw_it_too_leaves_it_alone(
    begun: models.Attempt, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Beat asks every two seconds, and one reaper may still be at work."""
    saved(begun, "first", tmp_path)
    now = timezone.now() + LATER
    seen = lease.expired(now)
    assert dispatch.reap(now) == 1
    monkeypatch.setattr(lease, "expired", lambda _: seen)
    assert dispatch.reap(now) == 0
    assert models.Attempt.objects.get().left_at == now
    assert models.Trial.objects.get(pk=begun.trial_id).state == TrialState.RUNNING


def test_while_the_bundle_folder_has_no_room_no_attempt_begins_but_one_is_picked_up(
    begun: models.Attempt, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    saved(begun, "first", tmp_path)
    dispatch.reap(timezone.now() + LATER)
    waiting = factories.run(agents={"primary": factories.agent("db9").name})
    now = timezone.now()
    assert dispatch.count_startable(now) == 2
    with monkeypatch.context() as full:
        full.setattr(bundle_files, "LEAST_FREE_BYTES", 10**18)
        assert dispatch.count_startable(now) == 1
        assert dispatch.next_attempt(now, "second") == begun.pk
        assert (dispatch.count_startable(now), dispatch.next_attempt(now, "third")) == (0, None)
    begins = dispatch.next_attempt(now, "third")
    assert models.Attempt.objects.get(pk=begins).run_id == waiting.pk


@pytest.mark.parametrize("of", ["", "another"])
def test_an_attempt_without_a_checkpoint_of_its_own_is_lost(begun: models.Attempt, tmp_path: Path, of: str) -> None:
    if of:
        saved(begun, of, tmp_path)
    assert dispatch.reap(timezone.now() + LATER) == 1
    assert models.Attempt.objects.get().state == AttemptState.LOST
    assert models.Trial.objects.get(pk=begun.trial_id).state == TrialState.WAITING
    assert not models.Lease.objects.exists()


def test_what_was_left_is_read_back_as_it_was_written_and_by_its_owner_alone(
    begun: models.Attempt, tmp_path: Path
) -> None:
    path = saved(begun, "first", tmp_path)
    assert path.stat().st_mode & 0o777 == 0o600
    assert checkpoint.read(path) == Checkpoint(Step.STORE, "first", pick_ups=0, started_s=0)
    path.write_text('{"format": 999}')
    with pytest.raises(TrialError, match="cannot be read"):
        checkpoint.read(path)


def test_what_a_lost_attempt_had_gathered_is_removed_once_its_worker_had_time_to_archive_it(
    begun: models.Attempt, tmp_path: Path
) -> None:
    mine = BundleWriter(tmp_path, f"{begun.run_id}/{begun.trial_id}", begun.number)
    mine.add("workload/stdout.txt", "tps = ")
    path = saved(begun, "another", tmp_path)
    other = BundleWriter(tmp_path, f"{begun.run_id}/{begun.trial_id}", begun.number + 1).directory
    now = timezone.now() + LATER
    assert dispatch.reap(now) == 1
    assert dispatch.discard_ended(now + timedelta(seconds=2 * lease.TTL_S)) == 0
    assert dispatch.discard_ended(now + timedelta(seconds=3 * lease.TTL_S + 1)) == 2
    assert (mine.directory.exists(), path.exists(), other.exists()) == (False, False, True)
