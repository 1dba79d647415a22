"""The rows of a run that another Teiten measured, from its exported archive. `workers.importing` reads that.

Its trials have no agents: a record of an agent is there to be contacted, and a machine that is called db1 elsewhere is
not the db1 of this warehouse (docs/adr/0026).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from typing import Any

from django.contrib.auth.models import User
from django.db import IntegrityError, transaction

from results import ingest, models, noise
from results.domain import plan as plans
from results.domain.errors import ArchiveError, StateError
from results.domain.matrix import TrialSpec
from results.domain.measurement.parsed_trial import ParsedTrial
from results.domain.messages import gettext_lazy as _
from results.domain.plan import Kinds, Plan
from results.domain.research_object.facts import FACTS, AttemptFacts, ConfigurationFacts, Facts, Origin, TrialFacts
from results.domain.states import AttemptState, Standing, TrialState
from results.models.runs import end_state
from results.runs import audit, stored_dimensions

_AGAIN = _("Export the run again; this file was changed, or written by something else.")


@dataclass(frozen=True)
class Archive:
    """The file that is imported.

    name: as whoever sent it calls it; '' where nobody said
    toml: the plan in it
    """

    name: str
    sha256: str
    size_bytes: int
    facts: Facts
    toml: str


@dataclass(frozen=True)
class ImportedAttempt:
    """An attempt's row, and what the archive says of it."""

    row: models.Attempt
    trial: TrialFacts
    facts: AttemptFacts

    @property
    def path(self) -> str:
        """Where its bundle belongs, relative to the bundle folder."""
        return f"{self.row.run_id}/{self.row.trial_id}-{self.row.number}.tar.gz"


def require_new(archive: Archive) -> None:
    """Raise StateError where the warehouse has this archive, or one of its bundles, already."""
    imported = models.RunImport.objects.filter(archive_sha256=archive.sha256).first()
    if imported is not None:
        raise _is_here(
            imported.run_id,
            _("It was imported on {date} by {user}.", date=f"{imported.at:%Y-%m-%d}", user=imported.actor),
        )
    sums = [attempt.bundle_sha256 for _trial, attempt in archive.facts.attempts if attempt.bundle]
    known = models.Attempt.objects.filter(bundle_sha256__in=sums).order_by("pk").first()
    if known is not None:
        why = _("Trial {trial}, attempt {attempt}, has one of its bundles.", trial=known.trial_id, attempt=known.number)
        raise _is_here(known.run_id, why)


def _is_here(run_id: int, why: str) -> StateError:
    todo = _("Look at run {run}; to import the archive again, delete that first.", run=run_id)
    return StateError(_("This run is here already: it is run {run}.", run=run_id), where="archive", why=why, todo=todo)


def create(
    archive: Archive, kinds: Kinds, *, user: User | None, actor: str
) -> tuple[models.Run, list[ImportedAttempt]]:
    """Create the run of an archive with all but what its bundles say; return it and its attempts, in the archive's
    order.

    Within the caller's transaction. Raises PlanError for a plan with kinds that this Teiten does not have, StateError
    where somebody else has just imported it, ArchiveError.
    """
    facts, plan = archive.facts, plans.read(archive.toml, kinds)
    run = models.Run.objects.create(
        name=plan.name,
        workload=plan.workload,
        headline=kinds.workloads[plan.workload].headline_for(plan.parameters),
        toml=archive.toml,
        factors=[{"name": factor.name, "levels": [level.label for level in factor.levels]} for factor in plan.factors],
        plan_hash=plan.hash,
        seed=plan.seed,
        blocks=facts.blocks,
        looks=list(facts.looks),
        standing=Standing.EXPLORATORY,
        created_by=user,
        started_at=facts.started_at,
        ended_at=facts.ended_at,
        cancelled_at=facts.cancelled_at,
    )
    models.Run.objects.filter(pk=run.pk).update(created_at=facts.created_at)
    _record_source(run, archive, actor)
    configurations = models.Configuration.objects.bulk_create(
        models.Configuration(
            run=run,
            index=index,
            name=row.name,
            levels=_levels(row, plan),
            spec=dict(row.spec),
            dimensions=_dimensions(row, kinds),
        )
        for index, row in enumerate(facts.configurations)
    )
    trials = _create_trials(run, facts, configurations)
    audit(actor, "import run", f"run {run.pk}", archive=archive.sha256, source_run=facts.run, trials=len(trials))
    return run, _create_attempts(facts, trials)


def _levels(row: ConfigurationFacts, plan: Plan) -> dict[str, str]:
    """Return a configuration's levels. Raises ArchiveError where they are not a level of each of the plan's factors."""
    labels = {factor.name: {level.label for level in factor.levels} for factor in plan.factors}
    if row.levels.keys() != labels.keys() or any(row.levels[name] not in labels[name] for name in labels):
        what = _("Configuration {name!r} has levels that its plan does not have.", name=row.name[:100])
        raise ArchiveError(what, where=FACTS, todo=_AGAIN)
    return dict(row.levels)


def _dimensions(row: ConfigurationFacts, kinds: Kinds) -> dict[str, Any]:
    with _readable(FACTS):
        return stored_dimensions(TrialSpec.checked(row.spec), kinds)


def spec_of(value: Mapping[str, Any], where: str) -> TrialSpec:
    """Return the specification of a configuration. Raises ArchiveError where it is none."""
    with _readable(where):
        return TrialSpec.checked(value)


