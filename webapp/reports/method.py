"""How a run was measured, from its plan and from what one of its trials really ran."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import islice
from typing import Any

from django.urls import reverse

from results import models
from results.domain.units import counted
from results.queries.runs.trials import AttemptRow, trial_detail
from webapp.citations import published_in
from webapp.documents.parts import Part, Prose, Table, escaped

_PHASES = ("load", "warm", "measure")
_MOST_COMMANDS = 12
_MOST_ORDERED = 24  # trials whose order is written out


def method(trial_id: int, site: str) -> Iterator[Part]:
    """Give the method of the trial's run. Nine queries. Raises NotFound.

    site: where Teiten answers"""
    trial = trial_detail(trial_id)
    run = models.Run.objects.select_related("publication").get(pk=trial.run_id)
    if sources := published_in([run.pk]):
        yield Prose(f"{escaped(sources[0])}.")
        return
    if elsewhere := models.RunImport.objects.filter(run=run).first():
        yield Prose(_elsewhere(elsewhere))
    yield Prose(_sentences(run, site))
    if run.factors:
        rows = [(str(factor["name"]), ", ".join(map(str, factor["levels"]))) for factor in run.factors]
        yield Table(f"Factors of run {run.pk}", ("factor", "levels"), tuple(rows))
    yield Prose(f"The plan, with which it can be run again:\n\n{_code(run.toml, 'toml')}")
    if trial.attempt:
        yield Prose(_commands(trial_id, trial.attempt, site))


def _elsewhere(source: models.RunImport) -> str:
    at = f" at {escaped(source.address)}" if source.address else ""
    return (
        f"Another Teiten{at} measured this run, where it is run {source.source_run}; it was imported on "
        f"{source.at:%Y-%m-%d} from an archive with the SHA-256 `{source.archive_sha256}`."
    )


def _sentences(run: models.Run, site: str) -> str:
    configurations = run.configurations.count()
    first = run.trials.filter(block=1).order_by("position").values_list("configuration__index", flat=True)
    order = list(islice(first, _MOST_ORDERED + 1))
    page = f"{site}{reverse('runs:detail', args=[run.pk])}"
    size = f"{counted(configurations, 'configuration')}, {counted(run.blocks, 'replicate')} of each as planned"
    text = (
        f"[Run {run.pk}]({page}), *{escaped(run.name)}*, of {run.created_at:%Y-%m-%d}: workload "
        f"{escaped(run.workload)}, {size}. A replicate of all configurations is a block; each block ran in a random "
        f"order of its own, drawn with seed {run.seed}."
    )
    if 1 < len(order) <= _MOST_ORDERED:
        text += f" The first block ran its configurations in the order {', '.join(map(str, order))}."
    return f"{text} The plan's SHA-256 is `{run.plan_hash}`."


def _commands(trial_id: int, attempt: AttemptRow, site: str) -> str:
    page = f"{site}{reverse('trials:detail', args=[trial_id])}"
    chosen = [one for one in attempt.commands if one["phase"] in _PHASES]
    shown = _different(chosen)[:_MOST_COMMANDS]
    lines = [f"# {one['phase']} on {one['node']}\n{one['command'].strip()}" for one in shown]
    more = f" The trial's page has all {len(attempt.commands)}." if len(shown) < len(attempt.commands) else ""
    return f"Commands of [trial {trial_id}]({page}), exactly as run.{more}\n\n{_code(chr(10).join(lines), 'sh')}"


def _different(commands: Sequence[Mapping[str, Any]]) -> list[Mapping[str, Any]]:
    return list({(one["phase"], one["node"], one["command"]): one for one in commands}.values())


def _code(text: str, language: str) -> str:
    """A block of code whose fence is longer than any in it."""
    fence = "```"
    while fence in text:
        fence += "`"
    return f"{fence}{language}\n{text.rstrip()}\n{fence}"
