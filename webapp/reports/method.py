"""How a run was measured, from its plan and from what one of its trials really ran."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import islice

from django.urls import reverse
from django.utils.translation import gettext, ngettext

from results import models
from results.domain.secrets import masked_text
from results.queries.runs.trials import AttemptRow, trial_detail
from webapp.citations import published_in
from webapp.documents.parts import Part, Prose, Table, escaped
from webapp.documents.words import sentences
from webapp.language import joined
from webapp.templatetags.teiten import phase_words

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
        yield Prose(gettext("{parts}.").format(parts=escaped(sources[0])))
        return
    if elsewhere := models.RunImport.objects.filter(run=run).first():
        yield Prose(_elsewhere(elsewhere))
    yield Prose(_sentences(run, site))
    if run.factors:
        rows = [(str(factor["name"]), joined(map(str, factor["levels"]))) for factor in run.factors]
        caption = gettext("Factors of run {run}").format(run=run.pk)
        yield Table(caption, (gettext("factor"), gettext("levels")), tuple(rows))
    plan = gettext("The plan, with which it can be run again:")
    yield Prose(f"{plan}\n\n{_code(masked_text(run.toml), 'toml')}")
    if trial.attempt:
        yield Prose(_commands(trial_id, trial.attempt, site))


def _elsewhere(source: models.RunImport) -> str:
    if source.address:
        text = gettext(
            "Another Teiten at {address} measured this run, where it is run {run}; it was imported on {day:%Y-%m-%d} "
            "from an archive with the SHA-256 `{sha256}`."
        )
    else:
        text = gettext(
            "Another Teiten measured this run, where it is run {run}; it was imported on {day:%Y-%m-%d} from an "
            "archive with the SHA-256 `{sha256}`."
        )
    address = escaped(source.address)
    return text.format(address=address, run=source.source_run, day=source.at, sha256=source.archive_sha256)


def _sentences(run: models.Run, site: str) -> str:
    configurations = run.configurations.count()
    first = run.trials.filter(block=1).order_by("position").values_list("configuration__index", flat=True)
    order = list(islice(first, _MOST_ORDERED + 1))
    page = f"{site}{reverse('runs:detail', args=[run.pk])}"
    planned = ngettext("{n:,} replicate of each as planned", "{n:,} replicates of each as planned", run.blocks)
    size = ngettext("{n:,} configuration", "{n:,} configurations", configurations).format(n=configurations)
    which = gettext(
        "[Run {run}]({page}), *{name}*, of {day:%Y-%m-%d}: workload {workload}, {configurations}, {replicates}."
    )
    facts = [
        which.format(
            run=run.pk,
            page=page,
            name=escaped(run.name),
            day=run.created_at,
            workload=escaped(run.workload),
            configurations=size,
            replicates=planned.format(n=run.blocks),
        ),
        gettext(
            "A replicate of all configurations is a block; each block ran in a random order of its own, drawn with "
            "seed {seed}."
        ).format(seed=run.seed),
    ]
    if 1 < len(order) <= _MOST_ORDERED:
        text = gettext("The first block ran its configurations in the order {order}.")
        facts.append(text.format(order=joined(map(str, order))))
    return sentences([*facts, gettext("The plan's SHA-256 is `{hash}`.").format(hash=run.plan_hash)])


def _commands(trial_id: int, attempt: AttemptRow, site: str) -> str:
    page = f"{site}{reverse('trials:detail', args=[trial_id])}"
    ran = [(one["phase"], one["node"], script(one["command"])) for one in attempt.commands if one["phase"] in _PHASES]
    shown = list(dict.fromkeys(one for one in ran if one[2]))[:_MOST_COMMANDS]
    text = gettext("The page of [trial {trial}]({page}) has all {n} commands that it ran.")
    if shown:
        text = gettext(
            "What loaded and measured, exactly as run; the page of [trial {trial}]({page}) has all {n} commands that "
            "it ran."
        )
    where = text.format(trial=trial_id, page=page, n=len(attempt.commands))
    comment = gettext("# {phase} on {node}")
    lines = (f"{comment.format(phase=phase_words(phase), node=node)}\n{text}" for phase, node, text in shown)
    code = "\n\n".join(lines)
    return f"{where}\n\n{_code(code, 'sh')}" if shown else where


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
