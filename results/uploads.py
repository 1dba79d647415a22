"""The bundle of a trial that was measured elsewhere, and uploads that are sent again."""

from __future__ import annotations

from dataclasses import dataclass

from django.contrib.auth.models import User
from django.db import IntegrityError, transaction
from django.db.models import F
from django.utils import timezone

from results import ingest, models, runs
from results.domain.errors import IngestError, StateError
from results.domain.measurement.parsed_trial import ParsedTrial
from results.domain.messages import gettext_lazy as _
from results.domain.messages import pgettext_lazy
from results.domain.states import RunState, TrialState


@dataclass(frozen=True)
class Uploaded:
    """A file that has arrived in full.

    key: the request's Idempotency-Key; '' for none
    user: who sent it; None only without a key
    """

    sha256: str
    size_bytes: int
    user: User | None = None
    actor: str = ""
    key: str = ""


def earlier(file: Uploaded, trial_id: int | None = None) -> models.Upload | None:
    """Return what was stored under the file's key, None for nothing. Raises StateError where that was something else.

    trial_id: whose bundle the file is; None for a whole run
    """
    if not file.key or file.user is None:
        return None
    upload = models.Upload.objects.filter(user=file.user, key=file.key).select_related("run").first()
    if upload is None:
        return None
    if (upload.sha256, upload.trial_id) != (file.sha256, trial_id):
        raise StateError(
            _("This Idempotency-Key stands for another upload."),
            where="Idempotency-Key",
            why=_("On {date} it was sent with other bytes, or for another trial.", date=f"{upload.at:%Y-%m-%d}"),
            todo=_("Send each upload with a key of its own, and only the same upload again with the same key."),
        )
    return upload


def note(file: Uploaded, run_id: int, trial_id: int | None = None) -> None:
    """Note what was stored under the file's key, in the caller's transaction. Raises StateError where somebody else did
    so just now."""
    if not file.key or file.user is None:
        return
    try:
        with transaction.atomic():
            models.Upload.objects.create(
                user=file.user, key=file.key, sha256=file.sha256, run_id=run_id, trial_id=trial_id
            )
    except IntegrityError as error:
        what = _("Another upload with this Idempotency-Key has just been stored.")
        raise StateError(what, where="Idempotency-Key", todo=_("Send it again."), retryable=True) from error


def is_stored(trial_id: int, sha256: str) -> bool:
    """Return whether one of the trial's attempts has this very bundle."""
    return models.Attempt.objects.filter(trial_id=trial_id, bundle_sha256=sha256).exists()


def store_bundle(trial_id: int, parsed: ParsedTrial, file: Uploaded) -> models.Attempt | None:
    """Store a bundle as the trial's next attempt, which runs until the caller ends it, in the caller's transaction.

    Returns None where an equal upload has stored it just now.

    Raises StateError for a trial that does not wait in a running run, IngestError for a bundle of another trial or
    attempt.
    """
    run = runs.lock(models.Trial.objects.values_list("run_id", flat=True).get(pk=trial_id))
    trial = models.Trial.objects.select_for_update().get(pk=trial_id)
    if earlier(file, trial_id) or is_stored(trial_id, file.sha256):
        return None
    if (run.state, trial.state) != (RunState.RUNNING, TrialState.WAITING):
        raise StateError(
            _(
                "Trial {trial} is {state}, its run {state_of_run}: it takes no bundle.",
                trial=trial_id,
                state=pgettext_lazy("state", trial.state),
                state_of_run=pgettext_lazy("state", run.state),
            ),
            where=_("trial {trial}", trial=trial_id),
            todo=_("Upload bundles of trials that wait; retry a failed one first."),
        )
    number = trial.attempts.count() + 1
    if parsed.attempt != number:
        raise IngestError(
            _("The bundle is of attempt {attempt}.", attempt=parsed.attempt),
            where="manifest.json: attempt",
            why=_("The next attempt at trial {trial} is {attempt}.", trial=trial_id, attempt=number),
            todo=_("Upload the bundles of a trial in the order of their attempts."),
        )
    now = timezone.now()
    models.Trial.objects.filter(pk=trial_id).update(
        state=TrialState.RUNNING, state_at=now, attempts_made=F("attempts_made") + 1, phase="", error=None
    )
    worker = f"uploaded by {file.actor}"[:200]
    attempt = models.Attempt.objects.create(run=run, trial=trial, number=number, worker=worker)
    path = f"{run.pk}/{trial_id}-{number}.tar.gz"
    ingest.store(parsed, attempt.pk, ingest.Archive(path, file.sha256, file.size_bytes), elsewhere=True)
    models.Attempt.objects.filter(pk=attempt.pk).update(started_at=parsed.started_at)
    runs.audit(file.actor, "upload bundle", f"trial {trial_id}", attempt=number, bundle=file.sha256)
    note(file, run.pk, trial_id)
    attempt.bundle = path
    return attempt
