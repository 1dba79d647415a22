"""Results that other programs measured into the warehouse: what would be stored, and storing it."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import date
from typing import Any

from django.contrib.auth.models import User
from django.db import DataError, IntegrityError
from django.utils import timezone

from results import models
from results.bundle_files import transaction_with_bundles
from results.bundle_storage import storage
from results.domain.errors import ImportedFileError, StateError
from results.domain.imports.values import ImportedTrial, Scalar, SourceFile
from results.domain.measurement.metrics import Better, Metric
from results.domain.measurement.parsed_trial import ParsedTrial, RawFile
from results.domain.messages import gettext_lazy as _
from results.domain.packing import pack
from results.domain.states import AttemptState, RunState, TrialState
from results.ingest import Archive
from results.ingest import store as store_measurements
from results.queries.shared.selection import IMPORTED
from results.runs import audit

FACTOR = re.compile(r"[a-z][a-z0-9_.]{0,62}")
_RESERVED = ("run", "workload", "label", "node", "published", IMPORTED)
_ASKED = ("version", "clients", "scale", "threads")  # what every file must state, or the user
UNSTATED = "not stated"
LONGEST_NAME, LONGEST_LEVEL, LONGEST_NOTE = 120, 100, 4000
LONGEST_FACT, LONGEST_LABEL, LONGEST_UNIT = 500, 200, 20
_UNSTORABLE = re.compile("[\0\ud800-\udfff]")  # what no text of PostgreSQL has: NUL, and half a surrogate pair


@dataclass(frozen=True)
class Draft:
    """What a user wants to import.

    program: its title, as 'sysbench'.
    headline: the metric that stands for a trial in lists.
    workload: '' for what the files say.
    note: machine, settings, who measured.
    levels: file → factor → level, as typed.
    """

    name: str
    program: str
    headline: str
    files: tuple[SourceFile, ...]
    trials: tuple[ImportedTrial, ...]
    levels: Mapping[str, Mapping[str, str]] = field(default_factory=dict)
    workload: str = ""
    note: str = ""
    measured_on: date | None = None


@dataclass(frozen=True)
class ImportedConfiguration:
    """Trials that are replicates of one another: with the same levels and the same stated facts.

    levels: of the factors.
    dimensions: levels, and what the files state besides."""

    levels: Mapping[str, Scalar]
    dimensions: Mapping[str, Scalar]
    trials: tuple[ImportedTrial, ...]

    @property
    def name(self) -> str:
        return (", ".join(f"{name}={level}" for name, level in self.levels.items()) or _("the only configuration"))[
            :500
        ]


@dataclass(frozen=True)
class Arranged:
    """What would be stored.

    factors: name → levels, in order."""

    workload: str
    headline: str
    factors: Mapping[str, tuple[Scalar, ...]]
    configurations: tuple[ImportedConfiguration, ...]


def known_metrics(declared: Iterable[Metric]) -> dict[str, Metric]:
    """Return every metric that has a meaning by its name: what kinds declare, and what the warehouse has, but for what
    only private runs have measured. One query."""
    stored = (
        Metric(
            row.name,
            row.unit,
            Better(row.better),
            row.label,
            row.help,
            row.minimum_effect,
            row.parts,
            row.whole,
            row.client_overhead,
            row.label_noun,
            row.signed,
        )
        for row in models.Metric.objects.filter(private=False)
    )
    return {metric.name: metric for metric in (*stored, *declared)}


def arrange(draft: Draft) -> Arranged:
    """Return the configurations of a draft. Pure. Raises ImportedFileError for a level that cannot be, or that is not
    what the file says."""
    _require_texts(draft)
    workload = draft.workload or next((trial.workload for trial in draft.trials if trial.workload), "imported")
    _require_workload(workload)
    for trial in draft.trials:
        _require_storable(trial)
    dimensions = _with_unstated([_dimensions(trial, draft.levels) for trial in draft.trials], draft)
    factors = _factors(draft, dimensions)
    _require_every_level(draft.trials, dimensions, factors)
    groups: dict[tuple[tuple[str, Scalar], ...], list[ImportedTrial]] = {}
    for trial, of_trial in zip(draft.trials, dimensions, strict=True):
        groups.setdefault(tuple(of_trial.items()), []).append(trial)
    configurations = tuple(
        ImportedConfiguration(
            {name: dict(key)[name] for name in factors if name in dict(key)}, dict(key), tuple(trials)
        )
        for key, trials in groups.items()
    )
    return Arranged(workload, _headline(draft), factors, configurations)


def _require_texts(draft: Draft) -> None:
    for where, text, longest in (("name", draft.name, LONGEST_NAME), ("note", draft.note, LONGEST_NOTE)):
        if not _is_storable(text, longest):
            raise ImportedFileError(
                _("The name is too long.") if where == "name" else _("The note is too long."),
                where=where,
                todo=_("Up to {most:,} characters, and no NUL byte.", most=longest),
            )
    if not draft.name.strip():
        raise ImportedFileError(
            _("The import has no name."), where="name", todo=_("Say in a few words what was measured.")
        )
    known = {file.name for file in draft.files}
    for file in draft.levels:
        if file not in known:
            raise ImportedFileError(
                _("Levels are given for a file that is not there."), where=file, todo=_("Add the file.")
            )


def _require_workload(workload: str) -> None:
    if not re.fullmatch(r"[A-Za-z0-9][A-Za-z0-9 _.+-]{0,62}", workload):
        raise ImportedFileError(
            _("{name!r} is no name of a workload.", name=workload[:80]),
            where="workload",
            todo=_("Give it one of up to 63 letters, digits, spaces and '_.+-'."),
        )


def _require_storable(trial: ImportedTrial) -> None:
    """Raise ImportedFileError for a text that the warehouse cannot hold."""
    texts = [("level", name, str(fact), LONGEST_FACT) for name, fact in trial.facts.items()]
    texts += [("label", one.metric, one.label, LONGEST_LABEL) for one in trial.part.measurements]
    texts += [("label", series.name, series.label, LONGEST_LABEL) for series in trial.part.series]
    texts += [("unit", metric.name, metric.unit, LONGEST_UNIT) for metric in trial.part.metrics]
    for kind, name, text, longest in texts:
        if not _is_storable(text, longest):
            raise ImportedFileError(
                _too_long(kind, name),
                where=trial.source,
                why=repr(text[:80]),
                todo=_("The warehouse holds {most} characters, and no NUL byte.", most=longest),
            )


def _too_long(kind: str, name: str) -> str:
    if kind == "level":
        return _("The level of {name} is too long.", name=name)
    if kind == "label":
        return _("The label of {name} is too long.", name=name)
    return _("The unit of {name} is too long.", name=name)


def _is_storable(text: str, longest: int) -> bool:
    return len(text) <= longest and _UNSTORABLE.search(text) is None


def _dimensions(trial: ImportedTrial, levels: Mapping[str, Mapping[str, str]]) -> dict[str, Scalar]:
    typed = {name: level for file in trial.files for name, level in levels.get(file, {}).items()}
    dimensions: dict[str, Scalar] = dict(trial.facts)
    for name, text in (*trial.levels.items(), *typed.items()):
        level = _level(trial.source, name, text)
        if name in trial.facts and str(trial.facts[name]) != str(level):
            raise ImportedFileError(
                _("The file says {factor} {stated}, not {level}.", factor=name, stated=trial.facts[name], level=text),
                where=trial.source,
                todo=_("Correct the level, or leave it out: what the file states is read of it."),
            )
        dimensions[name] = level
    if major := _major(str(dimensions.get("version", ""))):
        dimensions.setdefault("major", major)
    return dimensions


def _level(where: str, name: str, text: str) -> Scalar:
    if not FACTOR.fullmatch(name) or name in _RESERVED:
        raise ImportedFileError(
            _("{name!r} is no name of a factor.", name=name[:80]),
            where=where,
            todo=_(
                "Small letters, digits, '_' and '.', beginning with a letter; none of {names}.",
                names=", ".join(_RESERVED),
            ),
        )
    text = text.strip()
    if not text or not _is_storable(text, LONGEST_LEVEL):
        raise ImportedFileError(
            _("The level of {factor} is empty or too long.", factor=name),
            where=where,
            todo=_("Write 1 to {most} characters.", most=LONGEST_LEVEL),
        )
    return int(text) if re.fullmatch(r"0|[1-9]\d{0,14}", text) and name != "version" else text


def _major(version: str) -> str:
    """'16.4' → '16'; '9.6.24' → '9.6'; '' for what is no version."""
    match = re.match(r"(\d+)(?:\.(\d+))?", version)
    if match is None:
        return ""
    return match[1] if int(match[1]) >= 10 else f"{match[1]}.{match[2] or 0}"


def _factors(draft: Draft, dimensions: Sequence[Mapping[str, Scalar]]) -> dict[str, tuple[Scalar, ...]]:
    """Return what was typed, what columns are, and whatever the files state that is not the same in all of them."""
    names = dict.fromkeys((*_named(draft), *_varying(dimensions)))
    return {name: tuple(dict.fromkeys(one[name] for one in dimensions if name in one)) for name in names}


def _named(draft: Draft) -> list[str]:
    """Return the factors that the user named: columns of a table, and what was typed."""
    columns = [name for trial in draft.trials for name in trial.levels]
    return list(dict.fromkeys((*columns, *(name for of_file in draft.levels.values() for name in of_file))))


def _with_unstated(dimensions: Sequence[dict[str, Scalar]], draft: Draft) -> list[dict[str, Scalar]]:
    """Return the dimensions, with 'not stated' for what only some files state and nobody need be asked for: a run of
    so many transactions has no duration."""
    asked = {*_named(draft), *_ASKED}
    names = [name for name in _varying(dimensions) if name not in asked]
    return [of_trial | {name: UNSTATED for name in names if name not in of_trial} for of_trial in dimensions]


def _require_every_level(
    trials: Sequence[ImportedTrial], dimensions: Sequence[Mapping[str, Scalar]], factors: Mapping[str, Sequence[Scalar]]
) -> None:
    """Raise ImportedFileError for a trial without a level that others have: nobody knows what it is."""
    for trial, of_trial in zip(trials, dimensions, strict=True):
        if missing := [name for name in factors if name not in of_trial]:
            raise ImportedFileError(
                _("Its {factor} is not known, and that of other files is.", factor=missing[0]),
                where=trial.source,
                todo=_("Say under what differs between the files which it is: {factor}=…", factor=missing[0]),
            )


def _varying(dimensions: Sequence[Mapping[str, Scalar]]) -> list[str]:
    names = dict.fromkeys(name for one in dimensions for name in one if name != "major")
    return [name for name in names if len({one.get(name) for one in dimensions}) > 1]


def _headline(draft: Draft) -> str:
    measured = [[one.metric for one in trial.part.measurements] for trial in draft.trials]
    everywhere = all(draft.headline in names for names in measured)
    return draft.headline if draft.headline and everywhere else measured[0][0]


def fingerprint(draft: Draft) -> str:
    """Return a hash of the trials that would be stored, by which an import is held to its preview. SHA-256, hex.

    The name, the note and the date are the user's own words and need no second look."""
    files = [(file.name, file.sha256) for file in draft.files]
    return hashlib.sha256(f"{draft.program} {files!r} {arrange(draft)!r}".encode()).hexdigest()


