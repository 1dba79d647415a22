"""Published tables into the warehouse and out again."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

from django.db import transaction

from results import models
from results.checked_builds import CAPABILITY, store_checked_builds
from results.domain.errors import TeitenError
from results.domain.measurement.metrics import Metric
from results.domain.messages import COMMA, linked
from results.domain.messages import gettext_lazy as _
from results.domain.states import AttemptState, RunState, Standing, TrialState
from results.measured_values import store_values
from results.published.tables import METRICS, PublishedTrial, Table
from results.queries.shared.selection import PUBLISHED
from results.runs import audit


@dataclass(frozen=True)
class Loaded:
    """What was done with one table.

    done: loaded, replaced or unchanged."""

    slug: str
    place: str
    trials: int
    figures: int
    done: str


@transaction.atomic
def load(tables: Sequence[Table], metrics: Iterable[Metric], actor: str) -> list[Loaded]:
    """Each table as a publication with one run. What is there already in the same form stays as it is; another form of
    it is replaced. Raises TeitenError for a figure of an unknown metric.

    metrics: all that are known by name."""
    known = {metric.name: metric for metric in (*METRICS, *metrics)}
    stored = dict(models.Publication.objects.values_list("slug", "fingerprint"))
    loaded = []
    for table in tables:
        done = "unchanged"
        if stored.get(table.slug) != table.fingerprint:
            done = "replaced" if table.slug in stored else "loaded"
            _delete([table.slug])
            _store(table, known)
            audit(actor, "load published figures", f"publication {table.slug}", sha256=table.sha256)
        figures = sum(len(trial.figures) + len(trial.answers) for trial in table.trials)
        loaded.append(Loaded(table.slug, table.place, len(table.trials), figures, done))
    return loaded


@transaction.atomic
def remove(actor: str) -> int:
    """Take all publications out of the warehouse, with their runs, and return how many they were."""
    slugs = list(models.Publication.objects.filter(program="").values_list("slug", flat=True))
    _delete(slugs)
    for slug in slugs:
        audit(actor, "remove published figures", f"publication {slug}")
    return len(slugs)


def _delete(slugs: Sequence[str]) -> None:
    models.Run.objects.filter(publication__slug__in=slugs).delete()
    models.Publication.objects.filter(slug__in=slugs).delete()


def _store(table: Table, known: Mapping[str, Metric]) -> None:
    _store_metrics(table, known)
    publication = models.Publication.objects.create(
        slug=table.slug,
        title=table.report.title,
        publisher=table.report.publisher,
        year=table.report.year,
        place=table.place,
        caption=table.caption,
        licence=table.report.licence,
        file=table.file,
        sha256=table.sha256,
        derived=[asdict(derived) | {"agrees": derived.agrees} for derived in table.derived],
        remarks=[asdict(remark) for remark in table.remarks],
        fingerprint=table.fingerprint,
    )
    run = models.Run.objects.create(
        publication=publication,
        name=table.name,
        workload=table.workload,
        headline=table.headline,
        toml="",
        factors=_factors(table),
        plan_hash="",
        seed=0,
        blocks=max(Counter(map(_levels, table.trials)).values()),
        state=RunState.FINISHED,
        standing=Standing.KEPT,
    )
    trials = _store_trials(run, table, _store_configurations(run, table))
    attempts = models.Attempt.objects.bulk_create(
        models.Attempt(run=run, trial=trial, number=1, state=AttemptState.DONE, notes={PUBLISHED: _places(source)})
        for trial, source in zip(trials, table.trials, strict=True)
    )
    for trial, attempt in zip(trials, attempts, strict=True):
        trial.attempt = attempt
    models.Trial.objects.bulk_update(trials, ["attempt"])
    _store_figures(run, attempts, table)


def _store_metrics(table: Table, known: Mapping[str, Metric]) -> None:
    """Those that are stored already say it in the words of whoever measured them last."""
    names = dict.fromkeys(figure.metric for trial in table.trials for figure in trial.figures)
    if unknown := [name for name in names if name not in known]:
        raise TeitenError(
            _("There is no metric {metrics}.", metrics=linked(COMMA, unknown)),
            where=f"results/published/{table.file}",
            todo=_("Name a metric of a workload in its TOML file, or add it to results/published/tables.py."),
        )
    models.Metric.objects.bulk_create(
        (models.Metric(**asdict(known[name]) | {"better": known[name].better.value}) for name in names),
        ignore_conflicts=True,
    )
    models.Metric.objects.filter(name__in=names, private=True).update(private=False)


def _factors(table: Table) -> list[dict[str, Any]]:
    names = dict.fromkeys(name for trial in table.trials for name in trial.levels)
    return [
        {"name": name, "levels": list(dict.fromkeys(str(trial.levels[name]) for trial in table.trials))}
        for name in names
    ]


def _levels(trial: PublishedTrial) -> tuple[tuple[str, str], ...]:
    return tuple((name, str(level)) for name, level in trial.levels.items())


def _store_configurations(run: models.Run, table: Table) -> dict[tuple[tuple[str, str], ...], models.Configuration]:
    firsts: dict[tuple[tuple[str, str], ...], PublishedTrial] = {}
    for trial in table.trials:
        firsts.setdefault(_levels(trial), trial)
    rows = models.Configuration.objects.bulk_create(
        models.Configuration(
            run=run,
            index=index,
            name=(", ".join(f"{name}={level}" for name, level in levels) or _("the only configuration"))[:500],
            levels=dict(levels),
            spec={"agents": {}},
            dimensions={"workload": table.workload, "access_method": "heap", PUBLISHED: table.slug}
            | dict(table.dimensions)
            | dict(trial.more)
            | dict(trial.levels),
        )
        for index, (levels, trial) in enumerate(firsts.items())
    )
    return dict(zip(firsts, rows, strict=True))


def _store_trials(
    run: models.Run, table: Table, configurations: Mapping[tuple[tuple[str, str], ...], models.Configuration]
) -> list[models.Trial]:
    """Each in a block of its own: nobody tells which of them were measured together, so none make a pair."""
    return models.Trial.objects.bulk_create(
        models.Trial(
            run=run,
            configuration=configurations[_levels(trial)],
            block=position + 1,
            position=position,
            agents=[],
            state=TrialState.DONE,
            attempts_made=1,
        )
        for position, trial in enumerate(table.trials)
    )


def _places(trial: PublishedTrial) -> list[dict[str, Any]]:
    """Where each figure stands in the file."""
    figures = [
        {"metric": f.metric, "node": f.node, "label": f.label, "line": f.line, "column": f.column}
        for f in trial.figures
    ]
    answers = [{"metric": "", "node": "", "label": a.title, "line": a.line, "column": a.column} for a in trial.answers]
    return [*figures, *answers]


def _store_figures(run: models.Run, attempts: Sequence[models.Attempt], table: Table) -> None:
    store_values(
        (run.pk, attempt.pk, {(figure.metric, figure.node, figure.label): figure.value for figure in trial.figures})
        for attempt, trial in zip(attempts, table.trials, strict=True)
    )
    models.Document.objects.bulk_create(
        models.Document(
            run=run,
            attempt=attempt,
            kind=CAPABILITY,
            node="",
            label=answer.capability,
            content={
                "access_method": trial.levels["access_method"],
                "title": answer.title,
                "group": answer.group,
                "order": order,
                "outcome": answer.outcome,
                "message": answer.message,
                "compared": "",
                "seconds": 0.0,
            },
        )
        for attempt, trial in zip(attempts, table.trials, strict=True)
        for order, answer in enumerate(trial.answers)
    )
    store_checked_builds([attempt.pk for attempt in attempts])
