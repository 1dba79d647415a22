"""How a run was measured, from its plan and from what one of its trials really ran."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import islice

from django.urls import reverse

from results import models
from results.domain.secrets import masked_text
from results.domain.units import counted
from results.queries.runs.trials import AttemptRow, trial_detail
from webapp.citations import published_in
from webapp.documents.parts import Part, Prose, Table, escaped

_PHASES = ("load", "warm", "measure")
_MOST_COMMANDS = 12
_INPUT = "INPUT"  # the end of what a command reads (`workers.remote.command`)
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
    yield Prose(f"The plan, with which it can be run again:\n\n{_code(masked_text(run.toml), 'toml')}")
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
    ran = [(one["phase"], one["node"], script(one["command"])) for one in attempt.commands if one["phase"] in _PHASES]
    shown = list(dict.fromkeys(one for one in ran if one[2]))[:_MOST_COMMANDS]
    all_of_them = f"[trial {trial_id}]({page}) has all {len(attempt.commands)} commands that it ran"
    if not shown:
        return f"The page of {all_of_them}."
    lines = "\n\n".join(f"# {phase} on {node}\n{text}" for phase, node, text in shown)
    return f"What loaded and measured, exactly as run; the page of {all_of_them}.\n\n{_code(lines, 'sh')}"


def script(command: str) -> str:
    """Return what a command runs for the measurement: the script of a job, or a command of one line; '' for scripts by
    which Teiten looks after agents and servers."""
    if "\n" not in command.strip():
        return command.strip()
    _, _, text = command.rpartition(f"<<'{_INPUT}'\n")
    lines = text.strip().removesuffix(_INPUT).strip().splitlines()
    return "\n".join(lines) if any(line.startswith("exec ") for line in lines) else ""


def _code(text: str, language: str) -> str:
    """A block of code whose fence is longer than any in it."""
    fence = "```"
    while fence in text:
        fence += "`"
    return f"{fence}{language}\n{text.rstrip()}\n{fence}"