def require_new(files: Sequence[SourceFile]) -> None:
    """Raise StateError for a file that was imported before. One query."""
    before = models.ImportedFile.objects.filter(sha256__in=[file.sha256 for file in files])
    row = before.values("sha256", "publication__runs__id", "publication__title").first()
    if row is None:
        return
    name = next(file.name for file in files if file.sha256 == row["sha256"])
    raise StateError(
        _(
            "This file was imported before, in run {run} ({title}).",
            run=row["publication__runs__id"],
            title=row["publication__title"],
        ),
        where=name,
        why=_("A measurement that is stored twice would count as two."),
        todo=_("Leave it out, or delete that run first."),
    )


def store(draft: Draft, *, user: User | None, actor: str) -> models.Run:
    """Store a draft as a run of its own, with its files, or nothing of it. Raises ImportedFileError, StateError."""
    arranged = arrange(draft)
    require_new(draft.files)
    try:
        with transaction_with_bundles() as written:
            return _store(draft, arranged, user, actor, written)
    except IntegrityError:
        require_new(draft.files)  # somebody was faster
        raise
    except DataError as error:
        raise ImportedFileError(
            _("The warehouse cannot hold what the files say."),
            where=", ".join(file.name for file in draft.files)[:200],
            why=str(error).strip(),
            todo=_("Import the files unchanged; where they are, please report it with the file."),
        ) from error