@contextmanager
def _readable(where: str) -> Iterator[None]:
    try:
        yield
    except (TypeError, KeyError, AttributeError, ValueError) as error:
        what, why = _("The specification of a configuration cannot be read."), f"{type(error).__name__}: {error}"
        raise ArchiveError(what, where=where, why=why, todo=_AGAIN) from error


def _record_source(run: models.Run, archive: Archive, actor: str) -> None:
    facts = archive.facts
    exporter = Origin(facts.teiten, facts.address, facts.run)
    origin = facts.origin or exporter
    try:
        with transaction.atomic():
            models.RunImport.objects.create(
                run=run,
                archive=archive.name[:200],
                archive_sha256=archive.sha256,
                archive_bytes=archive.size_bytes,
                teiten=origin.teiten,
                address=origin.address,
                source_run=origin.run,
                exported_by=asdict(exporter) if facts.origin else None,
                agents=list(facts.agents),
                actor=actor,
            )
    except IntegrityError as error:
        other = models.RunImport.objects.filter(archive_sha256=archive.sha256).first()
        if other is None:
            raise
        raise _is_here(other.run_id, _("Somebody has imported it just now.")) from error


def _create_trials(run: models.Run, facts: Facts, configurations: Sequence[models.Configuration]) -> list[models.Trial]:
    trials = models.Trial.objects.bulk_create(
        models.Trial(
            run=run,
            configuration=configurations[trial.configuration],
            block=trial.block,
            position=trial.position,
            agents=[],
            state=trial.state,
            attempts_made=trial.attempts_made,
            bundle_key=trial.bundle_key,
        )
        for trial in facts.trials
    )
    for row, trial in zip(trials, facts.trials, strict=True):
        row.state_at = trial.state_at
    models.Trial.objects.bulk_update(trials, ["state_at"], batch_size=1000)
    return trials


def _create_attempts(facts: Facts, trials: Sequence[models.Trial]) -> list[ImportedAttempt]:
    rows_of = zip(trials, facts.trials, strict=True)
    imported = [
        ImportedAttempt(
            models.Attempt(
                run_id=row.run_id,
                trial=row,
                number=attempt.number,
                state=attempt.state,
                ended_at=attempt.ended_at,
                error=_error(attempt),
            ),
            trial,
            attempt,
        )
        for row, trial in rows_of
        for attempt in trial.attempts
    ]
    rows = models.Attempt.objects.bulk_create([one.row for one in imported])
    for one in imported:
        one.row.started_at = one.facts.started_at
    models.Attempt.objects.bulk_update(rows, ["started_at"], batch_size=1000)
    return imported


def _error(attempt: AttemptFacts) -> dict[str, Any] | None:
    """Return an attempt's error in the shape of `TeitenError.as_dict`."""
    if attempt.error is None:
        return None
    usual = {"kind": "error", "what": "", "where": "", "why": "", "todo": "", "retryable": False}
    return usual | {"kind": attempt.error.get("kind", ""), "what": attempt.error.get("what", "")}


def store(attempt: ImportedAttempt, parsed: ParsedTrial) -> None:
    """Store what an attempt's bundle says. Raises IngestError for the bundle of another one, and ArchiveError where it
    is not to the last bit what the Teiten that measured it has."""
    facts, row = attempt.facts, attempt.row
    if facts.state is AttemptState.DONE and not parsed.succeeded:
        raise _other_numbers(facts, _("The attempt is said to have succeeded, and its bundle says that it failed."))
    ingest.store(parsed, row.pk, _bundle(attempt))
    if facts.state is AttemptState.FAILED and parsed.error:
        models.Attempt.objects.filter(pk=row.pk).update(error=dict(parsed.error))
    if ingest.numbers_hash(row.pk) != facts.numbers:
        raise _other_numbers(facts, _("A Teiten of another version, or with other kinds, may read it otherwise."))


def _other_numbers(facts: AttemptFacts, why: str) -> ArchiveError:
    return ArchiveError(
        _("This bundle gives other numbers here than where it was measured."),
        where=facts.bundle,
        why=why,
        todo=_("Update the Teiten that measured it, manage.py reingest --replace there, and export the run again."),
    )


def file_unread(attempt: ImportedAttempt) -> None:
    """Store the path of a bundle that could not be read where it was measured."""
    ingest.file_archive(attempt.row.pk, _bundle(attempt))


def _bundle(attempt: ImportedAttempt) -> ingest.Archive:
    return ingest.Archive(attempt.path, attempt.facts.bundle_sha256, attempt.facts.bundle_bytes)


def close(run_id: int, attempts: Sequence[ImportedAttempt]) -> None:
    """Give trials and run the states that follow from their attempts, and store the run's noise."""
    for attempt in attempts:
        trial = models.Trial.objects.filter(pk=attempt.row.trial_id)
        if attempt.facts.number == attempt.trial.counted and attempt.trial.state is TrialState.DONE:
            trial.update(attempt=attempt.row)
        elif attempt.trial.state is not TrialState.DONE:
            error = models.Attempt.objects.values_list("error", flat=True).get(pk=attempt.row.pk)
            trial.update(error=error)
    models.Run.objects.filter(pk=run_id).update(state=end_state())
    noise.store_noise(run_id)