def _store(draft: Draft, arranged: Arranged, user: User | None, actor: str, written: list[str]) -> models.Run:
    publication = _store_publication(draft)
    run = models.Run.objects.create(
        publication=publication,
        name=draft.name.strip(),
        workload=arranged.workload,
        headline=arranged.headline,
        toml="",
        factors=[{"name": name, "levels": [str(level) for level in of]} for name, of in arranged.factors.items()],
        plan_hash="",
        seed=0,
        blocks=max(len(one.trials) for one in arranged.configurations),
        state=RunState.FINISHED,
        created_by=user,
    )
    archives = _write_archives(run.pk, draft, written)
    position = 0
    for index, configuration in enumerate(arranged.configurations):
        row = models.Configuration.objects.create(
            run=run,
            index=index,
            name=configuration.name,
            levels={name: str(level) for name, level in configuration.levels.items()},
            spec={"agents": {}},
            dimensions={"workload": arranged.workload, IMPORTED: publication.slug} | dict(configuration.dimensions),
        )
        for trial in configuration.trials:
            _store_trial(run, row, trial, position, archives[trial.files], draft)
            position += 1
    audit(actor, "import results", f"run {run.pk}", program=draft.program, files=[one.name for one in draft.files])
    return run


def _store_publication(draft: Draft) -> models.Publication:
    together = hashlib.sha256("".join(sorted(file.sha256 for file in draft.files)).encode()).hexdigest()
    names = [file.name for file in draft.files]
    publication = models.Publication.objects.create(
        slug=f"import-{together[:16]}",
        program=draft.program,
        title=draft.name.strip(),
        publisher=draft.program,
        year=(draft.measured_on or timezone.now().date()).year,
        place=(names[0] if len(names) == 1 else f"{names[0]} and {len(names) - 1} more files")[:200],
        caption=draft.note[:200],
        licence="",
        file=names[0][:200],
        sha256=together,
        fingerprint=together,
        note=draft.note,
        measured_on=draft.measured_on,
    )
    models.ImportedFile.objects.bulk_create(
        models.ImportedFile(publication=publication, name=file.name, sha256=file.sha256, size_bytes=file.size_bytes)
        for file in draft.files
    )
    return publication


def _write_archives(run_id: int, draft: Draft, written: list[str]) -> dict[tuple[str, ...], Archive]:
    """Return names of files → the archive that holds them: one for all trials that were read of the same files."""
    by_name = {file.name: file.content for file in draft.files}
    archives: dict[tuple[str, ...], Archive] = {}
    for names in dict.fromkeys(trial.files for trial in draft.trials):
        data = pack({name: by_name[name] for name in names})
        path = f"{run_id}/import-{len(archives) + 1}.tar.gz"
        written.append(path)
        storage().write(path, data)
        archives[names] = Archive(path, hashlib.sha256(data).hexdigest(), len(data))
    return archives


def _store_trial(
    run: models.Run,
    configuration: models.Configuration,
    trial: ImportedTrial,
    position: int,
    archive: Archive,
    draft: Draft,
) -> None:
    """Each in a block of its own: nobody tells which of them were measured together, so none make a pair."""
    row = models.Trial.objects.create(
        run=run,
        configuration=configuration,
        block=position + 1,
        position=position,
        agents=[],
        state=TrialState.DONE,
        attempts_made=1,
    )
    attempt = models.Attempt.objects.create(run=run, trial=row, number=1, state=AttemptState.DONE)
    row.attempt = attempt
    row.save(update_fields=["attempt"])
    store_measurements(_parsed(run, row, trial, draft), attempt.pk, archive)


def _parsed(run: models.Run, row: models.Trial, trial: ImportedTrial, draft: Draft) -> ParsedTrial:
    part = trial.part
    files = tuple(RawFile(one.name, one.size_bytes, one.sha256) for one in draft.files if one.name in trial.files)
    places = [{"metric": metric, "label": label, "place": place} for (metric, label), place in trial.places.items()]
    notes: dict[str, Any] = {
        IMPORTED: {
            "source": trial.source,
            "program": draft.program,
            "facts": {name: str(fact) for name, fact in trial.facts.items()},
            "places": places,
        }
    }
    return ParsedTrial(
        trial_key=f"{run.pk}/{row.pk}",
        attempt=1,
        started_at=timezone.now(),
        measured_from=None,
        measured_to=None,
        succeeded=True,
        error=None,
        phases=(),
        commands=(),
        checks=(),
        files=files,
        metrics=part.metrics,
        measurements=part.measurements,
        series=part.series,
        latencies=part.latencies,
        notes=notes,
    )
